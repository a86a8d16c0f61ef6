"""Rewrites of single expressions that avoid NaN and infinity, in the words of the program.

Each function returns the new text and the operation that it replaces (None: the text is only a part
of what to write), or None where it knows none. Operands are taken from the program's text; the
pattern (a log of 1 plus an exp) from the record, so that it is found across lines and functions.
"""

from __future__ import annotations

import math

from gradcli.base.lazy import np
from gradcli.engine.record.record import IDS, OP, OUT, PLACE, VALUES
from gradcli.explain.numbers.words import minus, tight
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.engine.record.record import Entry
    from gradcli.explain.numbers.origins import Trail
    from gradcli.explain.numbers.words import Rewrite, Wording



def inside(trail: Trail, words: Wording, entry: Entry) -> Rewrite | None:
    """Return the operation with its operand kept inside its domain."""
    text = _inside(trail, words, entry)
    return None if text is None else (text, entry)


def _inside(trail: Trail, words: Wording, entry: Entry) -> str | None:
    name, parts = entry[OP].name, words.operands(entry)
    if not parts:
        return None
    if name in ("divide", "reciprocal"):
        above, below = parts if name == "divide" else ("1", parts[0])
        if not trail.takes_zero(entry):
            return f"{tight(above)}/where({below} == 0, 1e-12, {below})"
        return f"{name}_no_nan({', '.join(parts)})"
    if name == "power" and len(parts) == 2:
        if entry[IDS][0] is None:  # a condition on a number that is written there says nothing
            return None
        if not shape_of(entry[VALUES][1]) and entry[VALUES][1] == 1/3 and np.any(
                np.less(entry[VALUES][0], 0.0)):
            return f"cbrt({parts[0]})"
        if np.all(np.less(entry[VALUES][1], 0.0)) and np.all(
                np.equal(entry[VALUES][1], np.round(entry[VALUES][1]))):
            return f"where({parts[0]} == 0, 1e-12, {parts[0]})^{tight(parts[1])}"
        return f"maximum({parts[0]}, 1e-12)^{tight(parts[1])}"
    if name == "log" and (odds := _sigmoid_of(trail, words, entry)) is not None:
        return f"log_sigmoid({minus(odds)})"
    if "inside" in entry[OP].guard:
        return _call(words, entry, entry[OP].guard["inside"].format(parts[0]))
    return None


def _sigmoid_of(trail: Trail, words: Wording, entry: Entry) -> str | None:
    """Return the text a of log(1 - sigmoid(a)); None if the operation has another form."""
    rest = trail.by_out.get(entry[IDS][0] or 0)
    if rest is None or rest[OP].name != "subtract" or shape_of(rest[VALUES][0]) or (
            rest[VALUES][0] != 1):
        return None
    made = trail.by_out.get(rest[IDS][1] or 0)
    parts = words.operands(made) if made is not None and made[OP].name == "sigmoid" else None
    return parts[0] if parts else None


def off_edge(trail: Trail, words: Wording, entry: Entry) -> Rewrite | None:
    """Return the operation with its operand moved slightly off the edge."""
    text = _off_edge(trail, words, entry)
    return None if text is None else (text, entry)


def _off_edge(trail: Trail, words: Wording, entry: Entry) -> str | None:
    name, parts = entry[OP].name, words.operands(entry)
    if not parts:
        return None
    if name == "sqrt":
        squared = square_of(trail, words, entry[IDS][0])
        if squared is not None:
            return f"abs({squared})"
    if name == "power" and len(parts) == 2:
        return f"({parts[0]} + {_offset(entry[VALUES][1])})^{tight(parts[1])}"
    if name == "hypot" and len(parts) == 2:
        return f"sqrt({tight(parts[0])}^2 + {tight(parts[1])}^2 + 1e-24)"
    shifted = entry[OP].guard.get("off_edge")
    if shifted is not None:
        return _call(words, entry, shifted.format(tight(parts[0]) if "*" in shifted else parts[0]))
    return None


def _offset(exponent: Any) -> str:
    """Return the offset whose power with this exponent is about 1e-6."""
    least = float(np.min(exponent))
    return f"1e-{math.ceil(min(round(6/least, 6), 300.0))}" if least > 0 else "1e-12"


def _call(words: Wording, entry: Entry, argument: str) -> str:
    text = words.of(entry) or ""
    head = "sqrt" if text.startswith("√") else text.partition("(")[0].strip()
    return f"{head}({argument})"


def square_of(trail: Trail, words: Wording, id: int | None) -> str | None:
    """Return the text of which a value is the square; None if it is no square."""
    entry = trail.by_out.get(id) if id is not None else None
    if entry is None:
        return None
    name, parts = entry[OP].name, words.operands(entry)
    same = name == "multiply" and entry[IDS][0] == entry[IDS][1]
    two = name == "power" and not shape_of(entry[VALUES][1]) and entry[VALUES][1] == 2
    return parts[0] if parts and (same or two or name == "square") else None


def dead_branches(words: Wording, unused: Sequence[tuple[Entry, int]], by: Entry) -> Rewrite | None:
    """Return the selection `by` with a harmless operand in the unused branch: `where` twice.

    unused: (operation, number of the operand to replace) in that branch.
    """
    chosen = words.operands(by)
    if by[OP].name != "where" or not chosen or len(chosen) != 3:
        return None
    whole, outer = words.of(by) or "", by[PLACE]
    edits = set()
    for entry, k in unused:
        edit = _harmless(words, entry, k, chosen, whole, outer)
        if edit is None:
            return None
        edits.add(edit)
    for start, end, new in sorted(edits, reverse=True):
        whole = whole[:start] + new + whole[end:]
    return whole, by


def _harmless(words: Wording, entry: Entry, k: int, chosen: Sequence[str], whole: str, outer: Any
              ) -> tuple[int, int, str] | None:
    """Return (start, end, new text) of an operation within the text `whole` of the selection."""
    name, place, parts = entry[OP].name, entry[PLACE], words.operands(entry)
    if name == "divide":
        k = 1
    # Elsewhere the names of the condition may mean something else.
    if not parts or k >= len(parts) or not (outer[2] <= place[2] and place[3] <= outer[3]):
        return None
    # The branch that contains the operation.
    at = 2 if place[2] - outer[2] >= whole.rfind(chosen[2]) else 1
    harmless = entry[OP].guard.get("harmless", "1")
    pair = (parts[k], harmless) if at == 1 else (harmless, parts[k])
    safe = f"where({chosen[0]}, {pair[0]}, {pair[1]})"
    old = words.of(entry) or ""
    start = place[2] - outer[2]
    if name == "divide":
        new = f"{tight(parts[0])}/{safe}"
    elif name == "power" and place[0] == 0 and k == 0:
        new = f"{safe}^{tight(parts[1])}"
    elif place[0] == 4:
        new = f"{old.partition('(')[0]}({', '.join([*parts[:k], safe, *parts[k + 1:]])})"
    else:
        return None
    return start, start + len(old), new


def of_product(trail: Trail, words: Wording, entry: Entry) -> Rewrite | None:
    """Return the rewrite of a product of 0 and a factor whose slope or value is infinite."""
    for user in trail.users(entry[OUT]):
        text = _with(trail, words, entry, user)
        if text is not None:
            return text, user
    return inside(trail, words, entry)


def _with(trail: Trail, words: Wording, entry: Entry, user: Entry) -> str | None:
    """Return the product (or square) `user` of an answer, written without its operation."""
    name, parts = entry[OP].name, words.operands(entry)
    if not parts:
        return None
    both = words.operands(user)
    if user[OP].name == "multiply" and both and len(both) == 2:
        k = user[IDS].index(entry[OUT])
        other, other_id = both[1 - k], user[IDS][1 - k]
        if name in ("log", "log1p"):
            return f"{'xlogy' if name == 'log' else 'xlog1py'}({other}, {parts[0]})"
        if name == "power" and other_id == entry[IDS][0]:
            return _power(parts[0], parts[1], "{} + 1", lambda p: p + 1)
        if name == "sqrt" and other_id == entry[IDS][0]:
            return f"{tight(parts[0])}^1.5"
        twin = trail.by_out.get(other_id or 0)
        if name == "sqrt" and twin is not None and (
                twin[OP].name == name and twin[IDS] == entry[IDS]):
            return parts[0]
    two = user[OP].name == "power" and not shape_of(user[VALUES][1]) and user[VALUES][1] == 2
    if two or user[OP].name == "square":
        if name == "sqrt":
            return parts[0]
        if name == "norm2":
            return f"sum({tight(parts[0])}^2)"
        if name == "power":
            return _power(parts[0], parts[1], "2*{}", lambda p: 2*p)
    return None


def _power(base: str, exponent: str, text: str, change: Callable[[float], float]) -> str:
    """Return the base to a changed exponent, evaluated if the exponent is a number."""
    try:
        new = f"{change(float(exponent)):.15g}"
    except ValueError:
        new = f"({text.format(tight(exponent))})"
    return base if new == "1" else f"{tight(base)}^{tight(new)}"
