"""Where rows end up: words them and appends the lines to the file, packed or plain. Runs in the writer's process, or in the
program's own where there is none."""
import gzip

from raceline.ring import Ring
from raceline.rows import Lines


class Sink:
    def __init__(self, path, start, last=None):
        """`last`: keep only so many seconds, and write them at the end."""
        self._raw = open(path, "wb", buffering=0)
        self._out = gzip.GzipFile(fileobj=self._raw, mode="wb", compresslevel=5, mtime=0) if path.endswith(".gz") else self._raw
        self.lines = Lines(start)
        self._ring = Ring(last) if last else None

    def write(self, rows):
        """Append the lines of some rows, whole, and hand them to the operating system."""
        self._put(self.lines.take(rows))

    def close(self):
        """Write what waited, and the end; returns how many steps of each kind there were."""
        self._put(self.lines.rest())
        if self._ring is not None:
            ring, self._ring = self._ring, None
            self._put(ring.lines())
        if self._out is not self._raw:
            self._out.close()
        self._raw.close()
        return self.lines.counts

    def _put(self, lines):
        if self._ring is not None:
            self._ring.put(lines)
            return
        if not lines:
            return
        left = memoryview(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))
        if self._out is self._raw:
            while left:
                left = left[self._raw.write(left) :]
        else:
            self._out.write(left)
            self._out.flush()
