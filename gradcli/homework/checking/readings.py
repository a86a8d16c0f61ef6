"""The readings of an answer to a problem: the one that counts, and those that a person may mean."""

from __future__ import annotations

import re
from time import thread_time

from gradcli.base.errors import GradcliError, error
from gradcli.homework.checking.answered import Answered, Trial
from gradcli.homework.checking.built import CONSTANTS
from gradcli.homework.checking.grids import has_two_numbers, layouts
from gradcli.homework.checking.judge import is_right
from gradcli.homework.checking.prepared import PreparedProblem, names
from gradcli.lang.paper.answer import read, understood
from gradcli.lang.paper.left import closed
from gradcli.lang.paper.names import INTEGRATION_CONSTANT, ProblemNames
from gradcli.lang.syntax.code import LIST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from gradcli.lang.paper.answer import Reading

SLOW = 0.25
MAX_COMMAS = 4
"""Of so many commas between digits, each may be a decimal one or not; of so many blanks, each may
separate components or not.
"""
BLANKS = re.compile(r"(?<=[^\s;=\[(<+*/^-])[ \t]+(?=[^\s;=\])>+*/^])")


def read_answer(prepared: PreparedProblem, text: str, deadline: float | None = None) -> Reading:
    """Read an answer in the shape that is asked for, or else as a vector, which is no misprint, or
    with other signs in its numbers. Raises what `read` does.

    deadline: of `time.thread_time`; raises TimeoutError after it.
    """
    reference = prepared.reference
    text = reference.kind.typed(text, reference)
    if prepared.single and ("x" in text or "X" in text):
        text = _times_ten(text)
    text, conditions = understood(text, reference.names, prepared.single)
    unit = None
    if prepared.problem.unit:
        from gradcli.homework.checking import measured

        text, unit = measured.split(prepared, text)
    try:
        reading = read(text, reference.names)
    except GradcliError as unreadable:
        other = _other(prepared, text, unreadable, deadline or thread_time() + SLOW)
        if other is None:
            raise
        reading = other
    if unit is not None:
        reading.unit, reading.scale = unit.text, measured.factor(prepared, unit)
        if reading.scale not in (0.0, 1.0):
            reading.notes.append(f"1 {unit.text} is {reading.scale:.6g} {prepared.problem.unit}")
    elif prepared.single and not reference.shape:
        _refuse_unit(reading, prepared)
    reading.conditions = conditions
    reading.notes += [f"`{one}` was not looked at" for one in conditions]
    return reading


def _other(prepared: PreparedProblem, text: str, unreadable: GradcliError, deadline: float
           ) -> Reading | None:
    """Return the reading as a vector, or with other signs in its numbers; None without one."""
    if prepared.reference.shape:
        return None
    if text.strip()[:1] in "([{<":
        try:
            reading = read(text, names(prepared.problem, True, prepared.reference.variables))
            if reading.code[-1][0] == LIST:
                return reading
        except GradcliError:
            pass
    if prepared.single and not prepared.problem.decimal_comma and unreadable.code in (
            "E0713", "E0718", "E0719"):
        return _with_other_numbers(prepared, text, deadline)
    return None


# ---- signs in numbers ----------------------------------------------------------------------------
#
# Where a number is asked for, 6,804 is six thousand, 2,5 is 2.5. Where the sheet does not say what
# a comma is, such a reading counts if it is right; it is wrong only where digits stand in threes
# and no reading is right.

GROUPED = r"(?<![\d.,])[1-9]\d{0,2}(?:([,' \u2009\u202f’])\d{3})(?:\1\d{3})*(?![\d])(?!\1\d)"


def _with_other_numbers(prepared: PreparedProblem, text: str, deadline: float) -> Reading | None:
    found: list[tuple[Reading, bool]] = []
    for other, known, in_threes in _numbers(prepared, text):
        try:
            reading = read(other, known)
        except GradcliError:
            continue
        if is_right(prepared, reading, deadline):
            # Of 6,804, right as 6.804 only, a person decides.
            if found and in_threes:
                return None
            reading.notes.append(f"`{text.strip()}` is read as {reading.read_as}")
            return reading
        found.append((reading, in_threes))
    return found[0][0] if found and found[0][1] else None


def _numbers(prepared: PreparedProblem, text: str) -> Iterator[tuple[str, ProblemNames, bool]]:
    """Yield the text without the signs between thousands, and the names for one with decimal
    commas; and whether all such signs stand between digits in threes.
    """
    from gradcli.lang.paper.notations import NOTHING

    known = prepared.reference.names

    def joined(found: re.Match[str]) -> str:
        return found.group().replace(found[1], NOTHING)

    without = re.sub(GROUPED, joined, text)
    if without != text:
        yield without, known, True
    in_threes = "," not in without
    if in_threes:
        without = text
    last = without.rpartition("=")[2]
    # Of numbers alone, several commas may separate: (1,8)*(4,1).
    if "," in without and (last.count(",") < 2 or any(map(str.isalpha, last))):
        comma = ProblemNames(known.variables, known.log, True, known.vector, fixed=known.fixed)
        yield without, comma, in_threes


def listed(prepared: PreparedProblem, text: str) -> list[tuple[Answered, bool]]:
    """Return the readings of the right shape that a text has where some commas between digits
    separate components: (1,2) is a vector or 1.2; where blanks do: [a b; c d]; and where lines and
    other signs do (`grids`). With each, whether the text says this shape.
    """
    reference = prepared.reference

    def fitting(texts: Iterable[tuple[str, bool]]) -> Iterator[tuple[Answered, bool]]:
        for other, sure in texts:
            try:
                answered = Answered(read_answer(prepared, other), reference, prepared.problem)
            except GradcliError:
                continue
            if answered.fits:
                yield answered, sure

    separated = list(fitting((other, not has_two_numbers(text))
                             for other in _with_other_separators(prepared, text)))
    decimal = prepared.problem.decimal_comma and re.search(r"\d,\d", text) is not None
    found: dict[str, tuple[Answered, bool]] = {}
    for answered, sure in [
            *[(one, sure and len(separated) == 1) for one, sure in separated],
            *[(one, sure and not decimal) for one, sure in fitting(
                layouts(text, reference.shape, reference.names))]]:
        shown = answered.reading.read_as
        found[shown] = answered, sure or (shown in found and found[shown][1])
    return list(found.values())


def _with_other_separators(prepared: PreparedProblem, text: str) -> Iterator[str]:
    from itertools import combinations, product

    if prepared.problem.decimal_comma and "," in text:
        first, *rest = re.split(r"(?<=\d),(?=\d)", text)
        choices = " ", *[""] * (len(rest) <= MAX_COMMAS)
        for blanks in product(choices, repeat=len(rest)):
            other = first + "".join([f",{blank}{part}" for blank, part in zip(
                blanks, rest, strict=True)])
            if other != text:
                yield other
    elif "," not in text and " " in text:
        if len(prepared.reference.shape) == 2:
            yield BLANKS.sub(",", text)
        elif prepared.reference.shape and ";" not in text and _is_in_brackets(text):
            gaps = [found.span() for found in BLANKS.finditer(text)][:MAX_COMMAS]
            for some in combinations(gaps, prepared.reference.shape[0] - 1):
                letters = list(text)
                for begin, end in some:
                    letters[begin:end] = ",".ljust(end - begin)
                yield "".join(letters)


def _is_in_brackets(text: str) -> bool:
    """Return whether brackets are around all that stands behind the last =."""
    bare = text.rpartition("=")[2].strip()
    return (bare[:1] + bare[-1:]) == "<>" or closed(bare, 0) == len(bare) > 0


DOTTED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:\.\d{3})+(?![\d.])")
"""A number with dots between thousands, where a comma is the decimal sign."""


def written_otherwise(prepared: PreparedProblem, text: str) -> Iterator[tuple[Reading, str]]:
    """Yield the readings with dots between thousands and with products in place of functions, y(x),
    and what each takes for granted.
    """
    reference = prepared.reference
    try:
        if prepared.problem.decimal_comma and DOTTED.search(text):
            yield read_answer(prepared, DOTTED.sub(
                lambda found: found.group().replace(".", ""), text)), (
                    "a dot may stand between thousands")
        if reference.constraint is not None and reference.kind.typed(text, reference) != text:
            yield read(text, reference.names), "a bracket may be a factor"
    except GradcliError:
        return


def _times_ten(text: str) -> str:
    """Replace the x of 4.5 x 10^3 by `*`: where a number is asked for, it is no variable."""
    return re.sub(r"(?<=\d)( *)[xX](?= *10 *(?:\^|\*\*|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]))", r"\1*", text)


POWER_OF_TEN = re.compile(r"(?<=[\d.])[ \t]*[eE][ \t]*([-−+]?)[ \t]*(?=\d)")
"""What stands between the numbers of 4 E-1."""
SEVERAL = 4
"""So many answers are taken for alternatives at most."""


def several(text: str) -> list[str]:
    """Return the answers that a text gives as alternatives: 2x or -2x, ±2x, 2x; -2x. Empty where it
    gives one.
    """
    found = re.split(r"\s(?:or|oder|ou|eller|bzw\.?|resp\.?)\s", text)
    if len(found) == 1 and text.count("±") == 1:
        found = [text.replace("±", sign).lstrip(" +") for sign in "+-"]
    elif len(found) == 1:
        found = re.split(r"[;,]\s+", text)
    return found if 1 < len(found) <= SEVERAL else []


# ---- doubts about an answer that is not right ----------------------------------------------------

def doubt(trial: Trial, result: dict[str, Any]) -> str:
    """Return why a person decides about a wrong answer, or "": it is right where the condition
    beside it may hold, or but for letters behind it, which may be a unit.
    """
    prepared, reading = trial.prepared, trial.answered.reading
    if reading.conditions and result["points"]["agree"]:
        return (f"right at some points, and `{reading.conditions[0]}` stands beside it, which was"
                " not looked at")
    meant = [("its x is a sign of a product, as in 3 x 10^2", _times_ten(reading.text)),
             ("its E stands for a power of ten", POWER_OF_TEN.sub(r"e\1", reading.text))]
    if reading.text.rstrip(" .").endswith("!"):
        meant.append(("its ! is no factorial", reading.text.rstrip(" .!")))
    if INTEGRATION_CONSTANT in trial.answered.unknown:
        meant.append(("C is c", reading.text.replace("C", "c")))
    for what, text in meant:
        if text != reading.text and _is_right(trial, text):
            return f"right if {what}"
    if not trial.answered.unknown:
        return ""
    if prepared.single or prepared.problem.unit:
        return f"the problem has no letter {', '.join(trial.answered.unknown)}: it may be a unit"
    from gradcli.lang.paper.notations import unit_begin

    at = unit_begin(reading.text, prepared.reference.names)
    return f"right but for `{reading.text[at:].strip()}`, which may be a unit" if _is_right(
        trial, reading.text[:at]) else ""


def _is_right(trial: Trial, text: str) -> bool:
    try:
        return is_right(trial.prepared, read(text, trial.prepared.reference.names), trial.deadline)
    except GradcliError:
        return False


def _refuse_unit(reading: Reading, prepared: PreparedProblem) -> None:
    """Raise E0711 for letters behind a number that the problem does not have; y and f are the
    function.
    """
    known = prepared.reference.variables
    if all(name in known or name in CONSTANTS for name in reading.names):
        return
    from gradcli.lang.paper.notations import unit_begin

    at = unit_begin(reading.text, prepared.reference.names)
    shown = reading.text[at:].strip()
    if at and shown not in ("y", "f"):
        raise error("E0711", f"`{shown}` may be a unit, and the problem has none",
                    (at, at + len(shown)), help="give the number alone")
