"""Python call sites: which line of the program is executing, without holding on to frames.

A frame keeps its locals alive and so changes when tensors are freed; only code objects and line numbers are kept. Frames of
torch, Triton, the standard library and this package are left out: a site is the program's code.
"""
import os
import sys
import sysconfig

from raceline.names import Names
from raceline.program import execute

# Deeper user frames say little and cost a walk at every operator.
MAX_USER_FRAMES = 4
MAX_FRAMES = 64
FRAMES = range(MAX_FRAMES)
NOWHERE = (None, None)

# Files of torch that stand between a call and its operator without making other tensors.
THIN = {"_tensor.py", "_ops.py", "overrides.py"}

# Where the program ends and what started it begins: `python executor` has frames of its own above.
END = ()

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = execute.__code__.co_filename


class Sites:
    def __init__(self, file, torch_directory=None, relative_to=None):
        self._file = file
        self.relative_to = relative_to
        paths = sysconfig.get_paths()
        # Triton stands beside torch: its launches go through frames of its own.
        beside = os.path.dirname(torch_directory or "")
        self._torch = [os.path.join(torch_directory, ""), os.path.join(beside, "triton", "")] if torch_directory else []
        standard = {os.path.join(os.path.realpath(paths[k]), "") for k in ("stdlib", "platstdlib")}
        self._standard = standard | {os.path.join(paths[k], "") for k in ("stdlib", "platstdlib")}
        self._user = {}
        self._keep = []
        self._chains = {}
        self._lines = {}
        self._rows = {}
        self._paths = {}
        self.names = Names()

    def here(self):
        """The site of the innermost frame of the program; None: there is none, as in autograd's threads."""
        return self.at(sys._getframe())[0]

    def look(self):
        """(site, what the program calls the value of the executing expression), either may be None."""
        return self.at(sys._getframe())

    def at(self, frame):
        """As `look`, from a frame on; frames of this package are passed over. This runs for every operator."""
        start = frame
        user = self._user
        # Nested pairs, (…, code's id, place), innermost first: one small tuple a frame.
        key = None
        wanted = MAX_USER_FRAMES
        others = MAX_FRAMES
        between = False
        while frame is not None:
            code = frame.f_code
            known = user.get(id(code))
            if known is True:
                key = (key, id(code), frame.f_lasti)
                wanted -= 1
                if not wanted:
                    break
            elif known is None:
                self._learn(code)
                continue
            elif known is END:
                break
            else:
                if known is False and key is None:
                    between = True
                others -= 1
                if not others:
                    break
            frame = frame.f_back
        if key is None:
            return NOWHERE
        got = self._chains.get(key)
        if got is None:
            found = self.caller(start)
            got = self._chains[key] = (self._declare(start), found and self.names.target(*found, count=False))
        # Deep inside a module's call the value that is assigned in the end is another one.
        return (got[0], None) if between else got

    def line(self, frame):
        """The site of the innermost frame of the program alone, without its callers: cheap enough for every release."""
        user = self._user
        for _ in FRAMES:
            if frame is None:
                return None
            code = frame.f_code
            known = user.get(id(code))
            if known is None:
                known = self._learn(code)
            if known:
                key = (id(code), frame.f_lasti)
                site = self._lines.get(key)
                if site is None:
                    site = self._lines[key] = self._intern([(code.co_filename, frame.f_lineno or 0, code.co_name)])
                return site
            if known is END:
                return None
            frame = frame.f_back
        return None

    def caller(self, frame):
        """(code, f_lasti) of the innermost frame of the program, or None."""
        frame = self._innermost(frame)
        return None if frame is None else (frame.f_code, frame.f_lasti)

    def place(self, frame):
        """(file, line) of the innermost frame of the program, or None."""
        frame = self._innermost(frame)
        return None if frame is None else (frame.f_code.co_filename, frame.f_lineno or 0)

    def _innermost(self, frame):
        while frame is not None:
            code = frame.f_code
            known = self._user.get(id(code))
            if known is None:
                known = self._learn(code)
            if known:
                return frame
            if known is END:
                return None
            frame = frame.f_back
        return None

    def target(self):
        """What the program assigns the value of the executing expression to: `x`, `self.copy`; None: not known."""
        got = self.caller(sys._getframe())
        return None if got is None else self.names.target(*got)

    def calls_directly(self, depth=1):
        """Whether the frame `depth` above the caller is the program's own (and not torch's)."""
        code = sys._getframe(depth + 1).f_code
        known = self._user.get(id(code))
        return bool(self._learn(code) if known is None else known)

    def _learn(self, code):
        self._keep.append(code)  # its id is the key, so it must not be handed out again
        name = code.co_filename
        # True: the program's; False: torch's or the standard library's; 0: this package's, or a thin wrapper of torch's; END.
        if name == PROGRAM and code.co_name == "execute":
            self._user[id(code)] = END
            return END
        user = self._is_user(name)
        if not user and (os.path.abspath(name).startswith(HERE) or os.path.basename(name) in THIN):
            user = 0
        self._user[id(code)] = user
        return user

    def _is_user(self, name):
        full = os.path.abspath(name)
        if name.startswith("<frozen") or full.startswith(HERE):
            return False
        if any(full.startswith(p) for p in self._torch):
            return False
        if "site-packages" in full or "dist-packages" in full:
            return True
        return not any(full.startswith(p) for p in self._standard)

    def _declare(self, frame):
        chain = []
        left = MAX_FRAMES
        while frame is not None and len(chain) < MAX_USER_FRAMES and left and self._user.get(id(frame.f_code)) is not END:
            if self._user.get(id(frame.f_code)):
                chain.append((frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_name))
            frame = frame.f_back
            left -= 1
        return self._intern(chain)

    def _intern(self, chain):
        up = None
        with self._file.lock:
            for name, line, function in reversed(chain):
                row = (name, line, function, up)
                site = self._rows.get(row)
                if site is None:
                    file = self._file.string(self._path(name))
                    fn = self._file.string(function)
                    site = len(self._rows)
                    above = "" if up is None else f',"up":{up}'
                    self._file.append(f'{{"k":"site","id":{site},"file":{file},"line":{line},"fn":{fn}{above}}}')
                    self._rows[row] = site
                up = site
        return up

    def _path(self, name):
        got = self._paths.get(name)
        if got is None:
            got = name if name.startswith("<") else os.path.abspath(name)
            if self.relative_to and got.startswith(os.path.join(self.relative_to, "")):
                got = os.path.relpath(got, self.relative_to).replace(os.sep, "/")
            self._paths[name] = got
        return got
