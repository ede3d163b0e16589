"""What the recorder replaces in PyTorch, and how it is put back when the recording ends before the program does."""

INHERITED = object()


class Patches:
    def __init__(self):
        self._undo = []

    def put(self, owner, name, value):
        """Replace an attribute."""
        before = vars(owner).get(name, INHERITED)
        setattr(owner, name, value)
        self._undo.append((owner, name, vars(owner)[name], before))

    def back(self):
        """Put everything back that nobody has replaced since, the last first."""
        while self._undo:
            owner, name, ours, before = self._undo.pop()
            if vars(owner).get(name) is not ours:
                continue
            if before is INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
