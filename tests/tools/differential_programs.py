"""Programs for the differential run: drawn with points, evaluated on jets, made smaller."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from differential_functions import BINARY, SPECIAL, UNARY
from differential_jets import Jets
from programs import Draw, Form, Grammar, Tree

Point = dict[str, Any]

ORDINARY = (0.5, -0.5, 1.0, -1.0, 2.0, 3.0, 0.1, -1.5)
EXTREME = (0.0, 5e-324, -5e-324, 1e-310, 1e-300, -1e-300, 1e-200, 1e-150, -1e-150, 1e-20, -1e-20,
           1e-8, 1e-5, -1e-5, 1 + 1e-8, 1 - 1e-8, 1 + 2.0**-52, -1 + 1e-9, 1.5707963267948966, 5.0,
           12.0, -12.0, 19.8277, -19.8277, 26.7, 36.7, 40.0, -40.0, 100.0, -100.0, 250.0, -250.0,
           400.0, -400.0, 700.0, -700.0, 709.5, 745.0, -745.0, 1e3, -1e3, 1e5, -1e5, 1e8, 1e20,
           1e100, 1e150, -1e150, 1e154, 1e200, 1e300, -1e300)
INPUTS = (["x"], ["x"], ["x"], ["x", "y"], ["x", "y"], ["u"], ["x", "u"])
VECTORS = ("u", "w")
INFIX = 1           # how tightly an operator binds; all else is in brackets
REDUCED = ("sum(?)", "mean(?)", "prod(?)", "norm(?)", "logsumexp(?)", "var(?)", "max(?)", "min(?)",
           "softmax(?)[0]")


def opened(names: Sequence[str] | dict[str, Any]) -> list[str]:
    """Return calls up to their last argument."""
    return [name if name[-1] == " " else f"{name}(" for name in names]


# s: a number, v: a vector of three.
GRAMMAR = Grammar({
    "program": [Form("out = {s2}", 4), Form("out = {s3}", 2), Form("{functions}{lines}{last}", 6)],
    "last": ["out = {s1}", "out = {s2}", "out = {s3}"],
    "functions": ["", "{f+}({s*}) = {s@2}\n{functions}"],
    "lines": ["", "{line}\n{lines}"],
    "line": [Form("{s+} = {s2}", 4),
             Form("if {s1} {order} {s0}:\n    {s+} = {s2}\nelse:\n    {4} = {s1}", 3),
             Form("{s+} = {s1}\nfor i in range({turns}):\n    {1} = {s&2}", 3)],
    "order": ["<", ">"], "turns": ["2", "3"],
    "s": [Form("{s!}", 6), Form("{c}", 2),
          *[Form(form.replace("?", "{v!}"), 0.3) for form in REDUCED],
          Form("{unary}{s})", 40), Form("{special}{s})", 5),
          Form("{s:2}^{power}", 13, INFIX), Form("{s:2}{infix}{s?:2}", 20, INFIX),
          Form("{two}{s}, {s?})", 7), Form("where({s0} {order} {s0}, {s}, {s})", 5),
          Form("{f!}({s})", 5), *[Form(form.replace("?", "{v}"), 0.6) for form in REDUCED]],
    "v": [Form("{v!}", 5), Form("[{s0}, {s0}, {s0}]", 3), Form("{unary}{v})", 6),
          Form("[{s}, {s?}, {s0}]", 4)],
    "c": ["0.1", "2.0", "3.0", "0.5", "1.0", "(-1.0)", "7.0", "1e-10", "1e10"],
    "power": ["2.0", "3.0", "(-1.0)", "(-2.0)", "0.5", "(-0.5)", "1.5", "60.0", "(-50.0)", "7.0",
              "0.0", "1.0", "4.0"],
    "unary": opened(UNARY), "special": opened(SPECIAL),
    "infix": [Form("+", 2), Form("-", 2), Form("*", 3), Form("/", 3), Form("^", 1)],
    "two": opened([name for name in BINARY if name.isalnum()])},
    ends={"s": 0.0, "v": 0.4}, functions=["f"])
# What may stand in place of any number, and of a line.
ONE = Tree("s", Form("{c}"), [Tree("c", Form("1.0"))])
LET = next(form for form in GRAMMAR.forms["line"] if form.text == "{s+} = {s2}")


class Drawn(NamedTuple):
    """A program with the names that it is asked about."""

    inputs: list[str]
    tree: Tree

    @property
    def text(self) -> str:
        return self.tree.text

    def smaller(self) -> Iterator[Drawn]:
        """Yield programs with one thing less."""
        for tree in self.tree.smaller(reduced):
            yield self._replace(tree=tree)


def drawn_program(draw: random.Random) -> Drawn:
    """Draw a program."""
    inputs = draw.choice(INPUTS)
    names = {"s": [n for n in inputs if n not in VECTORS], "v": [n for n in inputs if n in VECTORS]}
    return Drawn(inputs, Draw(GRAMMAR, draw, names).tree("program", 3))


def drawn_point(draw: random.Random, inputs: Sequence[str]) -> Point:
    """Draw values, half of them where something may go wrong."""
    return {name: [number(draw) for _ in range(3)] if name in VECTORS else number(draw)
            for name in inputs}


def number(draw: random.Random) -> float:
    kind = draw.random()
    if kind < 0.15:
        return round(draw.uniform(-3, 3), 4)
    if kind < 0.3:
        return draw.choice(ORDINARY)
    if kind < 0.4:
        return round(draw.uniform(5, 800), 3)
    return draw.choice(EXTREME)


def reduced(tree: Tree) -> Iterator[Tree]:
    """Yield what is simpler than a tree and no part of it."""
    if tree.kind == "s" and tree.form.text not in ("{s!}", "{c}"):
        yield ONE
    if tree.kind == "program":
        for line in tree.walk():
            if line.form is LET:
                yield tree.replaced(functools.partial(_without, line))
    if tree.kind == "line":
        name = next(part for part in tree.parts if part.kind == "s name")
        for part in tree.parts:
            if part.kind == "s" and len(tree.parts) > 2:
                yield Tree("line", LET, (name, part))


def _without(line: Tree, tree: Tree) -> Tree | None:
    """Return what stands for a part once a line is gone: what it bound, in place of the name."""
    name, value = line.parts
    if tree.kind == "lines" and tree.parts and tree.parts[0] is line:
        return tree.parts[1].replaced(functools.partial(_without, line))
    return value if tree.form.text == "{s!}" and tree.parts[0].text == name.text else None


# --- on jets ----------------------------------------------------------------------------------


class Evaluation:
    """One run of a program on jets. out: the jet of its value."""

    def __init__(self, program: Drawn, point: Point, jets: Jets) -> None:
        self.jets = jets
        self.functions: dict[str, tuple[str, Tree]] = {}
        self.env: dict[str, Any] = {}
        k = 0
        for name in program.inputs:
            values = point[name]
            if isinstance(values, list):
                self.env[name] = [jets.variable(k + i, v) for i, v in enumerate(values)]
                k += len(values)
            else:
                self.env[name] = jets.variable(k, values)
                k += 1
        self.out = self.of(program.tree)

    def of(self, tree: Tree) -> Any:
        """Return the jet of a part; of vectors the list of their jets, of statements the last."""
        jets, parts = self.jets, tree.parts
        match tree.form.text:
            case "{s!}" | "{v!}":
                return self.of(parts[0])
            case "{c}":
                return jets.constant(float(parts[0].text.strip("()")))
            case "{unary}{s})" | "{unary}{v})" | "{special}{s})":
                name, a = parts[0].text, self.of(parts[1])
                function = UNARY.get(name[:-1]) or SPECIAL[name.removesuffix("(")]
                return [jets.unary(function, v) for v in a] if tree.kind == "v" else \
                    jets.unary(function, a)
            case "{s:2}^{power}":
                exponent = jets.constant(float(parts[1].text.strip("()")))
                return jets.binary(BINARY["^"], self.of(parts[0]), exponent)
            case "{s:2}{infix}{s?:2}":
                return jets.binary(BINARY[parts[1].text], self.of(parts[0]), self.of(parts[2]))
            case "{two}{s}, {s?})":
                return jets.binary(BINARY[parts[0].text[:-1]], self.of(parts[1]), self.of(parts[2]))
            case "where({s0} {order} {s0}, {s}, {s})":
                return self.of(parts[3 if self.holds(*parts[:3]) else 4])
            case "{f!}({s})":
                argument, kept = self.of(parts[1]), self.env
                name, body = self.functions[parts[0].text]
                self.env = {name: argument}
                found = self.of(body)
                self.env = kept
                return found
            case "{f+}({s*}) = {s@2}\n{functions}":
                self.functions[parts[0].text] = parts[1].text, parts[2]
                return self.of(parts[3])
            case "{s+} = {s2}":
                self.env[parts[0].text] = self.of(parts[1])
            case "if {s1} {order} {s0}:\n    {s+} = {s2}\nelse:\n    {4} = {s1}":
                self.env[parts[3].text] = self.of(parts[4 if self.holds(*parts[:3]) else 5])
            case "{s+} = {s1}\nfor i in range({turns}):\n    {1} = {s&2}":
                self.env[parts[0].text] = self.of(parts[1])
                for _ in range(int(parts[2].text)):
                    self.env[parts[0].text] = self.of(parts[3])
            case text if tree.kind in ("s name", "v name"):
                return self.env[text]
            case text if tree.kind == "s":
                return self.reduced(text.partition("(")[0], self.of(parts[0]))
            case text if text.startswith("["):
                return [self.of(part) for part in parts]
            case _:
                for part in parts:
                    last = self.of(part)
                return last if parts else None
        return None

    def holds(self, left: Tree, order: Tree, right: Tree) -> bool:
        return self.jets.compare(order.text, self.of(left), self.of(right))

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
        if name == "softmax":
            return jets.binary(BINARY["/"], parts[0], total)
        return jets.binary(BINARY["+"], jets.unary(UNARY["log"], total), top)
