"""`--serialize`: the program without any overlap of streams, to tell a fault of its logic from one of its synchronization.

    blocks   the device is synchronized where the current stream changes, and after each copy that does not block
    stream   the default stream stays current all the time

What is still wrong under `blocks` is not a matter of streams.
"""


def serialize(torch, how):
    if how == "stream":
        _one_stream(torch)
    else:
        _synchronized_blocks(torch)


def _one_stream(torch):
    class Unchanged:
        """Stands in for torch.cuda.stream."""

        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            return self.stream

        def __exit__(self, *_):
            return None

    torch.cuda.stream = torch.cuda.StreamContext = Unchanged
    torch.cuda.set_stream = lambda stream: None
    if hasattr(torch.cuda.Stream, "__enter__"):
        torch.cuda.Stream.__enter__ = lambda stream: stream
        torch.cuda.Stream.__exit__ = lambda stream, *_: None


def _synchronized_blocks(torch):
    def synchronize():
        if not torch.cuda.is_current_stream_capturing():
            torch.cuda.synchronize()

    # The class and not `torch.cuda.stream`, which looks the class up by the name that is replaced below.
    plain_stream, plain_set = torch.cuda.StreamContext, torch.cuda.set_stream

    class Block:
        """Stands in for torch.cuda.stream."""

        def __init__(self, stream):
            self._plain = plain_stream(stream)
            self.stream = stream

        def __enter__(self):
            synchronize()
            return self._plain.__enter__()

        def __exit__(self, *failure):
            if failure[0] is None:
                synchronize()
            return self._plain.__exit__(*failure)

    def set_stream(stream):
        synchronize()
        plain_set(stream)

    torch.cuda.stream = torch.cuda.StreamContext = Block
    torch.cuda.set_stream = set_stream
    for name in ("to", "copy_", "cuda", "cpu"):
        setattr(torch.Tensor, name, _blocking(getattr(torch.Tensor, name), synchronize))
    if not hasattr(torch.cuda.Stream, "__enter__"):
        return
    enter, leave = torch.cuda.Stream.__enter__, torch.cuda.Stream.__exit__

    def entered(stream):
        synchronize()
        return enter(stream)

    def left(stream, *failure):
        if failure[0] is None:
            synchronize()
        return leave(stream, *failure)

    torch.cuda.Stream.__enter__, torch.cuda.Stream.__exit__ = entered, left


def _blocking(plain, synchronize):
    def call(*args, **kwargs):
        out = plain(*args, **kwargs)
        if kwargs.get("non_blocking") or any(argument is True for argument in args):
            synchronize()
        return out

    return call
