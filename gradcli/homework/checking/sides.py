"""What stands left of the answer, and behind ≈: an answer counts where all that is said there can
be true.
"""

from __future__ import annotations

import re

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.formulas.rounding import Values
from gradcli.homework.checking.answered import NEAR, another, components, is_only_a_name
from gradcli.homework.checking.built import CONSTANTS
from gradcli.homework.checking.compare import SAFETY, Side, rounds
from gradcli.homework.checking.judge import is_right
from gradcli.homework.checking.readings import read_answer
from gradcli.lang.paper.answer import Reading
from gradcli.lang.paper.left import claim, is_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.homework.checking.answered import Trial
    from gradcli.homework.checking.built import Solved

NOTHING_BETWEEN = re.compile(r"=[ \t]+=")
"""No == of programs, and no = that is said again where a line begins."""


def unsure_left(trial: Trial, right: bool) -> str:
    """Return why the meaning of a left side is unknown, or "": an equation with other letters,
    `wrong = 2x`, that may be no equation or not linear, and more than a derivative, `(dy/dx)(2y) =
    -2x`. right: whether the answer is right, as far as it was read.
    """
    prepared, reading = trial.prepared, trial.answered.reading
    reference = prepared.reference
    known = {*reference.variables, *CONSTANTS}
    if NOTHING_BETWEEN.search(reading.text):
        return "nothing stands between two equals signs"
    if reference.kind.line:
        return _unsure_line(trial, right)
    named = {reading.code[0][1]} if len(reading.code) == 1 else set()     # 6x - 5 = y
    if reading.equation is not None and not (known | named).issuperset(reading.names):
        return "the left side of this equation has letters that the problem does not have"
    if reading.sides and not reading.labels and "=" not in reading.sides and not is_only_a_name(
            reading.sides, reference):
        return f"the left side, `{reading.sides.strip()}`, is more than a name of the answer"
    return ""


def _unsure_line(trial: Trial, right: bool) -> str:
    """Return why an equation may not be that of the line, or "": it holds on the right one, and may
    hold elsewhere, (y - 2x)(x - 1) = 0, or be the line without a point, y/x = 2.
    """
    prepared, reading, solved = trial.prepared, trial.answered.reading, trial.answered.solved
    if solved is None:
        upright = prepared.reference.contact is not None and (
            prepared.reference.variables[:1] == ("y",) and not reading.sides)
        if reading.equation is not None:
            return "the left side of this equation has letters that the problem does not have"
        return "the line may be x = ... or y = ..." if upright else ""
    if not (right and _is_line(trial, solved)) and _holds(trial, solved):
        return "this equation holds on the right line, and may hold elsewhere"
    return ""


def _holds(trial: Trial, solved: Solved) -> bool:
    """Return whether an equation holds at all points of the right line."""
    side, name = trial.prepared.side, solved.name
    values = Values(trial.answered.formula, {**trial.inputs, name: side.values[0]},
                    {**trial.errors, name: side.noise[0] / SAFETY})
    values.deadline = trial.deadline
    found = Side(values, [solved.rest], trial.prepared.size)
    return bool(found.near_zero.any() and (found.near_zero | ~found.finite).all())


def _is_line(trial: Trial, solved: Solved) -> bool:
    """Return whether the factor of the other variable is a number: no (y - 2x)(x - 1) = 0."""
    contact = trial.prepared.reference.contact
    assert contact is not None
    if {*contact.names}.isdisjoint(trial.answered.formula.leaves([solved.steep])):
        return True
    found = Side(trial.values, [solved.steep], trial.prepared.size)
    middle = np.median(found.values)
    return bool(abs(middle) > 0 and (
        abs(found.values - middle) <= found.noise + NEAR * abs(middle)).all())


def differing_sides(trial: Trial, right: bool) -> str:
    """Return why an equation with a right side and a wrong one, 2x = 0, f'(x) = 2x = 3x, is for a
    person, or "". right: whether the last side is right.
    """
    first, several, _ = trial.answered.reading.sides.partition("=")
    others = [(other, is_right(trial.prepared, other, trial.deadline, placed=right))
              for other in _other_sides(trial, right)[::-1]]
    if any(good != right for _, good in others):
        wrong = next((other.read_as for other, good in others if not good),
                     trial.answered.reading.read_as)
        return "some sides of this equation are right, others are not: the first that is not is" \
            f" `{wrong}`" if several else (
            f"one side of this equation is right, the {'left' if right else 'right'} side is not")
    if several and not right and not is_label(first.rstrip(": "), trial.prepared.reference.names):
        return "the first side of this equation is not a name"     # y - 2 = 3(x - 1) = 3x - 3
    return misrounded(trial) if right else ""


def _other_sides(trial: Trial, right: bool) -> list[Reading]:
    """Return the sides of an equation before the last one that can be compared.

    Left out are sides with other letters, to solve for or of steps between, and of a wrong answer
    formulas where a number is asked for. right: whether to return only the sides behind the last
    name.
    """
    prepared, reading = trial.prepared, trial.answered.reading
    reference = prepared.reference
    known, found = {*reference.variables, *CONSTANTS}, []
    if not right:
        known.difference_update(reference.fixed)
    if reading.equation is not None:
        if not reference.kind.line and known.issuperset(reading.names):
            found.append(Reading(
                reading.text, reading.equation, reading.tokens, reading.origin))
        return found
    for side in _sides(trial, right):
        try:
            found.append(read_answer(prepared, side))
        except GradcliError:
            pass        # a step on the way: u'v
    return [one for one in found if known.issuperset(one.names)]


APART = re.compile(r"[,;]\s+|\s(?:so|and|then|also|und)\s")


def _sides(trial: Trial, right: bool) -> list[str]:
    """Return the sides before the last one that are no names, the last first. right: whether to
    return only those behind the last name, and behind one that is of the same quantity as well:
    f'(x) = 2x, f'(1) = 2.
    """
    prepared, counts, found, texts = trial.prepared, not right, list[str](), list[str]()
    sides = [side.rstrip(": ") for side in trial.answered.reading.sides.split("=")]
    for side in sides if len(sides) > 1 else ():
        *before, name = [part.lstrip("> ") for part in APART.split(side)]
        if not is_label(name, prepared.reference.names):
            texts.append(side)
            continue
        found += [*texts, *before] if counts and (before or not right) else []
        texts, said = [], claim(name, prepared.reference.names)
        counts = not right or (
            said is not None and said.order is not None and not another(said, prepared))
    return [*found, *texts][::-1]


def misrounded(trial: Trial) -> str:
    """Return why a number behind ≈ is not the one before it, rounded; "" if it is."""
    reading, side = trial.answered.reading, trial.side
    if not reading.rounded or side is None:
        return ""
    near = len(side.values) == 1 and reading.scale and all(
        rounds(reading.rounded, value / reading.scale) for value in np.unique(side.values))
    return "" if near else f"`{reading.rounded}` is not what this rounds to"


def is_rounded(trial: Trial) -> bool:
    """Return whether an answer is the right number, the same at all points, with fewer digits."""
    if trial.side is None:
        return False
    right = trial.prepared.side
    return all(text and right.finite[k].all() and np.ptp(right.values[k]) <= right.noise[k].max()
               and rounds(text, abs(right.values[k, 0]))
               and (trial.side.values[k, 0] > 0) == (right.values[k, 0] > 0)
               for k, text in enumerate(components(trial)))
