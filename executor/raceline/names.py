"""What the program calls a new object: the assignment target of the expression that makes it, read from the source text.

    copy = torch.cuda.Stream()             copy
    self.side = torch.cuda.Stream()        self.side
    {"copy": torch.cuda.Stream()}          copy
    lanes = [torch.cuda.Stream() for …]    lanes[0], lanes[1]

Frames' local variables would tell more, but reading them keeps tensors alive longer than the program does.
"""
import ast
import linecache


class Names:
    def __init__(self):
        self._files = {}
        self._targets = {}
        self._counts = {}
        self._keep = []

    def target(self, code, lasti, count=True):
        """The name for the expression that `code` is executing at byte offset `lasti`; None: it has none.

        With `count` the elements of a comprehension are numbered as they come.
        """
        key = (id(code), lasti)
        if key not in self._targets:
            self._keep.append(code)
            self._targets[key] = self._find(code, lasti)
        name = self._targets[key]
        if name is None or not count or not name.endswith("[…]"):
            return name
        count = self._counts.get(key, 0)
        self._counts[key] = count + 1
        return f"{name[:-3]}[{count}]"

    def _find(self, code, lasti):
        found = self._files.get(code.co_filename)
        if found is None:
            found = self._files[code.co_filename] = self._read(code.co_filename)
        if hasattr(code, "co_positions"):
            for index, (line, end_line, column, end_column) in enumerate(code.co_positions()):
                if index == lasti // 2:
                    return found.get((line, column, end_line, end_column))
            return None
        line = None
        for start, at in _line_starts(code):
            if start > lasti:
                break
            line = at
        # Without columns only a line with a single named expression is certain.
        here = [name for place, name in found.items() if place[0] == line]
        return here[0] if len(here) == 1 else None

    @staticmethod
    def _read(filename):
        text = "".join(linecache.getlines(filename))
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return {}
        found = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    _assign(target, node.value, found)
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
                _assign(node.target, node.value, found)
            elif isinstance(node, ast.Dict):
                _dictionary(node, "", found)
            elif isinstance(node, ast.withitem) and node.optional_vars is not None:
                _assign(node.optional_vars, node.context_expr, found)
            elif isinstance(node, ast.keyword) and node.arg:
                _name(node.value, node.arg, found, weak=True)
        return found


def _line_starts(code):
    if hasattr(code, "co_lines"):
        return [(start, line) for start, _, line in code.co_lines() if line is not None]
    import dis

    return list(dis.findlinestarts(code))


def _text(target):
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute):
        base = _text(target.value)
        return None if base is None else f"{base}.{target.attr}"
    if isinstance(target, ast.Subscript):
        base = _text(target.value)
        index = target.slice
        if type(index).__name__ == "Index":  # Python 3.8 wraps the subscript
            index = index.value
        if base is None or not isinstance(index, ast.Constant):
            return None
        return f"{base}[{index.value!r}]"
    return None


def _assign(target, value, found):
    if isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            for one, its in zip(target.elts, value.elts):
                _assign(one, its, found)
        return
    name = _text(target)
    if name is None:
        return
    if isinstance(value, (ast.List, ast.Tuple)):
        for index, item in enumerate(value.elts):
            _name(item, f"{name}[{index}]", found)
    elif isinstance(value, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
        _name(value.elt, f"{name}[…]", found)
    elif isinstance(value, ast.DictComp):
        _name(value.value, f"{name}[…]", found)
    elif isinstance(value, ast.Dict):
        _dictionary(value, name, found)
    else:
        _name(value, name, found)


def _dictionary(node, name, found):
    weak = not name  # the dictionary's own name, where it has one, says more
    for key, item in zip(node.keys, node.values):
        if isinstance(key, ast.Constant):
            label = f"{name}[{key.value!r}]" if name else str(key.value)
            if isinstance(item, (ast.ListComp, ast.GeneratorExp)):
                _name(item.elt, f"{key.value}[…]", found, weak)
            elif isinstance(item, (ast.List, ast.Tuple)):
                for index, one in enumerate(item.elts):
                    _name(one, f"{key.value}[{index}]", found, weak)
            else:
                _name(item, label, found, weak)


def _name(expression, name, found, weak=False):
    if isinstance(expression, (ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Compare)):
        place = (expression.lineno, expression.col_offset, expression.end_lineno, expression.end_col_offset)
        if weak:
            found.setdefault(place, name)
        elif place not in found or "[" not in name:
            found[place] = name
