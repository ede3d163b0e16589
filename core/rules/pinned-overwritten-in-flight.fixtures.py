#- case: one staging buffer for all rows
staging = torch.empty(1024, pin_memory=True)

def upload(rows):
    total = torch.zeros(1, device="cuda")
    for row in rows:
        staging.copy_(row)
      # ^ pinned-overwritten-in-flight: `staging` is changed by the host in `copy_` while the copy from it on the
      # | default stream may still read it: the host does not wait for the default stream in between
        total += staging.to("cuda", non_blocking=True).sum()
        #        ~ the copy from `staging` is queued here, on the default stream
    return total
#- fixed
staging = torch.empty(1024, pin_memory=True)

def upload(rows):
    total = torch.zeros(1, device="cuda")
    for row in rows:
        torch.cuda.current_stream().synchronize()
        staging.copy_(row)
        total += staging.to("cuda", non_blocking=True).sum()
    return total

#- case: changed right after the upload
def upload(row):
    staging = row.pin_memory()
    batch = staging.to("cuda", non_blocking=True)
    #       ~ the copy from `staging` is queued here, on the default stream
    staging.zero_()
  # ^ pinned-overwritten-in-flight: `staging` is changed by the host in `zero_` while the copy from it on the default
  # | stream may still read it: the host does not wait for the default stream in between
    return batch
#- fixed
def upload(row):
    staging = row.pin_memory()
    batch = staging.to("cuda", non_blocking=True)
    torch.cuda.current_stream().synchronize()
    staging.zero_()
    return batch

#- case: the host waits first
def upload(row):
    staging = row.pin_memory()
    batch = staging.to("cuda", non_blocking=True)
    torch.cuda.current_stream().synchronize()
    staging.zero_()
    return batch

#- case: reading it again is no conflict
def upload(row):
    staging = row.pin_memory()
    batch = staging.to("cuda", non_blocking=True)
    print(staging.sum().item())
    return batch
