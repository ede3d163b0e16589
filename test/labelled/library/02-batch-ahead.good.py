"""Public code without a main: an iterator that uploads one batch ahead of its user."""
import torch


def batches_ahead(loader, device=torch.device("cuda")):
    copier = torch.cuda.Stream(device)
    ahead = None
    for host in loader:
        with torch.cuda.stream(copier):
            upcoming = host.pin_memory().to(device, non_blocking=True)
        if ahead is not None:
            ahead.record_stream(torch.cuda.current_stream(device))
            yield ahead
        torch.cuda.current_stream(device).wait_stream(copier)
        ahead = upcoming
    if ahead is not None:
        ahead.record_stream(torch.cuda.current_stream(device))
        yield ahead
