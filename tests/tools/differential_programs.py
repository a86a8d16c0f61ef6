"""Random programs as trees: written as a gradcli file, evaluated on jets, made smaller.

Expressions: ("c", number), ("v", name), ("u", function, a), ("b", operator, a, b),
("w", sign, a, b, p, q) for where(a < b, p, q), ("f", name, a) for a call, ("vec", a, b, ...),
("r", reduction, vector). A program has functions of one argument t, statements, and a last
expression: ("let", name, e), ("if", sign, a, b, name, p, q), ("for", n, name, start, e).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from differential_functions import BINARY, SPECIAL, UNARY
from differential_jets import Jets

Tree = tuple[Any, ...]
Point = dict[str, Any]
Drawn = dict[str, Any]

ORDINARY = (0.5, -0.5, 1.0, -1.0, 2.0, 3.0, 0.1, -1.5)
EXTREME = (0.0, 5e-324, -5e-324, 1e-310, 1e-300, -1e-300, 1e-200, 1e-150, -1e-150, 1e-20, -1e-20,
           1e-8, 1e-5, -1e-5, 1 + 1e-8, 1 - 1e-8, 1 + 2.0**-52, -1 + 1e-9, 1.5707963267948966, 5.0,
           12.0, -12.0, 19.8277, -19.8277, 26.7, 36.7, 40.0, -40.0, 100.0, -100.0, 250.0, -250.0,
           400.0, -400.0, 700.0, -700.0, 709.5, 745.0, -745.0, 1e3, -1e3, 1e5, -1e5, 1e8, 1e20,
           1e100, 1e150, -1e150, 1e154, 1e200, 1e300, -1e300)
POWERS = (2.0, 3.0, -1.0, -2.0, 0.5, -0.5, 1.5, 60.0, -50.0, 7.0, 0.0, 1.0, 4.0)
VECTORS = ("u", "w")
REDUCTIONS = ("sum", "mean", "prod", "norm", "logsumexp", "var", "max", "min", "softmax_first")


class Maker:
    """Draws one program and its points."""

    def __init__(self, seed: str) -> None:
        self.draw = random.Random(seed)
        self.functions: list[str] = []
        self.scalars: list[str] = []
        self.vectors: list[str] = []

    def program(self) -> Drawn:
        draw = self.draw
        names = draw.choice((["x"], ["x"], ["x"], ["x", "y"], ["x", "y"], ["u"], ["x", "u"]))
        self.scalars = [n for n in names if n not in VECTORS]
        self.vectors = [n for n in names if n in VECTORS]
        self.functions, functions, statements = [], [], []
        style = draw.random()
        if style < 0.5:  # rows composed: two or three
            return {"inputs": names, "functions": [], "statements": [],
                    "out": self.expression(draw.choice((2, 2, 3)))}
        for _ in range(draw.choice((0, 0, 1, 1, 2))):
            kept = self.scalars, self.vectors
            self.scalars, self.vectors = ["t"], []
            name = "fgh"[len(functions)]
            functions.append((name, self.expression(2)))
            self.functions.append(name)
            self.scalars, self.vectors = kept
        for k in range(draw.choice((0, 1, 1, 2))):
            statements.append(self.statement(k))
        return {"inputs": names, "functions": functions, "statements": statements,
                "out": self.expression(draw.choice((1, 2, 3)))}

    def statement(self, k: int) -> Tree:
        form, name = self.draw.random(), f"s{k}"
        if form < 0.4:
            made: Tree = ("let", name, self.expression(2))
        elif form < 0.7:
            made = ("if", self.draw.choice("<>"), self.expression(1), self.expression(0), name,
                    self.expression(2), self.expression(1))
        else:
            start = self.expression(1)
            self.scalars.append(name)
            made = ("for", self.draw.choice((2, 3)), name, start, self.expression(2))
        if name not in self.scalars:
            self.scalars.append(name)
        return made

    def expression(self, depth: int) -> Tree:
        """A scalar."""
        draw = self.draw
        if depth <= 0:
            if not self.scalars or (self.vectors and draw.random() < 0.3):
                return ("r", draw.choice(REDUCTIONS), self.vector(0))
            if draw.random() < 0.25:
                return ("c", draw.choice((0.1, 2.0, 3.0, 0.5, 1.0, -1.0, 7.0, 1e-10, 1e10)))
            return ("v", draw.choice(self.scalars))
        form = draw.random()
        if form < 0.45:
            pool = SPECIAL if draw.random() < 0.12 else UNARY
            return ("u", draw.choice(list(pool)), self.expression(depth - 1))
        if form < 0.58:
            return ("b", "^", self.expression(depth - 1), ("c", draw.choice(POWERS)))
        if form < 0.85:
            operator = draw.choice((*BINARY, "*", "/", "+", "-", "*", "/"))
            return ("b", operator, self.expression(depth - 1),
                    self.expression(draw.randrange(depth)))
        if form < 0.90:
            return ("w", draw.choice("<>"), self.expression(0), self.expression(0),
                    self.expression(depth - 1), self.expression(depth - 1))
        if form < 0.95 and self.functions:
            return ("f", draw.choice(self.functions), self.expression(depth - 1))
        return ("r", draw.choice(REDUCTIONS), self.vector(depth - 1))

    def vector(self, depth: int) -> Tree:
        draw = self.draw
        if self.vectors and (depth <= 0 or draw.random() < 0.6):
            tree: Tree = ("v", draw.choice(self.vectors))
        else:
            tree = ("vec", self.expression(depth), self.expression(max(0, depth - 1)),
                    self.expression(0))
        if depth > 0 and draw.random() < 0.6:
            tree = ("u", draw.choice(list(UNARY)), tree)
        return tree

    def point(self, program: Drawn) -> Point:
        return {name: [self.number() for _ in range(3)] if name in VECTORS else self.number()
                for name in program["inputs"]}

    def number(self) -> float:
        draw = self.draw
        kind = draw.random()
        if kind < 0.15:
            return round(draw.uniform(-3, 3), 4)
        if kind < 0.3:
            return draw.choice(ORDINARY)
        if kind < 0.4:
            return round(draw.uniform(5, 800), 3)
        return draw.choice(EXTREME)


# --- as text ----------------------------------------------------------------------------------


def number(value: float) -> str:
    return f"({value!r})" if value < 0 else repr(value)


def written(tree: Tree) -> str:
    kind = tree[0]
    if kind == "c":
        return number(tree[1])
    if kind == "v":
        return str(tree[1])
    if kind == "u":
        return f"{tree[1]}{'' if tree[1][-1] == ' ' else '('}{written(tree[2])})"
    if kind == "b":
        a, b = written(tree[2]), written(tree[3])
        if tree[1].isalpha() or tree[1][-1].isdigit():
            return f"{tree[1]}({a}, {b})"
        return f"{_bracketed(tree[2], a)}{tree[1]}{_bracketed(tree[3], b)}"
    if kind == "w":
        return (f"where({written(tree[2])} {tree[1]} {written(tree[3])}, {written(tree[4])}, "
                f"{written(tree[5])})")
    if kind == "f":
        return f"{tree[1]}({written(tree[2])})"
    if kind == "vec":
        return f"[{', '.join(written(t) for t in tree[1:])}]"
    inner = written(tree[2])
    return f"softmax({inner})[0]" if tree[1] == "softmax_first" else f"{tree[1]}({inner})"


def _bracketed(tree: Tree, text: str) -> str:
    return f"({text})" if tree[0] == "b" and not tree[1][0].isalpha() else text


def text_of(program: Drawn) -> str:
    lines = [f"{name}(t) = {written(tree)}" for name, tree in program["functions"]]
    for s in program["statements"]:
        if s[0] == "let":
            lines.append(f"{s[1]} = {written(s[2])}")
        elif s[0] == "if":
            condition = f"{written(s[2])} {s[1]} {written(s[3])}"
            lines += [f"if {condition}:", f"    {s[4]} = {written(s[5])}", "else:",
                      f"    {s[4]} = {written(s[6])}"]
        else:
            lines += [f"{s[2]} = {written(s[3])}", f"for i in range({s[1]}):",
                      f"    {s[2]} = {written(s[4])}"]
    return "\n".join([*lines, f"out = {written(program['out'])}"])


# --- on jets ----------------------------------------------------------------------------------


class Evaluation:
    """One run of a program on jets."""

    def __init__(self, program: Drawn, point: Point, jets: Jets) -> None:
        self.jets = jets
        self.functions = dict(program["functions"])
        self.env: dict[str, Any] = {}
        k = 0
        for name in program["inputs"]:
            value = point[name]
            if isinstance(value, list):
                self.env[name] = [jets.variable(k + i, v) for i, v in enumerate(value)]
                k += len(value)
            else:
                self.env[name] = jets.variable(k, value)
                k += 1
        for s in program["statements"]:
            if s[0] == "let":
                self.env[s[1]] = self.of(s[2])
            elif s[0] == "if":
                holds = jets.compare(s[1], self.of(s[2]), self.of(s[3]))
                self.env[s[4]] = self.of(s[5] if holds else s[6])
            else:
                self.env[s[2]] = self.of(s[3])
                for _ in range(s[1]):
                    self.env[s[2]] = self.of(s[4])
        self.out = self.of(program["out"])

    def of(self, tree: Tree) -> Any:
        kind, jets = tree[0], self.jets
        if kind == "c":
            return jets.constant(tree[1])
        if kind == "v":
            return self.env[tree[1]]
        if kind == "u":
            a = self.of(tree[2])
            function = UNARY.get(tree[1]) or SPECIAL[tree[1]]
            if isinstance(a[0], list):
                return [jets.unary(function, v) for v in a]
            return jets.unary(function, a)
        if kind == "b":
            return jets.binary(BINARY[tree[1]], self.of(tree[2]), self.of(tree[3]))
        if kind == "w":
            holds = jets.compare(tree[1], self.of(tree[2]), self.of(tree[3]))
            return self.of(tree[4] if holds else tree[5])
        if kind == "f":
            argument, kept = self.of(tree[2]), self.env
            self.env = {"t": argument}
            found = self.of(self.functions[tree[1]])
            self.env = kept
            return found
        if kind == "vec":
            return [self.of(t) for t in tree[1:]]
        return self.reduced(tree[1], self.of(tree[2]))

    def reduced(self, name: str, items: list[Any]) -> Any:
        jets, n = self.jets, len(items)

        def folded(operator: str, parts: list[Any]) -> Any:
            total = parts[0]
            for part in parts[1:]:
                total = jets.binary(BINARY[operator], total, part)
            return total

        count = jets.constant(float(n))
        if name == "sum":
            return folded("+", items)
        if name == "mean":
            return jets.binary(BINARY["/"], folded("+", items), count)
        if name == "prod":
            return folded("*", items)
        if name == "norm":
            return jets.unary(UNARY["sqrt"], folded(
                "+", [jets.unary(UNARY["square"], v) for v in items]))
        if name == "var":
            mean = jets.binary(BINARY["/"], folded("+", items), count)
            return jets.binary(BINARY["/"], folded("+", [jets.unary(
                UNARY["square"], jets.binary(BINARY["-"], v, mean)) for v in items]), count)
        if name in ("max", "min"):
            best = items[0]
            for item in items[1:]:
                if jets.compare(">" if name == "max" else "<", item, best):
                    best = item
            return best
        top = [max(v[0] for v in items), *jets.constant(0.0)[1:]]
        parts = [jets.unary(UNARY["exp"], jets.binary(BINARY["-"], v, top)) for v in items]
        total = folded("+", parts)
        if name == "softmax_first":
            return jets.binary(BINARY["/"], parts[0], total)
        return jets.binary(BINARY["+"], jets.unary(UNARY["log"], total), top)


# --- smaller ----------------------------------------------------------------------------------


def smaller(program: Drawn) -> Iterator[Drawn]:
    """Programs with one thing less, the shortest first."""
    for k, s in enumerate(program["statements"]):
        rest = program["statements"][:k] + program["statements"][k + 1:]
        yield {**program, "statements": rest}
        for part in (s[2:] if s[0] == "let" else s[5:] if s[0] == "if" else s[3:]):
            name = s[1] if s[0] == "let" else s[4] if s[0] == "if" else s[2]
            changed = ("let", name, part)
            if changed != s:
                yield {**program, "statements":
                       [*program["statements"][:k], changed, *program["statements"][k + 1:]]}
    if program["functions"]:
        inlined = dict(program["functions"])
        yield {**program, "functions": [], "out": _inlined(program["out"], inlined),
               "statements": [tuple(_inlined(p, inlined) if isinstance(p, tuple) else p for p in s)
                              for s in program["statements"]]}
    lets = [s for s in program["statements"] if s[0] == "let"]
    for s in lets:
        yield {**program, "statements": [p for p in program["statements"] if p is not s],
               "out": _put(program["out"], s[1], s[2])}
    for tree in _smaller(program["out"]):
        yield {**program, "out": tree}
    for k, s in enumerate(program["statements"]):
        for i, part in enumerate(s):
            if isinstance(part, tuple):
                for tree in _smaller(part):
                    changed = (*s[:i], tree, *s[i + 1:])
                    yield {**program, "statements":
                           [*program["statements"][:k], changed, *program["statements"][k + 1:]]}


def _inlined(tree: Tree, functions: dict[str, Tree]) -> Tree:
    parts = tuple(_inlined(p, functions) if isinstance(p, tuple) else p for p in tree)
    if tree[0] != "f":
        return parts
    return _inlined(_put(functions[parts[1]], "t", parts[2]), functions)


def _put(tree: Tree, name: str, value: Tree) -> Tree:
    if tree == ("v", name):
        return value
    return tuple(_put(p, name, value) if isinstance(p, tuple) else p for p in tree)


def _scalar(tree: Tree) -> bool:
    return not (tree[0] == "vec" or (tree[0] == "v" and tree[1] in VECTORS)
                or (tree[0] == "u" and not _scalar(tree[2])))


def _smaller(tree: Tree) -> Iterator[Tree]:
    """A part in place of the whole, then the same inside of the parts."""
    parts = [p for p in tree if isinstance(p, tuple)]
    for part in parts:
        if _scalar(part) == _scalar(tree):
            yield part
    if tree[0] == "r" and tree[2][0] == "vec":
        yield from tree[2][1:]
    if tree[0] == "vec" and len(tree) > 2:
        for k in range(1, len(tree)):
            yield (*tree[:k], *tree[k + 1:])
    if tree[0] not in ("c", "v") and _scalar(tree):
        yield ("c", 1.0)
        yield ("c", 2.0)
    for k, part in enumerate(tree):
        if isinstance(part, tuple):
            for other in _smaller(part):
                yield (*tree[:k], other, *tree[k + 1:])


