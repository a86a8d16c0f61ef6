"""Programs that work, and the same programs broken in one known way or in two: material for
test_broken_programs.py.

A program is a chain of stages from a source to a target, each a line or a few (a formula, a
function, a loop, a choice, two lines that meet again), in a setting: bare, in a tape block, in two,
in a loop over epochs, in a function, behind a first derivative. What depends on the source passes
through one name between two stages, so that a break in a stage leaves no way round it. Every
expression carries its value, which tells what is whole (a cast keeps it) and what is in range.

The generator only writes text; nothing of the explaining engine is known here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
from draws import drawn

WATCH, CAST, MOVE, REBIND, STATE, NUMPY, STOP, DETOUR = KINDS = (
    "watch", "cast", "move", "rebind", "state", "numpy", "stop", "detour")
# What may be done to one of two lines that run side by side.
BESIDE = (CAST, MOVE, STATE, NUMPY, STOP)

# --- expressions ------------------------------------------------------------------------------

CHOICE, SUM, PRODUCT, POWER, ATOM = range(5)
# How it is written, how tightly it binds, and its arguments must.
FORMS: dict[str, tuple[int, tuple[int, ...], Callable[..., Any]]] = {
    "{} + {}": (SUM, (SUM, PRODUCT), np.add),
    "{} - {}": (SUM, (SUM, PRODUCT), np.subtract),
    "{}*{}": (PRODUCT, (PRODUCT, POWER), np.multiply),
    "{}/{}": (PRODUCT, (PRODUCT, POWER), np.divide),
    "{} @ {}": (PRODUCT, (PRODUCT, POWER), np.matmul),
    "{}^2": (POWER, (ATOM,), np.square),
    "{}^3": (POWER, (ATOM,), lambda x: x**3),
    "{}[0]": (ATOM, (ATOM,), lambda x: x[0]),
    "{}[1]": (ATOM, (ATOM,), lambda x: x[1]),
    "{} > {}": (CHOICE, (SUM, SUM), np.greater),
    "{} < {}": (CHOICE, (SUM, SUM), np.less),
    "sin({})": (ATOM, (CHOICE,), np.sin),
    "cos({})": (ATOM, (CHOICE,), np.cos),
    "tanh({})": (ATOM, (CHOICE,), np.tanh),
    "exp({})": (ATOM, (CHOICE,), np.exp),
    "log({})": (ATOM, (CHOICE,), np.log),
    "sqrt({})": (ATOM, (CHOICE,), np.sqrt),
    "square({})": (ATOM, (CHOICE,), np.square),
    "relu({})": (ATOM, (CHOICE,), lambda x: np.maximum(x, 0)),
    "sigmoid({})": (ATOM, (CHOICE,), lambda x: 1/(1 + np.exp(-x))),
    "sum({})": (ATOM, (CHOICE,), np.sum),
    "mean({})": (ATOM, (CHOICE,), np.mean),
    "dot({}, {})": (ATOM, (CHOICE, CHOICE), np.dot),
    "maximum({}, {})": (ATOM, (CHOICE, CHOICE), np.maximum),
    "where({}, {}, {})": (ATOM, (CHOICE, CHOICE, CHOICE), np.where),
}
IN_NUMPY = {"sin", "cos", "tanh", "exp", "log", "sqrt", "square", "sum", "mean", "dot", "maximum",
            "where"}
SPELLED_OUT = {"{}^2": "square({})", "{} @ {}": "matmul({}, {})", "{} + {}": "add({}, {})",
               "{}*{}": "multiply({}, {})"}


class E:
    """An expression: how it is written, its parts, its value."""

    __slots__ = ("form", "level", "needs", "parts", "value")

    def __init__(self, form: str, level: int, needs: Sequence[int], parts: Sequence[E],
                 value: Any) -> None:
        self.form = form
        self.level = level
        self.needs = tuple(needs)
        self.parts = list(parts)
        self.value = value

    def text(self) -> str:
        written = [p.text() if p.level >= need else f"({p.text()})"
                   for p, need in zip(self.parts, self.needs, strict=True)]
        return self.form.format(*written)

    def wrap(self, form: str) -> None:
        """Put a call around it, in place."""
        inner = E(self.form, self.level, self.needs, self.parts, self.value)
        self.form, self.level, self.needs, self.parts = form, ATOM, (CHOICE,), [inner]

    def count(self, names: Collection[str]) -> int:
        if not self.parts:
            return self.form in names
        return sum(p.count(names) for p in self.parts)

    def covering(self, names: Collection[str]) -> list[E]:
        """The parts that hold every use of the names, from the whole to the smallest."""
        found = [self]
        total = self.count(names)
        while True:
            inner = [p for p in found[-1].parts if p.count(names) == total]
            if not inner:
                return found
            found.append(inner[0])

    def leaves(self) -> Iterator[E]:
        if not self.parts:
            yield self
        for p in self.parts:
            yield from p.leaves()


def make(form: str, *parts: E) -> E:
    level, needs, function = FORMS[form]
    with np.errstate(all="ignore"):
        return E(form, level, needs, parts, function(*(p.value for p in parts)))


def leaf(name: str, value: Any) -> E:
    return E(name, ATOM, (), (), value)


def number(value: float, point: bool = True) -> E:
    text = repr(float(value))
    if not point and text.endswith(".0"):
        text = text[:-2]
    return E(text, ATOM if value >= 0 else SUM, (), (), float(value))


def written(value: Any) -> str:
    """A value as one writes it down."""
    if np.ndim(value):
        return "[" + ", ".join(written(v) for v in value) + "]"
    return repr(float(value))


def whole(value: Any) -> bool:
    return bool(np.all(np.asarray(value, float) == np.round(value)))


def tame(value: Any, limit: float = 60) -> bool:
    return bool(np.all(np.isfinite(value)) and np.all(np.abs(value) <= limit))


# --- lines ------------------------------------------------------------------------------------


class Line:
    """A line of text; marks: of which break it is the broken line."""

    __slots__ = ("comment", "marks", "plain")

    def __init__(self, plain: str) -> None:
        self.plain = plain
        self.comment = ""
        self.marks: set[int] = set()

    def text(self) -> str:
        return self.plain


class Formula(Line):
    """A line with an expression: `y = ...`, `f(x) = ...`, `return ...`. links: the names in it
    that depend on the source. name: what it binds, if that is a plain name.
    """

    __slots__ = ("e", "links", "name", "repeated", "shift")

    def __init__(self, prefix: str, e: E, links: Collection[str], name: str = "",
                 repeated: bool = False) -> None:
        super().__init__(prefix)
        self.e = e
        self.links = set(links)
        self.name = name
        self.repeated = repeated
        self.shift = ""

    def text(self) -> str:
        return f"{self.plain}{self.e.text()}{self.shift}"

    def count_links(self) -> int:
        return self.e.count(self.links)


def bind(name: str, e: E, links: Collection[str], repeated: bool = False) -> Formula:
    return Formula(f"{name} = ", e, links, name, repeated)


class Block:
    __slots__ = ("body", "head")

    def __init__(self, head: Line, body: list[Part]) -> None:
        self.head = head
        self.body = body


Part = Line | Block


def flat(parts: Sequence[Part], depth: int = 0) -> Iterator[tuple[int, Line]]:
    for part in parts:
        if isinstance(part, Block):
            yield depth, part.head
            yield from flat(part.body, depth + 1)
        else:
            yield depth, part


def rendered(parts: Sequence[Part]) -> tuple[str, dict[int, set[int]]]:
    """The text, and per break the numbers of its lines."""
    lines: list[str] = []
    marks: dict[int, set[int]] = {}
    for depth, line in flat(parts):
        lines.append(f"{'    ' * depth}{line.text()}{line.comment}".rstrip())
        for mark in line.marks:
            marks.setdefault(mark, set()).add(len(lines))
    return "\n".join(lines) + "\n", marks


class Stage:
    """Lines that take the chain from one name to the next. above: functions that stand before
    everything. cuts: lines that everything goes through; beside: two that it goes through
    together. names: all that the lines read besides.
    """

    __slots__ = ("above", "beside", "choice", "cuts", "lines", "out")

    def __init__(self, lines: Sequence[Part], out: E, cuts: Sequence[Formula],
                 above: Sequence[Part] = (), beside: Sequence[Formula] = (),
                 choice: Formula | None = None) -> None:
        self.lines = list(lines)
        self.out = out
        self.cuts = list(cuts)
        self.above = list(above)
        self.beside = list(beside)
        self.choice = choice


class Broken:
    """A program, the same broken, and what was asked of both.

    lines: per break the numbers of the lines that may be named as its place, from 1. wrt and of are
    empty if the program asks by itself. cut: the source that has lost its gradient, which others
    may be asked with. kept: whether the break keeps all values.
    """

    __slots__ = ("arrangement", "broken", "cut", "kept", "kinds", "lines", "of", "original",
                 "setting", "tape", "target", "wrt")

    def __init__(self, kinds: Sequence[str], arrangement: str, setting: str, original: str,
                 broken: str, lines: Sequence[set[int]], cut: str, target: str,
                 wrt: Sequence[str], of: Sequence[str], tape: str | None, kept: bool) -> None:
        self.kinds = tuple(kinds)
        self.arrangement = arrangement
        self.setting = setting
        self.original = original
        self.broken = broken
        self.lines = list(lines)
        self.cut = cut
        self.target = target
        self.wrt = list(wrt)
        self.of = list(of)
        self.tape = tape
        self.kept = kept


class Unsuitable(Exception):
    """This draw does not fit: draw again."""


# --- the programs -----------------------------------------------------------------------------

# Settings, and how often.
BARE, TAPE, TWO, EPOCHS, FUNCTION, SECOND = SETTINGS = (
    "bare", "tape", "two", "epochs", "function", "second")
WEIGHTS = (26, 40, 10, 8, 8, 8)
TAPES = ("t", "t", "t", "tape1", "rec", "g1", "outer")
SOURCES = ("x", "x", "x", "w", "a", "theta", "v", "r", "x0")
OTHERS = ("y", "b", "c", "k", "s", "scale", "rate", "bias", "n", "w2")
BETWEEN = ("u", "h", "p", "q", "m", "y1", "y2", "hidden", "part", "act", "d", "out", "inner", "s1")
TARGETS = ("z", "z", "loss", "y", "total", "f", "energy", "cost", "result")
FUNCTIONS = ("f", "g", "bump", "layer", "curve", "half")


class Builder:
    """One program, whole, then broken."""

    def __init__(self, draw: random.Random, kinds: Sequence[str]) -> None:
        self.draw = draw
        self.kinds = list(kinds)
        self.taken: set[str] = set()
        self.above: list[Part] = []             # functions
        self.declared: list[Line] = []
        self.constants: list[E] = []            # names without a question
        self.asked_too: list[E] = []            # other sources, joined to the chain
        self.used: set[str] = set()
        self.wholes = CAST in kinds and draw.random() < 0.85
        self.kept = True
        self.beside = len(kinds) == 2 and all(k in BESIDE for k in kinds) and draw.random() < 0.5
        self.setting = draw.choices(SETTINGS, WEIGHTS)[0]
        self.question = draw.choices(("file", "command"), (60, 40))[0]
        if self.setting in (EPOCHS, FUNCTION):
            self.question = "file"
        if MOVE in kinds and self.setting == BARE:
            raise Unsuitable
        if self.setting == EPOCHS and CAST in kinds:
            raise Unsuitable                    # a value may be whole in one epoch only
        self.tape = self._name(TAPES)
        self.other_tape = ""
        # The line that asks for a first derivative; of other settings no line of the program.
        self.asking = Formula("", number(0), [])

    def _name(self, pool: Sequence[str]) -> str:
        free = [n for n in pool if n not in self.taken]
        if not free:
            raise Unsuitable
        name = self.draw.choice(free)
        self.taken.add(name)
        return name

    # --- values -------------------------------------------------------------------------------

    def _value(self, shape: tuple[int, ...]) -> Any:
        pool = (1.0, 2.0, 3.0, 4.0, 1.0, 2.0) if self.wholes else (
            0.5, 1.0, 2.0, 1.5, 3.0, 0.25, 2.5, 0.8, 1.2)
        if shape == ():
            return self.draw.choice(pool)
        count = int(np.prod(shape))
        return np.array([self.draw.choice(pool) for _ in range(count)]).reshape(shape)

    def _number(self) -> E:
        pool = (2.0, 3.0, 4.0) if self.wholes else (0.5, 2.0, 1.5, 3.0, 0.1, 4.0)
        return number(self.draw.choice(pool), point=self.draw.random() < 0.4)

    # --- expressions --------------------------------------------------------------------------

    def _steps(self, e: E) -> list[tuple[int, Callable[[], E]]]:
        """What may be done to a value, and how often."""
        v = np.asarray(e.value)
        low, high = float(np.min(v)), float(np.max(v))
        exact = self.wholes and whole(v)
        found: list[tuple[int, Callable[[], E]]] = [
            (3, lambda: make("{}*{}", *self.draw.sample([e, self._number()], 2))),
            (2, lambda: make("{} + {}", e, self._number())),
            (1, lambda: make("{} - {}", e, self._number())),
            (1, lambda: make("{} - {}", self._number(), e)),
            (3, lambda: make("{}^2", e)),
            (1, lambda: make("square({})", e)),
            (2, lambda: make("{}^3", e))]
        same = [c for c in self.constants if np.shape(c.value) in ((), v.shape)]
        if same:
            found.append((3, lambda: make("{}*{}", *self.draw.sample([e, self._use(same)], 2))))
            found.append((3, lambda: make("{} + {}", e, self._use(same))))
        smooth = 1 if exact else 3
        found += [(smooth, lambda: make("sin({})", e)), (smooth, lambda: make("tanh({})", e)),
                  (smooth - 1, lambda: make("cos({})", e)),
                  (smooth - 1, lambda: make("sigmoid({})", e))]
        if not exact:
            found.append((1, lambda: make("{}/{}", e, self._number())))
        if high < 3:
            found.append((smooth, lambda: make("exp({})", e)))
        if low > 0.05:
            found += [(1, lambda: make("relu({})", e)),
                      (1, lambda: make("maximum({}, {})", e, number(0, point=False)))]
            if self.setting != EPOCHS:          # of another epoch the range is not known
                found += [(smooth, lambda: make("log({})", e)),
                          (smooth, lambda: make("sqrt({})", e))]
        if v.ndim:
            found.append((3, lambda: make("sum({})", e)))
            if not exact:
                found.append((2, lambda: make("mean({})", e)))
        if v.ndim == 1:
            vectors = [c for c in self.constants if np.shape(c.value) == v.shape]
            found.append((1, lambda: make(self.draw.choice(("{}[0]", "{}[1]")), e)))
            if vectors:
                found.append((4, lambda: make("dot({}, {})", e, self._use(vectors))))
        if v.ndim == 2:
            fitting = [c for c in self.constants if np.shape(c.value) == (v.shape[1],)]
            if fitting:
                found.append((5, lambda: make("{} @ {}", e, self._use(fitting))))
        return found

    def _use(self, pool: Sequence[E]) -> E:
        chosen = self.draw.choice(list(pool))
        self.used.add(chosen.form)
        return leaf(chosen.form, chosen.value)

    def _grow(self, e: E, steps: int) -> E:
        for _ in range(steps):
            for _ in range(20):
                weights, makers = zip(*self._steps(e), strict=True)
                used = set(self.used)
                bigger = self.draw.choices(makers, weights)[0]()
                if tame(bigger.value) and np.max(np.abs(bigger.value)) > 1e-3:
                    e = bigger
                    break
                self.used = used
            else:
                raise Unsuitable
        return e

    def _formula(self, link: E, least: int = 1) -> E:
        """An expression that uses the link once, sometimes twice."""
        e = self._grow(leaf(link.form, link.value), self.draw.choice((least, least, 2, 2, 3)))
        if self.draw.random() < 0.2:
            again = self._grow(leaf(link.form, link.value), 1)
            if np.shape(again.value) == np.shape(e.value):
                e = make(self.draw.choice(("{} + {}", "{}*{}", "{} - {}")), e, again)
        if not tame(e.value):
            raise Unsuitable
        return e

    def _scalar(self, e: E) -> E:
        return make("sum({})", e) if np.ndim(e.value) else e

    # --- stages -------------------------------------------------------------------------------

    def _stage(self, link: E, name: str) -> Stage:
        kinds: list[Callable[[E, str], Stage]] = [
            self._plain, self._function, self._loop, self._sum_up, self._arms, self._where,
            self._two_lines]
        return self.draw.choices(kinds, (9, 2, 1, 1, 1, 1, 2))[0](link, name)

    def _plain(self, link: E, name: str) -> Stage:
        line = bind(name, self._formula(link), [link.form])
        return Stage([line], leaf(name, line.e.value), [line])

    def _function(self, link: E, name: str) -> Stage:
        """A call of a function of the file; it is called once, so its values are known too."""
        f = self._name(FUNCTIONS)
        parameter = self._name(("arg", "q0", "val", "p0"))
        self.taken.discard(parameter)
        inside = leaf(parameter, link.value)
        kept, self.constants = self.constants, []
        first = self._formula(inside)
        above: list[Part]
        if self.draw.random() < 0.5:
            formula = Formula(f"{f}({parameter}) = ", first, [parameter])
            above, cuts, last = [formula], [formula], first
        else:
            local = self._name(("a1", "mid", "inside", "b1"))
            last = self._formula(leaf(local, first.value))
            back = Formula("return ", last, [local])
            begin = bind(local, first, [parameter])
            begin.name = ""                     # of the function, not of the file
            above = [Block(Line(f"def {f}({parameter}):"), [begin, back])]
            cuts = [begin, back]
        self.constants = kept
        call = E(f"{f}({{}})", ATOM, (CHOICE,), [leaf(link.form, link.value)], last.value)
        if self.draw.random() < 0.3:
            call = self._grow(call, 1)
        line = bind(name, call, [link.form])
        return Stage([line], leaf(name, call.value), [line, *cuts], above)

    def _loop(self, link: E, name: str) -> Stage:
        """`h = x`, and a loop that goes on from h."""
        times = self.draw.choice((2, 3))
        begin = bind(name, leaf(link.form, link.value), [link.form])
        if self.draw.random() < 0.5:
            begin.e = self._grow(begin.e, 1)
        e = begin.e
        form = self.draw.choice(("tanh", "affine", "product"))
        if form == "affine":
            step, shift = (self._number() for _ in range(2))
            def once(x: E) -> E:
                return make("{} + {}", make("{}*{}", step, x), shift)
        elif form == "product" and self.constants:
            same = [c for c in self.constants if np.shape(c.value) in ((), np.shape(e.value))]
            if not same:
                raise Unsuitable
            other = self._use(same)
            def once(x: E) -> E:
                return make("{}*{}", x, other)
        else:
            step = self._number()
            def once(x: E) -> E:
                return make("tanh({})", make("{}*{}", step, x))
        value = e.value
        for _ in range(times):
            body = once(leaf(name, value))
            value = body.value
        if not tame(value):
            raise Unsuitable
        inside = bind(name, body, [name], repeated=True)
        count = self._name(("i", "j", "step", "turn"))
        self.taken.discard(count)
        loop = Block(Line(f"for {count} in range({times}):"), [inside])
        return Stage([begin, loop], leaf(name, value), [begin, inside])

    def _sum_up(self, link: E, name: str) -> Stage:
        """`s = 0.0`, and a loop that adds to it."""
        shape = np.shape(link.value)
        factors = [float(self._value(())) for _ in range(self.draw.choice((2, 3)))]
        count = self._name(("i", "j", "c0", "factor"))
        self.taken.discard(count)
        seed = self.draw.random()
        value: Any = np.zeros(shape)
        for factor in factors:
            x, c = leaf(link.form, link.value), leaf(count, factor)
            part = (make("{}*{}", c, x) if seed < 0.4 else make("{}*{}", c, make("{}^2", x))
                    if seed < 0.7 else make("sin({})", make("{}*{}", c, x)))
            whole_line = make("{} + {}", leaf(name, value), part)
            value = whole_line.value
        if not tame(value):
            raise Unsuitable
        zero = Line(f"{name} = {written(np.zeros(shape))}")
        inside = bind(name, whole_line, [link.form], repeated=True)
        head = Line(f"for {count} in {written(np.array(factors))}:")
        value = float(value) if shape == () else value
        return Stage([zero, Block(head, [inside])], leaf(name, value), [inside])

    def _condition(self) -> tuple[E, bool]:
        """A comparison that does not involve the chain, and its value."""
        scalars = [c for c in self.constants if np.shape(c.value) == ()]
        if not scalars:
            raise Unsuitable
        chosen = self._use(scalars)
        border = self.draw.choice([b for b in (0.0, 1.0, 2.0, 10.0) if b != chosen.value])
        e = make(self.draw.choice(("{} > {}", "{} < {}")), chosen, number(border, point=False))
        return e, bool(e.value)

    def _same_shape(self, link: E, shape: tuple[int, ...]) -> E:
        for _ in range(20):
            e = self._formula(link)
            if np.shape(e.value) == shape:
                return e
        raise Unsuitable

    def _arms(self, link: E, name: str) -> Stage:
        """An if with the chain in both arms; one of them runs."""
        condition, taken = self._condition()
        first = self._formula(link)
        second = self._same_shape(link, np.shape(first.value))
        run, other = (first, second) if taken else (second, first)
        arm, idle = bind(name, run, [link.form]), bind(name, other, [link.form])
        lines: list[Part] = [Block(Line(f"if {condition.text()}:"), [arm if taken else idle]),
                             Block(Line("else:"), [idle if taken else arm])]
        return Stage(lines, leaf(name, run.value), [arm])

    def _where(self, link: E, name: str) -> Stage:
        """A where with the chain in both arms."""
        condition, _ = self._condition()
        if self.draw.random() < 0.5:
            condition = make("{} > {}", leaf(link.form, link.value), number(1.0, point=False))
        first = self._grow(leaf(link.form, link.value), 1)
        second = self._same_shape(link, np.shape(first.value))
        if np.shape(condition.value) not in ((), np.shape(first.value)):
            raise Unsuitable
        e = make("where({}, {}, {})", condition, first, second)
        if np.shape(e.value) == ():
            e.value = float(e.value)
        line = bind(name, e, [link.form])
        return Stage([line], leaf(name, e.value), [line])

    def _two_lines(self, link: E, name: str) -> Stage:
        """Two lines side by side, and one where they meet."""
        one, other = self._name(BETWEEN), self._name(BETWEEN)
        first = self._formula(link)
        second = self._same_shape(link, np.shape(first.value))
        lines = [bind(one, first, [link.form]), bind(other, second, [link.form])]
        meet = make(self.draw.choice(("{} + {}", "{}*{}", "{} - {}")), leaf(one, first.value),
                    leaf(other, second.value))
        if self.draw.random() < 0.3:
            meet = self._grow(meet, 1)
        if not tame(meet.value):
            raise Unsuitable
        last = bind(name, meet, [one, other])
        return Stage([*lines, last], leaf(name, meet.value), [last], beside=lines)

    def _detour(self, link: E, name: str) -> Stage:
        """A where that does not choose the arm with the chain."""
        condition, taken = self._condition()
        arm = self._formula(link)
        pool = [c for c in (*self.asked_too, *self.constants)
                if np.shape(c.value) == np.shape(arm.value)]
        if not pool:
            raise Unsuitable
        chosen = self._grow(self._use(pool), self.draw.choice((0, 1, 1)))
        if np.shape(chosen.value) != np.shape(arm.value):
            raise Unsuitable
        e = make("where({}, {}, {})", condition, *((chosen, arm) if taken else (arm, chosen)))
        e.value = chosen.value
        line = bind(name, e, [link.form])
        return Stage([line], leaf(name, chosen.value), [line], choice=line)

    # --- the source and the others ------------------------------------------------------------

    def _declare_source(self) -> None:
        """The asked source; how it is declared decides whether it needs a watch."""
        self.shape = self.draw.choices(((), (2,), (3,), (2, 2)), (62, 14, 12, 12))[0]
        self.x = self._name(SOURCES)
        self.x_value = self._value(self.shape)
        forms = ["var", "var", "var", "const", "const", "frozen", "input", "plain"]
        if WATCH in self.kinds:
            # By itself nothing watches these.
            forms = ["const", "const", "const", "frozen", "input", "plain", "computed"]
            if self.setting == BARE:
                # In a file `grad` needs no watch; the command line does.
                forms, self.question = ["const", "const", "frozen"], "command"
        elif self.setting == BARE:
            forms = ["var", "var", "input", "plain"]
        if REBIND in self.kinds or self.setting == EPOCHS:
            forms = ["var"] if WATCH not in self.kinds else ["frozen"]
        self.restricted = False                 # watch_accessed_variables=false
        if self.setting != BARE and self.draw.random() < (0.35 if WATCH in self.kinds else 0.1):
            self.restricted = True
            if WATCH in self.kinds:
                forms = ["var"]
        self.form = self.draw.choice(forms)
        if self.setting == FUNCTION:
            self.form = "parameter"
        self.watched = self.setting != BARE and (self.form != "var" or self.restricted)
        if self.setting == BARE and WATCH in self.kinds:
            self.watched = True
        text = written(self.x_value)
        typed = ""
        if self.draw.random() < 0.1 and self.form in ("var", "const", "input"):
            typed = ": float64" + (f"[{', '.join(map(str, self.shape))}]" if self.shape else "")
        x = self.x
        self.source_lines: list[Line] = []
        if self.form == "computed":
            start = self._name(("start", "base", "begin", "raw"))
            self.declared.append(Line(f"var {start} = {text}"))
            self.x_value = self.x_value + 1.0
            line = Line(f"{x} = {start} + 1.0")
        elif self.form == "parameter":
            return
        else:
            line = Line({
                "var": f"var {x}{typed} = {text}", "const": f"const {x}{typed} = {text}",
                "frozen": f"var {x} = {text}, trainable=false",
                "input": f"input {x}{typed} = {text}", "plain": f"{x} = {text}"}[self.form])
        self.declared.append(line)
        self.source_lines.append(line)

    def _declare_others(self) -> None:
        """Names that meet the chain on the way: constants, and another source or none."""
        shapes = {(), self.shape}
        if self.shape == (2, 2):
            shapes = {(), (2,)}
        if DETOUR in self.kinds:
            shapes = {(), self.shape, *((n,) for n in self.shape[:1])}
        for shape in sorted(shapes):
            if shape == () or self.draw.random() < 0.7 or DETOUR in self.kinds:
                name = self._name(OTHERS)
                value = self._value(shape)
                form = self.draw.choice(("var ", "const ", "const ", ""))
                self.constants.append(leaf(name, value))
                line = Line(f"{form}{name} = {written(value)}")
                self.declared.insert(self.draw.randrange(len(self.declared) + 1), line)
        if self.draw.random() < 0.35 and self.setting in (BARE, TAPE, TWO):
            name = self._name(OTHERS)
            value = self._value(())
            self.asked_too.append(leaf(name, value))
            self.declared.append(Line(f"var {name} = {written(value)}"))

    # --- the chain ----------------------------------------------------------------------------

    def _chain(self, link: E) -> None:
        least = 2 if len(self.kinds) == 2 or MOVE in self.kinds else 1
        count = self.draw.choice((least, 2, 2, 3, 3, 4))
        self.stages: list[Stage] = []
        detour_at = self.draw.randrange(count) if DETOUR in self.kinds else -1
        beside_at = self.draw.randrange(count) if self.beside else -1
        join_at = self.draw.randrange(count) if self.asked_too else -1
        for k in range(count):
            last = k == count - 1
            name = self._name(TARGETS if last else BETWEEN)
            stage: Stage
            if k == detour_at:
                stage = self._detour(link, name)
            elif k == beside_at:
                stage = self._two_lines(link, name)
            else:
                stage = self._stage(link, name)
            end = stage.lines[-1]
            if k == join_at and isinstance(end, Formula) and k != detour_at:
                other = self.asked_too[0]
                end.e = make(self.draw.choice(("{} + {}", "{}*{}")), end.e, leaf(
                    other.form, other.value))
                self.used.add(other.form)
                stage.out.value = end.e.value
            if last and np.ndim(stage.out.value) and isinstance(end, Formula) and (
                    self.draw.random() < 0.85 and k != detour_at):
                end.e = make("sum({})", end.e)
                stage.out.value = end.e.value
            if not tame(stage.out.value):
                raise Unsuitable
            self.above += stage.above
            self.stages.append(stage)
            link = stage.out
        self.target = link.form
        self.body: list[Part] = [line for stage in self.stages for line in stage.lines]

    # --- settings -----------------------------------------------------------------------------

    def build(self) -> list[Part]:
        """The whole program."""
        self._declare_source()
        self._declare_others()
        self.update: Line | None = None
        self.update_at = ""
        value = self.x_value
        if REBIND in self.kinds:
            value = self._plan_update(value)
        if self.setting == SECOND:
            value = self._first_derivative()
        else:
            self.start = self.x
        self._chain(leaf(self.start, value))
        if any(o.form not in self.used for o in self.asked_too):
            raise Unsuitable
        unused = {c.form for c in self.constants} - self.used
        self.declared = [line for line in self.declared
                         if not any(_declares(line, name) for name in unused)]
        return {BARE: self._bare, TAPE: self._in_tape, TWO: self._two_tapes,
                EPOCHS: self._epochs, FUNCTION: self._in_function,
                SECOND: self._second}[self.setting]()

    def _plan_update(self, value: Any) -> Any:
        """A line that changes the variable; where: "before" the use, "after" it or "between"."""
        places = {
            BARE: ["after"] if self.question == "file" else [],
            TAPE: ["before", "after", "between"] if self.question == "file" else ["before"],
            TWO: ["before", "after"] if self.question == "file" else ["before"],
            EPOCHS: ["epoch"], FUNCTION: [], SECOND: ["after"] if self.question == "file" else []}[
                self.setting]
        if self.watched:
            # A watch behind the update would watch the new value.
            places = [p for p in places if p in ("after", "between")]
        if not places:
            raise Unsuitable
        self.update_at = self.draw.choice(places)
        step = self.draw.choice((1.0, 1.0, 0.5, 2.0) if not self.wholes else (1.0, 2.0))
        if self.setting == EPOCHS:
            step = self.draw.choice((1.0, 0.5, 0.1))
        form = self.draw.choice(("add", "add", "sub", "assign") if step != 1 else ("add", "sub"))
        x, n = self.x, number(step, point=self.draw.random() < 0.5).text()
        self.update = Line({
            "add": f"{x}.assign_add({n})", "sub": f"{x}.assign_sub({n})",
            "assign": f"{x}.assign({n}*{x})"}[form])
        self.rebound = {"add": f"{x} = {x} + {n}", "sub": f"{x} = {x} - {n}",
                        "assign": f"{x} = {n}*{x}"}[form]
        if self.update_at == "before":
            value = {"add": value + step, "sub": value - step, "assign": value*step}[form]
        if np.any(np.asarray(value) == 0):
            raise Unsuitable
        return value

    def _options(self, tape: str, restricted: bool) -> str:
        found = f"tape {tape}"
        if self.draw.random() < 0.3:
            found += ", persistent=true"
        if restricted:
            found += ", watch_accessed_variables=false"
        return found + ":"

    def _watch(self, tape: str, more: Sequence[str] = ()) -> Line:
        """`t.watch(x)`, or of several at once."""
        dot = f"{tape}." if tape else ""
        names = [self.x, *more]
        if len(names) == 1:
            return Line(f"{dot}watch({self.x})")
        self.draw.shuffle(names)
        return Line(f"{dot}watch([{', '.join(names)}])")

    def _bare(self) -> list[Part]:
        self.watch_line = None
        found: list[Part] = [*self.above, *self.declared]
        if self.watched:
            self.watch_line = self._watch("")
            found.append(self.watch_line)
        found += self.body
        if self.update is not None:
            found.append(self.update)
        return found + self._asks("grad", self.target)

    def _tape_block(self, tape: str, inside: list[Part]) -> Block:
        """A tape around lines, with its watches."""
        head = Line(self._options(tape, self.restricted))
        self.watch_line = None
        watches: list[Part] = []
        others = [o.form for o in self.asked_too] if self.restricted else []
        if self.watched:
            if others and self.draw.random() < 0.5:
                self.watch_line = self._watch(tape, others)
                others = []
            else:
                self.watch_line = self._watch(tape)
            watches.append(self.watch_line)
        watches += [Line(f"{tape}.watch({o})") for o in others]
        inside[:0] = watches
        self.tape_head = head
        self.block = self.outermost = Block(head, inside)
        return self.block

    def _in_tape(self) -> list[Part]:
        block = self._tape_block(self.tape, self.body)
        found: list[Part] = [*self.above, *self.declared]
        if self.update is not None and self.update_at == "before":
            found.append(self.update)
        found.append(block)
        if self.update is not None and self.update_at == "between":
            block.body.append(self.update)
        if self.update is not None and self.update_at == "after":
            found.append(self.update)
        return found + self._asks(f"{self.tape}.gradient", self.target)

    def _two_tapes(self) -> list[Part]:
        """Two tapes record the same lines; one is asked about the source, the other besides."""
        self.other_tape = self._name(("t2", "tape2", "second", "b2"))
        block = self._tape_block(self.tape, self.body)
        second = Line(self._options(self.other_tape, False))
        if self.watched and self.draw.random() < 0.7:
            block.body.insert(0, Line(f"{self.other_tape}.watch({self.x})"))
        found: list[Part] = [*self.above, *self.declared]
        if self.update is not None and self.update_at == "before":
            found.append(self.update)
        self.outermost = Block(second, [block])
        found.append(self.outermost)
        if self.update is not None and self.update_at == "after":
            found.append(self.update)
        return found + self._asks(f"{self.tape}.gradient", self.target)

    def _epochs(self) -> list[Part]:
        block = self._tape_block(self.tape, self.body)
        count = self._name(("epoch", "step", "it"))
        inside: list[Part] = [block, *self._asks(f"{self.tape}.gradient", self.target, count)]
        inside.append(self.update or Line(f"{self.x}.assign_add(0.5)"))
        return [*self.above, *self.declared,
                Block(Line(f"for {count} in range(2):"), inside)]

    def _in_function(self) -> list[Part]:
        """A function that opens a tape and answers with the slope."""
        name = self._name(("slope", "derivative", "grad_at", "sensitivity"))
        block = self._tape_block(self.tape, self.body)
        inside: list[Part] = [
            block, Line(f"return {self.tape}.gradient({self.target}, {self.x})")]
        head = Line(f"def {name}({self.x}):")
        point = self._name(("point", "at", "start"))
        keyword = self.draw.choice(("", "const "))
        here = [Line(f"{keyword}{point} = {written(self.x_value)}"),
                Line(f"print({name}({point}))")]
        self.source_lines = [head, here[0]]
        return [*self.above, *self.declared, Block(head, inside), *here]

    def _first_derivative(self) -> Any:
        """y = x^3 or the like on an inner tape, and its derivative; the chain goes on from it."""
        self.inner = self._name(("t1", "inner", "first", "tape_in"))
        value = self.x_value
        y, dy = self._name(("y0", "value", "f0", "inner_loss")), self._name(("dy", "slope", "g0"))
        x = leaf(self.x, value)
        e, slope = self.draw.choice((
            (make("{}^2", x), 2*value), (make("{}^3", x), 3*value**2),
            (make("sin({})", x), np.cos(value)), (make("exp({})", x), np.exp(value)),
            (make("{}*{}", make("{}^2", x), number(3.0, point=False)), 6*value)))
        if not tame(slope):
            raise Unsuitable
        self.first = bind(y, self._scalar(e), [self.x])
        self.asking = Formula(f"{dy} = ", leaf(f"{self.inner}.gradient({y}, {self.x})", slope),
                              [], dy)
        self.start = dy
        return slope

    def _second(self) -> list[Part]:
        inner = Block(Line(f"tape {self.inner}:"), [])
        if self.watched:
            inner.body.append(Line(f"{self.inner}.watch({self.x})"))
        inner.body.append(self.first)
        lines: list[Part] = [inner, self.asking, *self.body]
        block = self._tape_block(self.tape, lines)
        self.body = lines
        found: list[Part] = [*self.above, *self.declared, block]
        if self.update is not None:
            found.append(self.update)
        return found + self._asks(f"{self.tape}.gradient", self.target)

    def _asks(self, call: str, target: str, count: str = "") -> list[Part]:
        """The lines that ask and print; none of them if the command line asks."""
        x = self.x
        others = [o.form for o in self.asked_too]
        self.together = bool(others) and self.draw.random() < 0.8
        label = self.draw.choice(("", "", f'"d{target}/d{x} =", '))
        if count:
            label = self.draw.choice((f"{count}, ", label))
        if self.question == "command":
            return [] if self.draw.random() < 0.7 else [Line(f'print("{target} =", {target})')]
        if not self.together:
            if self.draw.random() < 0.4:
                return [Line(f"print({label}{call}({target}, {x}))")]
            name = self._name(("g", "grads", f"d{target}_d{x}", "gradient"))
            return [Line(f"{name} = {call}({target}, {x})"), Line(f"print({label}{name})")]
        names = [x, *others]
        self.draw.shuffle(names)
        form = self.draw.choice(("list", "names", "dictionary"))
        if form == "names":
            found = [f"d{n}" for n in names]
            return [Line(f"{', '.join(found)} = {call}({target}, [{', '.join(names)}])"),
                    *[Line(f"print({n})") for n in found]]
        if form == "list":
            name = self._name(("gs", "grads"))
            return [Line(f"{name} = {call}({target}, [{', '.join(names)}])"),
                    Line(f"print({name})")]
        items = ", ".join(f'"{n}": {n}' for n in names)
        name = self._name(("gs", "grads"))
        return [Line(f"{name} = {call}({target}, {{{items}}})"),
                *[Line(f'print({name}["{n}"])') for n in names]]

    # --- the breaks ---------------------------------------------------------------------------

    def break_in(self) -> str:
        """Break the program in all its ways; how the ways are arranged."""
        if self.beside:
            stage = next((s for s in self.stages if s.beside), None)
            if stage is None:
                raise Unsuitable
            for k, line in enumerate(self.draw.sample(stage.beside, 2)):
                self._break_line(k, self.kinds[k], line)
            return "side by side"
        cuts = [line for stage in self.stages for line in stage.cuts]
        if self.setting == SECOND:
            cuts.append(self.asking)
        touched: set[int] = set()
        order = sorted(range(len(self.kinds)), key=lambda k: self.kinds[k] != DETOUR)
        for k in order:
            kind = self.kinds[k]
            if kind == WATCH:
                self._drop_watch(k)
            elif kind == REBIND:
                self._rebind(k)
            elif kind == DETOUR:
                touched.add(self._choose(k))
            elif kind == CAST and self._can_declare(touched) and self.draw.random() < 0.3:
                self._declare_integer(k)
            else:
                choices = [line for line in cuts if id(line) not in touched]
                self.draw.shuffle(choices)
                for line in choices:
                    try:
                        self._break_line(k, kind, line)
                    except Unsuitable:
                        continue
                    touched.add(id(line))
                    break
                else:
                    raise Unsuitable
        return "in series" if len(self.kinds) == 2 else "alone"

    def _break_line(self, k: int, kind: str, line: Formula) -> None:
        if kind != MOVE and line.count_links() == 0:
            raise Unsuitable
        {CAST: self._cast, MOVE: self._move, STATE: self._assign, NUMPY: self._leave,
         STOP: self._stop}[kind](k, line)

    def _drop_watch(self, k: int) -> None:
        line = self.watch_line
        if line is None:
            raise Unsuitable
        rest = [n for n in line.plain.partition("[")[2].rstrip(")]").split(", ")
                if n and n != self.x]
        if rest:
            line.plain = f"{line.plain.partition('(')[0]}({', '.join(rest)})"
            line.marks.add(k)
        else:
            _remove(self.everything, line)
        if self.restricted and self.form == "var":
            self.tape_head.marks.add(k)         # the option that keeps it from being watched
        else:
            for here in self.source_lines:
                here.marks.add(k)
        if self.other_tape:
            for _, other in flat(self.everything):
                if other.plain == f"{self.other_tape}.watch({self.x})":
                    other.marks.add(k)
        if self.setting == SECOND:
            for _, other in flat(self.everything):
                if other.plain == f"{self.inner}.watch({self.x})":
                    other.marks.add(k)

    def _rebind(self, k: int) -> None:
        if self.update is None:
            raise Unsuitable
        self.update.plain = self.rebound
        self.update.marks.add(k)

    def _can_declare(self, touched: set[int]) -> bool:
        """Whether the source may become an integer: `float(x)` makes a float of it in time."""
        first = self.stages[0].lines
        reads = [line for line in self.stages[0].cuts if self.x in line.links]
        return (self.form in ("var", "const", "input") and whole(self.x_value)
                and self.setting in (BARE, TAPE, TWO) and REBIND not in self.kinds
                and not self.stages[0].beside and len(reads) == 1
                and reads[0] in first and id(reads[0]) not in touched
                and not any(": " in line.plain for line in self.source_lines))

    def _declare_integer(self, k: int) -> None:
        (line,) = self.source_lines
        keyword = line.plain.split()[0]
        text = written(self.x_value).replace(".0", "")
        kind = self.draw.choice(("int64", "int64", "int32"))
        if self.shape:
            kind += f"[{', '.join(map(str, self.shape))}]"
        line.plain = f"{keyword} {self.x}: {kind} = {text}"
        line.marks.add(k)
        (read,) = [c for c in self.stages[0].cuts if self.x in c.links]
        for use in list(read.e.leaves()):
            if use.form == self.x:
                use.wrap("float({})")

    def _cast(self, k: int, line: Formula) -> None:
        if line.repeated:
            raise Unsuitable
        nodes = [n for n in line.e.covering(line.links) if not _is_condition(n)]
        exact = [n for n in nodes if whole(n.value)]
        if not exact and (self.wholes or self.draw.random() < 0.5):
            raise Unsuitable
        node = self.draw.choice(exact or nodes)
        if not exact and np.min(np.abs(node.value)) < 1:
            raise Unsuitable                    # a 0 might meet a logarithm or a division
        self.kept = self.kept and bool(exact)
        form = self.draw.choices(("int", "two casts", "own line", "round"), (4, 2, 3, 2))[0]
        if form == "own line":
            if line.plain.endswith(") = "):
                raise Unsuitable                # a line before it would not see its parameter
            holder = _holder(self.everything, line)
            name = self._name(("n0", "count", "rounded", "whole", "index"))
            before = Line(f"{name} = int({node.text()})")
            holder.insert(holder.index(line), before)
            node.form, node.level, node.needs, node.parts = f"float({name})", ATOM, (), []
            before.marks.add(k)
            return
        if form == "int":
            node.wrap("float(int({}))")
        elif form == "two casts":
            node.wrap('cast(cast({}, "int32"), "float64")')
        else:
            node.wrap(self.draw.choice(("round({})", "floor({})")))
        line.marks.add(k)

    def _move(self, k: int, line: Formula) -> None:
        """Out of the tape's block, or to where the tape does not record."""
        body = self.block.body
        if line not in body or not (line.e.parts or line is self.asking):
            raise Unsuitable                    # a second name needs no tape
        place = body.index(line)
        forms = []
        if len(body) - (self.watch_line in body) > 1:
            if place == len(body) - 1:
                forms += ["after"] * 4
            reads = {n.form for n in line.e.leaves()}
            if line is not self.asking and self.start == self.x and not (
                    reads & {n for part in body[:place] for n in _bound(part)}):
                forms += ["before"] * 3
        forms += ["paused"]
        form = self.draw.choice(forms)
        line.marks.add(k)
        if form == "paused":
            head = Line(f"stop_recording {self.tape}:")
            head.marks.add(k)
            body[place] = Block(head, [line])
            return
        holder = _holder(self.everything, self.outermost)
        del body[place]
        at = holder.index(self.outermost)
        holder.insert(at + 1 if form == "after" else at, line)

    def _assign(self, k: int, line: Formula) -> None:
        """The value goes into the state of a variable."""
        if not line.name or line is self.asking:
            raise Unsuitable
        holder = _holder(self.everything, line)
        name = line.name
        if line.repeated:
            self._add_to_state(k, line, holder)
            return
        if any(isinstance(p, Block) and p.body is holder and p.head.plain.startswith(("if", "else"))
               for p in _blocks(self.everything)):
            raise Unsuitable
        if sum(name in _bound(p) for p in _parts(self.everything)) > 1:
            raise Unsuitable                    # a loop goes on from it
        line.marks.add(k)
        if self.setting in (BARE, TAPE, TWO, SECOND) and self.draw.random() < 0.4:
            line.plain = f"var {name} = "
            return
        line.plain, line.shift = f"{name}.assign(", ")"
        zero = Line(f"var {name} = {written(np.zeros(np.shape(line.e.value)))}")
        if self.setting == FUNCTION:
            holder.insert(holder.index(line), zero)
        else:
            at = next(i for i, p in enumerate(self.everything) if p is self.first_line)
            self.everything.insert(at, zero)

    def _add_to_state(self, k: int, line: Formula, holder: list[Part]) -> None:
        """`s = s + e` in a loop becomes `s.assign_add(e)`."""
        e = line.e
        if e.form != "{} + {}" or e.parts[0].form != line.name:
            raise Unsuitable
        begin = next((p for _, p in flat(self.everything)
                      if type(p) is Line and p.plain.startswith(f"{line.name} = ")), None)
        if begin is None:
            raise Unsuitable
        begin.plain = f"var {begin.plain}"
        line.e = e.parts[1]
        line.plain, line.shift = f"{line.name}.assign_add(", ")"
        line.marks.add(k)

    def _leave(self, k: int, line: Formula) -> None:
        nodes = [n for n in line.e.covering(line.links)
                 if n.parts and (n.form.partition("(")[0] in IN_NUMPY or n.form in SPELLED_OUT)]
        calls = [n for n in nodes if n.form not in SPELLED_OUT]
        if not nodes:
            raise Unsuitable
        node = self.draw.choice(calls or nodes)
        form = SPELLED_OUT.get(node.form, node.form)
        node.form, node.level, node.needs = f"np.{form}", ATOM, (CHOICE,) * len(node.parts)
        line.marks.add(k)

    def _stop(self, k: int, line: Formula) -> None:
        nodes = [n for n in line.e.covering(line.links) if not _is_condition(n)]
        self.draw.choice(nodes).wrap(self.draw.choice(
            ("stop_gradient({})", "stop_gradient({})", "detach({})")))
        line.marks.add(k)

    def _choose(self, k: int) -> int:
        """`where(c, a, b)` becomes an if; what it does not choose never runs."""
        line = next(s.choice for s in self.stages if s.choice is not None)
        if line.e.form != "where({}, {}, {})":
            raise Unsuitable                    # something was put around it
        condition, first, second = line.e.parts
        holder = _holder(self.everything, line)
        place = holder.index(line)
        if self.draw.random() < 0.25:
            line.e = E("{} if {} else {}", CHOICE, (SUM, CHOICE, SUM), [first, condition, second],
                       line.e.value)
            line.marks.add(k)
            return id(line)
        arms = [bind(line.name, first, line.links), bind(line.name, second, line.links)]
        heads = [Line(f"if {condition.text()}:"), Line("else:")]
        holder[place:place + 1] = [Block(heads[0], [arms[0]]), Block(heads[1], [arms[1]])]
        # The branch that did not run and the condition that chose: either says it.
        heads[0].marks.add(k)
        idle = arms[1] if bool(condition.value) else arms[0]
        idle.marks.add(k)
        heads[1].marks |= {k} if idle is arms[1] else set()
        return id(line)

    # --- together -----------------------------------------------------------------------------

    def item(self) -> Broken:
        program = self.build()
        self.everything = program
        self.first_line = next(p for p in program if p not in self.above)
        self._decorate(program)
        original, _ = rendered(program)
        length = sum(bool(line.strip()) for line in original.splitlines())
        if not 3 <= length <= 12:
            raise Unsuitable
        arrangement = self.break_in()
        broken, marks = rendered(program)
        wrt: list[str] = []
        of: list[str] = []
        tape = None
        if self.question == "command":
            wrt = [self.x] + ([o.form for o in self.asked_too] if self.together else [])
            of = [self.target]
            if self.setting in (TWO, SECOND) or (
                    self.setting == TAPE and self.draw.random() < 0.3):
                tape = self.tape
        return Broken(self.kinds, arrangement, self.setting, original, broken,
                      [marks[k] for k in range(len(self.kinds))], self.x, self.target, wrt, of,
                      tape, self.kept)

    def _decorate(self, program: list[Part]) -> None:
        """Comments and empty lines, as people have them."""
        if self.draw.random() < 0.15:
            program.insert(0, Line(self.draw.choice((
                "# How does the result change with the input?", "# first try", "# model"))))
            self.first_line = program[0]
        for _, line in flat(program):
            if self.draw.random() < 0.05 and line.text() and not line.plain.startswith("#"):
                line.comment = self.draw.choice(("  # here", "    # see the note", "  # ok"))
        if self.draw.random() < 0.2:
            blocks = [k for k, p in enumerate(program) if isinstance(p, Block) and k
                      and not p.head.plain.startswith("else")]
            if blocks:
                program.insert(blocks[0], Line(""))


def _is_condition(node: E) -> bool:
    return node.form in ("{} > {}", "{} < {}")


def _declares(line: Line, name: str) -> bool:
    words = line.plain.replace(":", " ").split()
    return name in words[:2] and (words[0] == name or words[0] in ("var", "const", "input"))


def _bound(part: Part) -> set[str]:
    """The names that a line or block binds."""
    if isinstance(part, Block):
        return {n for p in part.body for n in _bound(p)}
    if isinstance(part, Formula):
        return {part.name} - {""}
    name, equals, _ = part.plain.partition(" = ")
    return {name} if equals and name.isidentifier() else set()


def _parts(parts: Sequence[Part]) -> Iterator[Line]:
    for _, line in flat(parts):
        yield line


def _blocks(parts: Sequence[Part]) -> Iterator[Block]:
    for part in parts:
        if isinstance(part, Block):
            yield part
            yield from _blocks(part.body)


def _holder(parts: list[Part], wanted: Part) -> list[Part]:
    """The list that holds a line or block."""
    if any(p is wanted for p in parts):
        return parts
    for block in _blocks(parts):
        if any(p is wanted for p in block.body):
            return block.body
    raise Unsuitable


def _remove(parts: list[Part], line: Line) -> None:
    holder = _holder(parts, line)
    holder.remove(line)


def broken_programs(seed: int, count: int) -> Iterator[Broken]:
    """Broken programs: each kind in turn, every fourth broken in two ways."""
    for k in range(count):
        draw = drawn(f"broken programs {seed} {k}")
        kind = KINDS[k % len(KINDS)]
        twice = (k + k // len(KINDS)) % 4 == 3
        for _ in range(2000):
            kinds = [kind]
            if twice:
                kinds.append(draw.choice([other for other in KINDS if other != kind]))
            try:
                item = Builder(draw, kinds).item()
            except Unsuitable:
                continue
            yield item
            break
        else:
            raise AssertionError(f"no program of kind {kind} in 2000 draws")
