"""What the recorder replaces in PyTorch, and how it is put back when the recording ends before the program does."""


class Patches:
    def __init__(self):
        self._undo = []

    def put(self, owner, name, value):
        """Replace an attribute; returns what was there."""
        plain = getattr(owner, name)
        own = name in vars(owner)
        setattr(owner, name, value)
        self._undo.append((owner, name, value, vars(owner)[name], plain if own else None, own))
        return plain

    def back(self):
        """Put everything back that nobody has replaced since, the last first."""
        while self._undo:
            owner, name, _, ours, plain, own = self._undo.pop()
            if vars(owner).get(name) is not ours:
                continue
            if own:
                setattr(owner, name, plain)
            else:
                delattr(owner, name)
