"""What is known of a problem besides its answer: whether something that a student states on the
way, f(x) = x^2, f'(3) = 6, x = 3, 2x + 2y y' = 0, is true.

The sides of a statement are compared as numbers, at samples and at the point of the problem.
"""

from __future__ import annotations

import re
from math import hypot

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.formulas.nodes import Formula
from gradcli.formulas.rounding import Values
from gradcli.homework.checking import compare
from gradcli.homework.checking.built import build, constant, flat
from gradcli.homework.checking.prepared import PreparedProblem, prepared_problem
from gradcli.homework.checking.problem import Problem, slope
from gradcli.lang.paper.answer import read
from gradcli.lang.paper.left import claim, closed
from gradcli.lang.paper.names import ProblemNames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    # The values of letters at the samples.
    Samples = dict[str, Any]
    # A formula and its components.
    Function = tuple[Formula, list[int]]

SIZE = 48
"""So many samples are compared."""
ENOUGH = 6
NEAR = 1e-8
MOST_PARTS = 200
"""So many parts of a function are looked through for the one that a letter is set to."""
STANDING_IN = "ηκξχψϑςϕ"
"""Letters that stand for derivatives in the middle of a formula: those that nobody types."""
DERIVATIVE = re.compile(
    r"(?<!\\)(?:(?<![A-Za-z])d(?P<of>[A-Za-z])/d(?P<by>[A-Za-z])(?![A-Za-z])"
    r"|(?P<letter>[A-Za-z])(?P<primes>'+|(?:_\{?|(?<=f))(?P<index>[a-z]{1,4})\}?(?![\w}(]))?)")
PRIMED = re.compile(r"\)'+|(?<![A-Za-z])d/d(?P<by>[A-Za-z])\s*\(")
LAST, FIRST = re.compile(r"[A-Za-z]+$"), re.compile("[A-Za-z]+")
FRACTION = re.compile(r"\\[dt]?frac\s*\{\s*d\s*(\w?)\s*\}\s*\{\s*d\s*(\w)\s*\}")
GRADIENT = re.compile(r"((?:∇|\\nabla|grad)\s*f)(?:\([^()]*\))?")
RELATION = re.compile(r"[<>≤≥≠!]|\\(?:leq?|geq?|neq?|lt|gt)(?![a-z])")
VECTOR = re.compile(r"<[^<>=]*,[^<>=]*>")
POINT = re.compile(r"[A-Z]?\s*\(([^()=]*[,;][^()=]*)\)")
TIMES = re.compile(r"·|⋅|∙|•|\\cdot(?![a-z])|\*(?!\*)")


class Facts:
    """The functions and points of a problem, at samples.

    functions: letter to the function that it stands for. places: the samples of each meaning that
    the variables may have: any, those of the point, those of the line that is asked for.
    """

    def __init__(self, prepared: PreparedProblem) -> None:
        reference = prepared.reference
        self.prepared = prepared
        self.functions = _functions(prepared)
        samples = _samples(prepared)
        self.places: dict[str, Samples] = {}
        if samples is not None:
            self.places["any"] = samples
        point = {n: np.full(SIZE, v) for n, v in prepared.problem.at.items()}
        if point:
            self.places["point"] = {**(samples or {}), **point}
        if reference.kind.line:
            self.places |= _on_line(prepared)

    @property
    def letters(self) -> tuple[str, ...]:
        """Return the variables of the function, in the order of its arguments."""
        reference = self.prepared.reference
        used = {*reference.formula.leaves(reference.functions), *reference.wrt}
        return tuple(sorted(used.difference(self.prepared.problem.parameters))) if (
            reference.form == "one") else reference.wrt

    def about(self) -> Facts:
        """Return the facts with functions of their own, for what one student calls u and v."""
        found = Facts.__new__(Facts)
        found.prepared, found.places = self.prepared, self.places
        found.functions = dict(self.functions)
        return found

    def states(self, text: str) -> bool | None:
        """Return whether a statement is true; None where that is unknown. What a letter that the
        problem has not is set to is true if it is a part of the function, u = x^2 of sin(x^2).
        """
        if self.is_place(text):
            return self._is_here(text)
        sides = sides_of(text)
        if len(sides) < 2 or not all(sides):
            return None
        known = self.prepared.reference.names.written
        found = []
        for name, samples in self.places.items():
            # f'(x) = 6x is not true because it is so at the point, f'(x) = 12 may mean that.
            if name == "point" and any(_letters(side) & known.keys() for side in sides[1:]):
                continue
            found.append(self._equal(sides, samples, name))
        if True in found:
            return True
        if self._defines(sides):
            return True
        return False if False in found else None

    def are_equal(self, sides: list[str], everywhere: bool = False) -> bool | None:
        """Return whether sides are equal, for any values or, unless `everywhere`, at the point;
        None if not known.
        """
        if len(sides) < 2:
            return None
        found = [self._equal(sides, samples, name) for name, samples in self.places.items()
                 if name == "any" or not everywhere]
        return True if True in found else False if False in found else None

    def knows(self, text: str) -> bool:
        """Return whether the letter that a left side names, or whose derivative, is a function
        here.
        """
        left, *others = sides_of(text)
        said = claim(left, self.prepared.reference.names)
        if said is not None and said.operator == "D" and self.prepared.problem.direction:
            return True         # D_u f
        found = DERIVATIVE.match(left)
        letter = found and (found["of"] or found["letter"])
        named = found and (found["by"] or found["primes"] or (others and found.end() == len(left)))
        return not named or letter == "m" or letter in self.functions

    def is_place(self, text: str) -> bool:
        """Return whether a statement gives the variables their values: x = 2, (3, 4)."""
        return sides_of(text)[0] in self.prepared.problem.at or bool(
            POINT.fullmatch(text) and self.prepared.problem.at)

    def _is_here(self, text: str) -> bool:
        """Return whether a place is that of the problem."""
        at, whole = self.prepared.problem.at, POINT.fullmatch(text)
        if whole is None:
            return bool(self._equal(sides_of(text), self.places["point"], "point"))
        typed = [_number(part) for part in re.split("[,;]", whole[1])]
        heights = [*at.values()]
        if self.prepared.reference.form == "one":
            height = self._value_at(_height(self.prepared))
            heights.append(height)
        return len(typed) in (len(at), len(heights)) and all(
            one is not None and abs(one - right) <= NEAR * (1 + abs(right))
            for one, right in zip(typed, heights, strict=False))

    def _value_at(self, letter: str) -> float:
        """Return the value of the function at the point, NaN without one."""
        formula, nodes = self.functions.get(letter) or self.functions["f"]
        if not set(formula.leaves(nodes)) <= self.places["point"].keys():
            return float("nan")
        return float(_wide(Values(formula, self.places["point"]).plain(nodes)[0])[0])

    def _equal(self, sides: list[str], samples: Samples, place: str = "any") -> bool | None:
        first = self.values(sides[0], samples, place)
        others = [self.values(side, samples, place) for side in sides[1:]]
        if first is None or None in others:
            return None
        found = [_same(first, other, side) for other, side in zip(
            others, sides[1:], strict=True) if other is not None]
        return False if False in found else None if None in found else True

    def _defines(self, sides: list[str]) -> bool:
        """Set a letter to a part of the function, if that is what sides say."""
        letter, reference = re.sub(r"\(\w\)$", "", sides[0]), self.prepared.reference
        if len(letter) != 1 or not letter.isalpha() or letter in self.functions or \
                letter in reference.names.written or letter in ("e", "i") or "any" not in \
                self.places:
            return False
        samples = self.places["any"]
        read_last = self._read(sides[-1], samples, "any")
        if read_last is None or (len(sides) > 2 and not self._equal(sides[1:], samples)):
            return False
        formula, nodes, inputs = read_last
        if len(nodes) != 1 or not set(formula.leaves(nodes)) <= samples.keys():
            return False
        own = Values(formula, inputs).plain(nodes)[0]
        whole = reference.formula
        for node in list(whole.needed(reference.functions))[:MOST_PARTS]:
            value = Values(whole, samples).plain([node])[0]
            if whole.ops[node] is not None and _same([_wide(own)], [_wide(value)], ""):
                self.functions[letter] = formula, nodes
                return True
        return False

    # ---- values ----------------------------------------------------------------------------------

    def values(self, side: str, samples: Samples, place: str = "any") -> list[Any] | None:
        """Return the values of the components of a side; None where it is not understood."""
        direction = self.prepared.problem.direction
        named = GRADIENT.fullmatch(side)
        if named:
            end, numbers = self._arguments(side, named.end(1))
            return None if end < len(side) else self._gradient({**samples, **{
                name: np.full(SIZE, number) for name, number in numbers.items()}})
        if side == "u" and direction:
            return [np.full(SIZE, v / hypot(*direction)) for v in direction]
        if side[:1] == side[-1:] == "|":
            vector = self.values(side.strip("|"), samples, place)
            if vector is not None and len(vector) > 1:
                return [sum([one**2 for one in vector])**0.5]
        product = self._product(side, samples, place)
        if product is not None:
            return [product]
        try:
            whole = self._read(side, samples, place)
            if whole is None:
                return None
            formula, nodes, inputs = whole
            if not set(formula.leaves(nodes)) <= inputs.keys():
                return None
            with np.errstate(all="ignore"):
                return [_wide(v) for v in Values(formula, inputs).plain(nodes)]
        except GradcliError:
            return None

    def _product(self, side: str, samples: Samples, place: str) -> Any:
        """Return the values of a product of two vectors; None for anything else."""
        vectors = any(sign in side for sign in (",", "∇", "nabla", "grad"))
        for found in TIMES.finditer(side) if vectors else ():
            if _is_outside(side, found.start()):
                one, other = [self.values(part.strip(), samples, place) for part in (
                    side[:found.start()], side[found.end():])]
                if one and other and len(one) == len(other) > 1:
                    return sum([a * b for a, b in zip(one, other, strict=True)])
        return None

    def _gradient(self, samples: Samples) -> list[Any] | None:
        reference = self.prepared.reference
        if reference.form != "one":
            return None
        nodes = [slope(reference.formula, reference.functions[0], n) for n in reference.wrt]
        return [_wide(v) for v in Values(reference.formula, samples).plain(nodes)]

    def _read(self, side: str, samples: Samples, place: str
              ) -> tuple[Formula, list[int], Samples] | None:
        """Return a side as nodes of a formula, with values of its letters."""
        problem, known = self.prepared.problem, self.prepared.reference.names.written
        standing = iter([c for c in STANDING_IN if c not in known])
        inputs, text, at = dict(samples), "", 0
        while primed := PRIMED.search(side):
            value, begin, end = self._primed(side, primed, samples, place)
            name = next(standing, None)
            if value is None or name is None:
                return None
            inputs[name], side = value, f"{side[:begin]} {name} {side[end:]}"
        for found in DERIVATIVE.finditer(side):
            if found.start() < at:
                continue
            end, numbers = self._arguments(side, found.end())
            letter = found["of"] or found["letter"]
            bare = not (found["by"] or found["primes"])
            before, behind = LAST.search(side[:found.start()]), FIRST.match(side, found.end())
            word = (before[0] if before else "") + (behind[0] if bare and behind else "")
            if not {*known, *self.functions} >= {*word}:
                continue        # of a word
            if (bare and letter in samples) or letter not in self.functions or (
                    bare and found["letter"] in known):
                if not bare:
                    return None
                continue
            value = self._value(letter, found, numbers, samples, place)
            name = next(standing, None)
            if value is None or name is None:
                return None
            inputs[name] = value
            text, at = f"{text}{side[at:found.start()]} {name} ", end
        text += side[at:]
        names = ProblemNames(tuple(sorted({*known.values(), *inputs})), problem.log,
                             problem.decimal_comma, text[:1] in ("(", "[", "<") and "," in text)
        try:
            reading = read(text.strip(), names)
            if reading.equation is not None or reading.sides:
                return None
            formula = Formula()
            nodes = flat(build(reading.code, formula, tuple(inputs), real_roots=problem.real_roots,
                               degrees=problem.angle == "degree"))
        except GradcliError:
            return None
        return formula, nodes, inputs

    def _primed(self, side: str, primed: re.Match[str], samples: Samples, place: str
                ) -> tuple[Any, int, int]:
        """Return the values of the derivative of a formula in brackets, (x^2)' or d/dx(x^2), None
        for one that is not understood, and where it stands.
        """
        begin, end = primed.start(), primed.end()
        opened = primed.end() - 1
        if primed[0][0] == ")":
            opened = max([k for k in range(begin) if closed(side, k) == begin + 1], default=0)
            begin = opened
        else:
            end = closed(side, opened) or len(side)
        wrt, stop = self.prepared.reference.wrt, closed(side, opened)
        whole = self._read(side[opened + 1:stop - 1], samples, place) if stop else None
        if whole is None or len(wrt) > 1 or primed["by"] not in (None, *wrt):
            return None, begin, end
        formula, (node, *_), inputs = whole
        if not set(formula.leaves([node])) <= samples.keys():
            return None, begin, end
        node = slope(formula, node, wrt[0], primed[0].count("'") or 1)
        with np.errstate(all="ignore"):
            return _wide(Values(formula, inputs).plain([node])[0]), begin, end

    def _arguments(self, side: str, at: int) -> tuple[int, dict[str, float]]:
        """Return the end of what is put in behind a function, (x) or (2), and the numbers by
        name.
        """
        end = closed(side, at) if side[at:at + 1] == "(" else 0
        parts = [part.strip() for part in side[at + 1:end - 1].split(",")] if end else []
        for letters in (self.prepared.reference.wrt, self.letters):
            numbers = [None if part in letters else _number(part) for part in parts]
            if end and len(parts) == len(letters) and all(
                    part == name or number is not None
                    for part, name, number in zip(parts, letters, numbers, strict=True)):
                return end, {name: number for name, number in zip(letters, numbers, strict=True)
                             if number is not None}
        return at, {}

    def _value(self, letter: str, found: re.Match[str], numbers: dict[str, float], samples: Samples,
               place: str) -> Any:
        """Return the values of a function or of its derivative; None for another derivative."""
        reference, wrt = self.prepared.reference, self.prepared.reference.wrt
        formula, (node, *_) = self.functions[letter]
        by = tuple(found["by"] or found["index"] or "")
        if not by and found["primes"]:
            by = wrt[:1] * len(found["primes"])
            if len(wrt) > 1:
                return None
        if place == "line" and letter == self._height():
            return samples.get(letter) if not by else None
        if by and reference.form in ("curve", "equation") and by != (
                wrt if reference.form == "curve" else ()):
            if letter != self._height() or by not in (("x",), wrt[:1]):
                return None
            formula, node = reference.formula, reference.slopes()[0]
        elif not set(by) <= {*self.letters}:
            return None
        else:
            for name in by:
                node = slope(formula, node, name)
        inputs = {**samples, **{name: np.full(SIZE, number) for name, number in numbers.items()}}
        if not set(formula.leaves([node])) <= inputs.keys():
            return None
        with np.errstate(all="ignore"):
            return _wide(Values(formula, inputs).plain([node])[0])

    def _height(self) -> str:
        return _height(self.prepared)


def sides_of(text: str) -> list[str]:
    """Return what stands between equals signs; a comparison is one side."""
    if RELATION.search(VECTOR.sub("", text)):
        return [text]
    text = FRACTION.sub(r"(d\1/d\2)", text.replace("≈", "="))
    found, at = [""], 0
    while at < len(text):
        end = closed(text, at) or at + 1
        if text[at] == "=":
            found.append("")
        else:
            found[-1] += text[at:end]
        at = end
    return [side.strip(" :") for side in found]


def _height(prepared: PreparedProblem) -> str:
    """Return the letter of the value of the function, or of the line."""
    reference = prepared.reference
    return prepared.problem.dependent if reference.form == "equation" else (
        "y" if len(reference.wrt) == 1 else "z")


def _functions(prepared: PreparedProblem) -> dict[str, Function]:
    """Return the functions that letters stand for."""
    reference, formula = prepared.reference, prepared.reference.formula
    known = reference.names.written
    found: dict[str, Function] = {}
    if reference.form == "curve":
        found = {name: (formula, [f]) for name, f in zip("xy", reference.functions, strict=False)}
    elif reference.form == "equation":
        found = {prepared.problem.dependent: (formula, [
            formula.leaf(prepared.problem.dependent)])}
    elif reference.form == "one":
        head = re.match(r"\s*([A-Za-z])\s*(?:\(|=)", prepared.problem.function)
        own = head[1] if head and "=" in prepared.problem.function else "y"
        letters = {"f", _height(prepared)} if own in "fyz" else {own}
        found = {name: (formula, [*reference.functions]) for name in letters}
    if reference.kind.line and len(reference.wrt) == 1:
        from gradcli.homework.checking.tangents import steepness

        for name in ("m", "k"):
            found[name] = formula, steepness(reference, reference.differentiator())
        if reference.contact is not None:
            found["b"] = formula, [formula.substituted(node, {formula.leaf(
                reference.contact.names[0]): formula.number(0.0)}) for node in reference.nodes]
    return {name: one for name, one in found.items() if name not in known or reference.form in (
        "curve", "equation")}


def _samples(prepared: PreparedProblem) -> Samples | None:
    """Return values of the variables; of an equation points of its curve, None without any."""
    reference, problem = prepared.reference, prepared.problem
    if reference.form == "equation":
        if not prepared.single and not reference.kind.line:
            inputs = prepared.inputs
        else:
            fields = {**problem.fields(), "kind": "implicit", "at": {}, "expected": None,
                      "accept": (), "wrt": reference.wrt, "forms": (), "order": 1}
            try:
                inputs = prepared_problem(Problem(**fields), prepared.seed).inputs
            except (GradcliError, TimeoutError):
                return None
        return {n: _wide(v[:SIZE] if type(v) is not float and len(v) >= SIZE else np.resize(
            v, SIZE)) for n, v in inputs.items()}
    names = {*reference.formula.leaves(reference.functions), *reference.wrt}
    good = np.flatnonzero(prepared.side.finite.all(axis=0))
    if not problem.at and len(good) >= SIZE and names <= prepared.inputs.keys():
        return {n: _wide(v) if type(v) is float else v[good[:SIZE]]
                for n, v in prepared.inputs.items()}
    return {n: _spread(prepared, n) for n in sorted(names)}


def _spread(prepared: PreparedProblem, name: str) -> Any:
    low, high = prepared.problem.domain.get(name, (-3.0, 3.0))
    found = low + (high - low) * prepared.random("facts", name).random(SIZE)
    return found if name in prepared.problem.domain else np.where(
        np.arange(SIZE) % 2, found, abs(found))


def _on_line(prepared: PreparedProblem) -> dict[str, Samples]:
    """Return points of the line or plane that is asked for, unless it is upright."""
    reference, contact = prepared.reference, prepared.reference.contact
    if contact is None or _height(prepared) in contact.names:
        return {}
    samples = {n: _spread(prepared, n) for n in contact.names}
    (value,) = Values(reference.formula, samples).plain(reference.nodes)
    return {"line": {**samples, _height(prepared): _wide(value)}}


def _letters(side: str) -> set[str]:
    """Return the letters that stand for values in a side, those of words and commands left out."""
    return set(re.findall(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])", side))


def _number(text: str) -> float | None:
    try:
        return constant("at", text)
    except GradcliError:
        return None


def _is_outside(text: str, at: int) -> bool:
    """Return whether a place is outside of all brackets."""
    before = text[:at]
    return all(before.count(a) == before.count(b) for a, b in ("()", "[]", "{}", "<>"))


def _wide(value: Any) -> Any:
    return np.broadcast_to(np.asarray(value, float), (SIZE,))


def _same(first: list[Any], other: list[Any], text: str) -> bool | None:
    """Return whether two sides have the same values, or one is the other, rounded; None where they
    are not defined.
    """
    found = [_agree(a, b, text) for a, b in zip(first, other, strict=False)]
    return False if len(first) != len(other) or False in found else (
        None if None in found else True)


def _agree(one: Any, other: Any, text: str) -> bool | None:
    with np.errstate(all="ignore"):
        good = np.isfinite(one) & np.isfinite(other)
        if good.sum() < ENOUGH:
            return None
        rounding = compare.allowed(None, float(one[good][0]), float(other[good][0]),
                                   text.strip("+- "))
        return bool((abs(one - other) <= NEAR * (1 + abs(one)) + rounding)[good].all())
