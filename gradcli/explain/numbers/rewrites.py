"""Rewrites of single expressions that avoid NaN and infinity, in the words of the program.

Each function returns the new text and the operation that it replaces (None: the text is only a part
of what to write), or None where it knows none. Operands are taken from the program's text; the
pattern (a log of 1 plus an exp) from the record, so that it is found across lines and functions.
"""

from __future__ import annotations

import math

from gradcli.base.lazy import np
from gradcli.engine.record.record import ANS, ATTRIBUTES, IDS, OP, OUT, PLACE, VALUES
from gradcli.explain.elements import has_inf
from gradcli.explain.numbers.words import arguments, minus, tight
from gradcli.ops.values import dtype_of, shape_of

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
        return _call(words, entry, _bounds(entry, entry[OP].guard["inside"]).format(parts[0]))
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
    shifted = _bounds(entry, entry[OP].guard.get("off_edge"))
    if shifted is not None:
        return _call(words, entry, shifted.format(tight(parts[0]) if "*" in shifted else parts[0]))
    return None


def _bounds(entry: Entry, guard: Any) -> Any:
    """Return a guard with bounds beside 1 that 32 bits tell from 1."""
    small = guard is not None and dtype_of(entry[ANS]) == "float32"
    return guard.replace("1 - 1e-12", "1 - 1e-7").replace("-1 + 1e-12", "-1 + 1e-7") if (
        small) else guard


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


# --------------------------------------------------------------------------------------------------
# Rewrites in logarithms of formulas with a number beyond the range of floats.

def in_logarithms(trail: Trail, words: Wording, entry: Entry, sizes: bool = False
                  ) -> Rewrite | None:
    """Return the formula rewritten without the number that is too large or too small for a float.

    sizes: take logarithms of absolute values, as factors may be negative where their product is
    not.
    """
    name, parts = entry[OP].name, words.operands(entry)
    text = words.of(entry) or ""
    head, _, rest = text.partition("(")
    called = head.rpartition(".")[2]
    if called in ("softmax", "prod") and tight(text) == text:
        log = _leads_to(trail, entry, "log")
        last = trail.by_out.get(log[IDS][0] or 0) if log is not None else None
        whole = last is not None and last[PLACE] == entry[PLACE]
        if log is not None and called == "softmax":
            part = _part(words, last)
            made = trail.by_out.get(last[IDS][0] or 0) if last is not None else None
            if part and made is not None and made[PLACE] == entry[PLACE]:
                return f"log_softmax({rest}{part}", log
            return f"log_softmax({rest}", log if whole else None
        if whole and np.all(np.greater(entry[VALUES][0], 0.0)):
            first, *others = arguments(rest[:-1])
            first = f"abs({first})" if sizes else first
            return f"sum({', '.join([f'log({first})', *others])})", log
    if not parts:
        return None
    argument = parts[0]
    if name == "power" and type(entry[VALUES][0]) is float and entry[VALUES][0] == math.e:
        name, argument = "exp", parts[1]
    for user in trail.users(entry[OUT]):
        found = _of_exp(trail, words, entry, argument, user) if name == "exp" else \
            _of_other(trail, words, entry, parts, user, sizes)
        if found is not None:
            return found
    return None


def _of_exp(trail: Trail, words: Wording, entry: Entry, a: str, user: Entry) -> Rewrite | None:
    name = user[OP].name
    if name in ("log1p", "log", "sqrt"):
        return {"log1p": f"softplus({a})", "log": a, "sqrt": f"exp({tight(a)}/2)"}[name], user
    if name == "sum":
        return _of_sum(trail, words, entry, a, user)
    if name == "add" and None in user[IDS]:
        return _of_one_and(trail, words, entry, a, user)
    if name in ("add", "subtract"):
        return _of_opposite(trail, entry, a, user)
    return _of_product(trail, words, entry, a, user) if name in ("divide", "multiply") else None


def _part(words: Wording, taken: Entry | None) -> str:
    """Return the text of an index, such as `[0]`; "" if the operation is none."""
    text = words.of(taken) if taken is not None and taken[OP].name == "index" else None
    if not text or not text.endswith("]"):
        return ""
    depth, k = 0, len(text)
    while k and (depth or k == len(text)):
        k -= 1
        depth += (text[k] == "]") - (text[k] == "[")
    return text[k:]


def _log_of(trail: Trail, words: Wording, made: Entry) -> tuple[Entry, str] | None:
    """Return the logarithm of a value or of its elements, and the text of their index, or None."""
    for user in trail.users(made[OUT]):
        if user[OP].name == "log":
            return user, ""
        part = _part(words, user)
        log = next((one for one in trail.users(user[OUT]) if one[OP].name == "log"), None)
        if part and log is not None:
            return log, part
    return None


def _of_sum(trail: Trail, words: Wording, entry: Entry, a: str, total: Entry) -> Rewrite | None:
    """Rewrite log(sum(exp(a))), exp(a)/sum(exp(a)) and the logarithm of that."""
    axes = total[ATTRIBUTES].get("axis")
    rank = len(shape_of(entry[ANS]))
    along = "" if axes is None or rank == 1 or len(set(axes)) == rank else \
        f", axis={list(axes) if len(axes) > 1 else axes[0]}"
    # A softmax sums over a vector, or one axis that stays.
    whole = rank == 1 or (axes and len(axes) == 1 and total[ATTRIBUTES].get("keepdims"))
    for last in trail.users(total[OUT]):
        if last[OP].name == "log":
            return f"logsumexp({a}{along})", last
        if last[OP].name == "divide" and last[IDS][1] == total[OUT] and whole and _same(
                trail, last[IDS][0], entry):
            log = _log_of(trail, words, last)
            return (f"softmax({a}{along})", last) if log is None else (
                f"log_softmax({a}{along}){log[1]}", log[0])
    return None


def _of_one_and(trail: Trail, words: Wording, entry: Entry, a: str, total: Entry) -> Rewrite | None:
    """Rewrite log(1 + exp(a)), 1/(1 + exp(a)), exp(a)/(1 + exp(a)) and the logarithms of these."""
    if not any(i is None and not shape_of(v) and v == 1
               for i, v in zip(total[IDS], total[VALUES], strict=True)):
        return None
    for last in trail.users(total[OUT]):
        if last[OP].name == "log":
            return f"softplus({a})", last
        if last[OP].name == "divide" and last[IDS][1] == total[OUT]:
            one = last[IDS][0] is None and last[VALUES][0] == 1
            if one or _same(trail, last[IDS][0], entry):
                log, of = _log_of(trail, words, last), minus(a) if one else a
                return (f"sigmoid({of})", last) if log is None else (
                    f"log_sigmoid({of}){log[1]}", log[0])
    return None


def _of_opposite(trail: Trail, entry: Entry, a: str, user: Entry) -> Rewrite | None:
    """Rewrite (exp(a) - exp(-a))/(exp(a) + exp(-a))."""
    for last in trail.users(user[OUT]):
        both = [trail.by_out.get(i or 0) for i in last[IDS]]
        if last[OP].name != "divide" or [e and e[OP].name for e in both] != ["subtract", "add"]:
            continue
        powers = [trail.by_out.get(i or 0) for e in both if e is not None for i in e[IDS]]
        if all(e is not None and e[OP] is entry[OP] for e in powers):
            first, *rest = [e[VALUES][0] for e in powers if e is not None]
            if all(np.all(np.equal(sign*first, v))
                   for sign, v in zip((-1, 1, -1), rest, strict=True)):
                same = np.all(np.equal(entry[VALUES][0], first))
                return f"tanh({a if same else minus(a)})", last
    return None


def _of_product(trail: Trail, words: Wording, entry: Entry, a: str, user: Entry) -> Rewrite | None:
    """Rewrite exp(a)/exp(b), exp(a)*exp(b), 1/exp(a), exp(a^2)*erfc(a), and quotients that
    `_of_sum` and `_of_one_and` know.
    """
    name, k = user[OP].name, user[IDS].index(entry[OUT])
    other = trail.by_out.get(user[IDS][1 - k] or 0)
    if other is None:
        one = name == "divide" and k == 1 and user[IDS][0] is None and user[VALUES][0] == 1
        # A number that is too large itself stays so.
        return (f"exp({minus(a)})", user) if one and has_inf(entry[ANS]) else None
    if name == "divide" and k == 0 and any(_same(trail, i, entry) for i in other[IDS]):
        if other[OP].name == "sum":
            return _of_sum(trail, words, entry, a, other)
        if other[OP].name == "add":
            return _of_one_and(trail, words, entry, a, other)
    squared = trail.by_out.get(entry[IDS][0] or 0)
    if name == "multiply" and other[OP].name == "erfc" and squared is not None and (
            squared[IDS][0] == other[IDS][0] and square_of(trail, words, squared[OUT])):
        inner = words.operands(other)
        return (f"erfcx({inner[0]})", user) if inner else None
    written = words.operands(other) if other[OP].name == "exp" else None
    if not written:
        return None
    first, second = (a, written[0]) if k == 0 else (written[0], a)
    if name == "divide":
        return f"exp({first} - {tight(second)})", user
    plus = f"- {second[1:].strip()}" if second.startswith("-") else f"+ {second}"
    return f"exp({first} {plus})", user


def _same(trail: Trail, id: int | None, entry: Entry) -> bool:
    """Return whether a value is that of `entry`, or of the same operation on the same operands."""
    other = trail.by_out.get(id) if id is not None else None
    return other is not None and (other[OUT] == entry[OUT] or (
        other[OP] is entry[OP] and other[IDS] == entry[IDS]))


def _of_other(trail: Trail, words: Wording, entry: Entry, parts: list[str], user: Entry, sizes: bool
              ) -> Rewrite | None:
    name, then = entry[OP].name, user[OP].name
    if then == "log" and name in ("cosh", "sigmoid", "ndtr"):
        return {"cosh": "logcosh({})", "sigmoid": "log_sigmoid({})", "ndtr": "log_ndtr({})"}[
            name].format(parts[0]), user
    if then == "log" and name in ("multiply", "divide") and len(parts) == 2:
        first, second = [f"log(abs({part}))" if sizes else f"log({part})" for part in parts]
        return f"{first} {'+' if name == 'multiply' else '-'} {second}", user
    if then == "divide" and name in ("sinh", "cosh"):
        above = trail.by_out.get(user[IDS][0] or 0)
        below = trail.by_out.get(user[IDS][1] or 0)
        if above is not None and below is not None and above[IDS] == below[IDS] and (
                above[OP].name, below[OP].name) == ("sinh", "cosh"):
            return f"tanh({parts[0]})", user
    if then == "sqrt" and name in ("multiply", "power", "square"):
        squared = square_of(trail, words, entry[OUT])
        return (f"abs({squared})", user) if squared is not None else None
    if then == "add":
        sides = ["1" if i is None and not shape_of(v) and v == 1 else square_of(trail, words, i)
                 for i, v in zip(user[IDS], user[VALUES], strict=True)]
        root = next((u for u in trail.users(user[OUT]) if u[OP].name == "sqrt"), None)
        if None not in sides and root is not None:
            return f"hypot({sides[0]}, {sides[1]})", root
    return None


def _leads_to(trail: Trail, entry: Entry, name: str) -> Entry | None:
    """Return the operation `name` that uses the value of the expression here, or None."""
    pending, seen = [entry], {entry[OUT]}
    while pending:
        one = pending.pop()
        for user in trail.users(one[OUT]):
            if user[OP].name == name and user[PLACE] != entry[PLACE]:
                return user
            if user[OUT] not in seen and (
                    user[PLACE] == entry[PLACE] or user[OP].kind == "linear"):
                seen.add(user[OUT])
                pending.append(user)
    return None
