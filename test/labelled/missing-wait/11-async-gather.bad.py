"""Coroutines start work on lanes; the results are stacked after asyncio.gather."""
import asyncio

import torch


async def soften(x, lane):
    lane.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(lane):
        y = x.softmax(-1)
    await asyncio.sleep(0)
    return y  # may: unjoined-output


async def serve():
    lanes = [torch.cuda.Stream() for _ in range(3)]
    x = torch.randn(256, 1024, device="cuda")
    outs = await asyncio.gather(*(soften(x, lane) for lane in lanes))
    here = torch.cuda.current_stream()
    here.wait_stream(lanes[0])
    best = torch.stack(outs).amax()  # expect: missing-wait
    torch.cuda.synchronize()
    return best.item()


if __name__ == "__main__":
    print(asyncio.run(serve()))
