"""The process that writes the trace: rows come in on its standard input, lines go to the file.

It lives in a session of its own, so what has been handed over is still written when the program is killed, and its end without a
last row is the file's end without an `end` line. Started as a file, without site packages: it needs nothing but this package.

A message is its length (eight bytes) and a marshalled list: the first holds the file's settings, the others rows.
"""
import json
import marshal
import os
import signal
import struct
import sys


def serve(source):
    """Write until the rows end. Returns what the recorder is told: counts, or why nothing more could be written."""
    from raceline.sink import Sink

    settings = _message(source)
    try:
        sink = Sink(*settings)
        while True:
            rows = _message(source)
            if rows is None:
                break
            sink.write(rows)
        return {"counts": sink.close()}
    except OSError as error:
        return {"failure": f"{error.strerror or error}"}


def _message(source):
    head = source.read(8)
    if len(head) < 8:
        return None
    (size,) = struct.unpack("<Q", head)
    content = source.read(size)
    return marshal.loads(content) if len(content) == size else None


if __name__ == "__main__":
    for name in ("SIGINT", "SIGHUP", "SIGTERM"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    report = serve(sys.stdin.buffer)
    try:
        os.write(1, json.dumps(report).encode())
    except OSError:  # nobody is left to be told
        pass
