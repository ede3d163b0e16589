"""Which branches of the program depend on a tensor's value, which a run on the meta device does not have.

A value is read at some place of the source: inside the test of an `if`, `while`, `assert` or conditional expression, inside what a `for`
runs over, or in an assignment to a name that such a test of the same function uses further down.
"""
import ast
import linecache
import os

MOST_NAMED = 30


class Branches:
    def __init__(self, limit, relative_to=None):
        self._limit = limit
        self._relative_to = relative_to
        self._files = {}
        self._seen = set()

    def note(self, code, lasti):
        """A value is read here: say which branch hangs on it, once each."""
        key = (id(code), lasti)
        if key in self._seen:
            return
        self._seen.add(key)
        found = self._file(code.co_filename).branch(_position(code, lasti))
        if found is None:
            return
        line, word = found
        if (code.co_filename, line) in self._seen:
            return
        self._seen.add((code.co_filename, line))
        named = sum(isinstance(one[1], int) and isinstance(one[0], str) for one in self._seen)
        if named > MOST_NAMED:
            self._limit("More branches depend on values of tensors than are named here.")
            return
        arm = {"for": "it went round for a value of zero", "assert": "it was taken to hold"}.get(word, "it took the arm for zero")
        self._limit(f"{self._path(code.co_filename)}:{line}: the `{word}` depends on a tensor's value, which this run does not have: {arm}.")

    def _file(self, name):
        got = self._files.get(name)
        if got is None:
            got = self._files[name] = Source("".join(linecache.getlines(name)))
        return got

    def _path(self, name):
        full = os.path.abspath(name)
        return os.path.relpath(full, self._relative_to).replace(os.sep, "/") if self._relative_to else os.path.basename(full)


class Source:
    """The tests of a file, by where they stand."""

    def __init__(self, text):
        # (first position, last position, line of the statement, its word)
        self._tests = []
        # Assignments: (first position, last position, names, function's number)
        self._assigned = []
        # Names that a test uses: (name, function's number) → [(line, word)]
        self._used = {}
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return
        self._walk(tree, 0, iter(range(1, 1 << 30)))

    def _walk(self, node, function, numbers):
        for child in ast.iter_child_nodes(node):
            inside = next(numbers) if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) else function
            if isinstance(child, (ast.If, ast.While, ast.Assert, ast.IfExp)):
                self._test(child.test, child.lineno, {ast.While: "while", ast.Assert: "assert"}.get(type(child), "if"), function)
            elif isinstance(child, (ast.For, ast.AsyncFor)):
                self._test(child.iter, child.lineno, "for", function)
            elif isinstance(child, ast.comprehension):
                for test in child.ifs:
                    self._test(test, test.lineno, "if", function)
                self._test(child.iter, child.iter.lineno, "for", function)
            elif isinstance(child, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and child.value is not None:
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                names = [target.id for target in targets if isinstance(target, ast.Name)]
                self._assigned.append((*_span(child.value), names, function))
            self._walk(child, inside, numbers)

    def _test(self, test, line, word, function):
        self._tests.append((*_span(test), line, word))
        for node in ast.walk(test):
            if isinstance(node, ast.Name):
                self._used.setdefault((node.id, function), []).append((line, word))

    def branch(self, position):
        """(line, word) of the branch that hangs on what is read at a position; None: none is known to."""
        if position is None:
            return None
        for first, last, line, word in self._tests:
            # Python places some tests' outcome at the whole statement.
            if first <= position[0] and position[1] <= last or position[0] <= first and last <= position[1]:
                return line, word
        for first, last, names, function in self._assigned:
            if first <= position[0] and position[1] <= last:
                later = [one for name in names for one in self._used.get((name, function), ()) if one[0] >= position[0][0]]
                return min(later) if later else None
        return None


def _span(node):
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _position(code, lasti):
    """Where the executing expression begins and ends; before Python 3.11 its line alone is known."""
    if hasattr(code, "co_positions"):
        for index, (line, end_line, column, end_column) in enumerate(code.co_positions()):
            if index == lasti // 2:
                return None if None in (line, end_line, column, end_column) else ((line, column), (end_line, end_column))
        return None
    import dis

    line = max((at for start, at in dis.findlinestarts(code) if start <= lasti), default=None)
    # Later than any beginning on its line and earlier than any end: inside whatever stands on it.
    return None if line is None else ((line, 1 << 20), (line, 0))
