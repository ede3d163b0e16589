#- case: the result is recorded, not the tensor that was read
def peaks(count):
    here = torch.cuda.current_stream()
    side = torch.cuda.Stream()
    found = []
    for i in range(4):
        x = torch.full((1024,), float(i), device="cuda")
        side.wait_stream(here)
        with torch.cuda.stream(side):
            y = x.amax()
          #     ~ used here, on `side`
        y.record_stream(side)
      # ^ late-record-stream: This protects `y`, which was made from `x`; `x` itself is what the `amax` on `side` uses:
      # | record_stream changes nothing for the memory in danger
        del x
      # ^ missing-record-stream
        found.append(y)
    torch.cuda.synchronize()
    print([y.item() for y in found])
#- fixed
def peaks(count):
    here = torch.cuda.current_stream()
    side = torch.cuda.Stream()
    found = []
    for i in range(4):
        x = torch.full((1024,), float(i), device="cuda")
        side.wait_stream(here)
        with torch.cuda.stream(side):
            y = x.amax()
        x.record_stream(side)
        del x
        found.append(y)
    torch.cuda.synchronize()
    print([y.item() for y in found])

#- case: recorded after the storage was emptied
def offloaded(side):
    x = torch.ones(1024, device="cuda")
    host = torch.empty(1024, pin_memory=True)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        host.copy_(x, non_blocking=True)
    x.untyped_storage().resize_(0)
  # ^ missing-record-stream
    x.record_stream(side)
  # ^ late-record-stream: The memory of `x` went back before this call, so nothing keeps it for the `copy_` on `side`:
  # | record_stream changes nothing for the memory in danger
    fresh = torch.zeros(1024, device="cuda")
    side.synchronize()
    print(host, fresh)
#- fixed
def offloaded(side):
    x = torch.ones(1024, device="cuda")
    host = torch.empty(1024, pin_memory=True)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        host.copy_(x, non_blocking=True)
    x.record_stream(side)
    x.untyped_storage().resize_(0)
    fresh = torch.zeros(1024, device="cuda")
    side.synchronize()
    print(host, fresh)

#- case: the slot holds the next tensor already
def swapped(side):
    slot = {"now": torch.ones(1024, device="cuda")}
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        peak = slot["now"].amax()
    slot["now"] = torch.zeros(1024, device="cuda")
  # ^ missing-record-stream
    slot["now"].record_stream(side)
  # ^ late-record-stream: This protects the new `slot["now"]`; the tensor that it replaces is what the `amax` on `side`
  # | uses: record_stream changes nothing for the memory in danger
    spare = torch.ones(1024, device="cuda")
    torch.cuda.synchronize()
    print(peak, spare)
#- fixed
def swapped(side):
    slot = {"now": torch.ones(1024, device="cuda")}
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        peak = slot["now"].amax()
    slot["now"].record_stream(side)
    slot["now"] = torch.zeros(1024, device="cuda")
    spare = torch.ones(1024, device="cuda")
    torch.cuda.synchronize()
    print(peak, spare)

#- case: recorded before it is dropped
def peaks(side):
    here = torch.cuda.current_stream()
    for i in range(4):
        x = torch.full((1024,), float(i), device="cuda")
        side.wait_stream(here)
        with torch.cuda.stream(side):
            y = x.amax()
        x.record_stream(side)
        del x
    torch.cuda.synchronize()
    print(y)

#- case: each turn records the tensor that the next one uses
def rolling(side):
    here = torch.cuda.current_stream()
    x = torch.ones(1024, device="cuda")
    x.record_stream(side)
    for i in range(4):
        side.wait_stream(here)
        with torch.cuda.stream(side):
            peak = x.amax()
        x = torch.full((1024,), float(i), device="cuda")
        x.record_stream(side)
    torch.cuda.synchronize()
    print(peak)
