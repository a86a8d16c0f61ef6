"""Wengert lists: straight-line code over numbers, run in one loop and recorded as one entry.

Operands are slots, places in one list of values, so a step builds nothing but its number: no
tensor, no tuple, no entry. The sweep over it (`gradcli.engine.sweeps.reverse.on_slots`) carries
adjoints by slot as well. Whoever wants more than the adjoints of numbers has it expanded into the
ordinary entries that it stands for; their ids were set aside for that.

Measured (1,000 operations, values and gradient): 0.24 us an operation in one expression, 0.26 with
four in a line, 0.32 with one in a line, where one entry at a time takes 1.2 to 3.4. Nothing is
generated or compiled, so the first gradient costs what any other does.

Source of the form: Griewank and Walther, Evaluating Derivatives (2008), chapter 2.
"""

from __future__ import annotations

from _operator import add, itemgetter, mul, neg, sub, truediv
from math import hypot

from gradcli.engine.compiled.trace import Standing
from gradcli.engine.record.operators import PLAIN
from gradcli.engine.sweeps.extremes import LARGE, are_extreme
from gradcli.engine.sweeps.reverse import on_slots
from gradcli.ops.kinds import EDGE, Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.engine.record.record import Entry

# What the rows have for floats costs a frame more.
SIGNS = {"add": add, "subtract": sub, "multiply": mul, "divide": truediv, "negative": neg}


class Wengert:
    """The list. Step k is `ops[k]` of one operand, slot `first[k]`; of two, if `second[k]` is a
    slot; of all those in `first[k]`, if that is a tuple. Its answer is slot k.

    Inputs and constants have negative slots; head: their values, -1 the last, with any number where
    an input belongs. fixed: the slots of constants. places: the instructions. growing: gets
    the values that may be very large if no operand is; steep: the slots of what something is
    divided by; extreme: a constant is; found when asked for.
    """

    __slots__ = ("extreme", "first", "fixed", "functions", "growing", "head", "kink", "ops",
                 "partial", "places", "second", "steep")

    def __init__(self, ops: list[Op], first: list[Any], second: list[int | None],
                 places: list[Any], head: list[float], fixed: frozenset[int]) -> None:
        self.ops = ops
        self.first = first
        self.second = second
        self.places = places
        self.head = head
        self.fixed = fixed
        self.extreme = False
        self.steep: list[int] = []
        self.growing: itemgetter[tuple[float, ...]] | None = None
        self.functions: list[Any] = [SIGNS.get(op.name, op.floats) for op in ops]
        self.kink = next((op.kink for op in set(ops) if op.kink is not None), None)
        self.partial = any(op.partial for op in ops)

    def run(self, inputs: Mapping[int, float]) -> list[float]:
        """Return the values of all slots, given those of the inputs."""
        values = [0.0] * len(self.ops) + self.head
        for slot, value in inputs.items():
            values[slot] = value
        steps = zip(self.functions, self.first, self.second, strict=True)
        k = 0
        while True:
            try:
                for f, i, j in steps:
                    if j is not None:
                        values[k] = f(values[i], values[j])
                    elif i.__class__ is int:
                        values[k] = f(values[i])
                    else:
                        values[k] = f(*[values[slot] for slot in i])
                    k += 1
                return values
            except EDGE:
                values[k] = self.ops[k].at_edge([values[slot] for slot in self.operands(k)])
                k += 1

    def operands(self, k: int) -> tuple[int, ...]:
        """Return the slots that step k reads."""
        i, j = self.first[k], self.second[k]
        several: tuple[int, ...] = (i, j) if j is not None else i if type(i) is tuple else (i,)
        return several


class Passage(Standing):
    """The operation of an entry that is one run of a Wengert list. ids: slot to id of the inputs.
    """

    __slots__ = ("ids", "values", "wengert")

    def __init__(self, wengert: Wengert, values: list[float], ids: Mapping[int, int]) -> None:
        super().__init__(len(wengert.ops), wengert.kink, wengert.partial)
        self.wengert = wengert
        self.values = values
        self.ids = ids

    def pull_back(self, adjoints: dict[int, float], asked: set[int], wanted: dict[int, float]
                  ) -> bool:
        """See `Standing`; edges are met on the way."""
        made, first = self.made(), self.first
        inside = [i for i in adjoints if i in made]
        if not inside:
            return True
        found: list[float | None] = [None] * len(self.values)
        for i in inside:
            found[i - first] = adjoints.pop(i)
        # Adjoints are added up in the order in which single entries would do it: on top of what
        # came from behind, and those of two names of one value together.
        cell = {i: slot for slot, i in self.ids.items()}
        for i, slot in cell.items():
            found[slot] = adjoints.get(i)
        wengert = self.wengert
        firsts, seconds = wengert.first, wengert.second
        if len(cell) < len(self.ids):
            same = {slot: cell[i] for slot, i in self.ids.items()}
            firsts = [same.get(i, i) if type(i) is int else tuple([same.get(n, n) for n in i])
                      for i in firsts]
            seconds = [j if j is None else same.get(j, j) for j in seconds]
        on_slots(wengert.ops, firsts, seconds, self.values, wengert.fixed, found)
        for i in asked:
            if i in made and (g := found[i - first]) is not None:
                wanted[i] = g
        for i, slot in cell.items():
            if (g := found[slot]) is not None:
                adjoints[i] = g
        return True

    def is_extreme(self) -> bool:
        """See `Standing`."""
        wengert = self.wengert
        if wengert.growing is None:
            wengert.extreme = are_extreme([wengert.head[k] for k in wengert.fixed])
            wengert.steep = sorted({
                wengert.operands(k)[op.steep] for k, op in enumerate(wengert.ops)
                if op.steep is not None} - wengert.fixed)
            growing = [k for k, op in enumerate(wengert.ops) if "bounded" not in op.traits]
            # A getter of a single item gives no tuple.
            wengert.growing = itemgetter(0, 0, *growing)
        values = self.values
        return wengert.extreme or not hypot(*wengert.growing(values)) < LARGE or (
            bool(wengert.steep) and are_extreme([values[k] for k in wengert.steep]))

    def expand(self) -> list[Entry]:
        """Return the entries that this passage stands for."""
        wengert, values = self.wengert, self.values
        ids: list[int | None] = [*self.made(), *[None] * len(wengert.head)]
        for slot, i in self.ids.items():
            ids[slot] = i
        out: list[Entry] = []
        for k, (op, place) in enumerate(zip(wengert.ops, wengert.places, strict=True)):
            slots = wengert.operands(k)
            out.append((op, self.first + k, tuple([ids[n] for n in slots]),
                        tuple([values[n] for n in slots]), values[k], PLAIN, place, ()))
        return out
