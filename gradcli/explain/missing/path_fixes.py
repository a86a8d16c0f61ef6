"""What to write instead where the path is cut, or the tape did not see it."""

from __future__ import annotations

import re

from gradcli.engine.record.record import ANS, OP
from gradcli.explain.catalogue import Fix
from gradcli.explain.missing import moves
from gradcli.explain.missing.scene import place_of
from gradcli.explain.written import arguments_of, called, grouped, is_atom, operands_of, term
from gradcli.ops.values import dtype_of, is_float

TYPE_CHECKING = False
if TYPE_CHECKING:

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.catalogue import Reason
    from gradcli.explain.missing.ground import Ground


def stop_gradient(ground: Ground, reason: Reason) -> list[Fix]:
    """stop_gradient left out."""
    span = reason.span
    arguments = arguments_of(ground.text, span) if span is not None else []
    if len(arguments) != 1:
        return []
    return [unwrapped(ground, span, arguments[0])]


def unwrapped(ground: Ground, span: Span, inner: Span) -> Fix:
    """Only what is in a call, in the call's brackets where it needs some."""
    (first, last), (start, end) = span, inner
    text = ground.text[start:end]
    if "\n" in ground.text[first:last] or grouped(ground.text, span, text) != text:
        start, last = ground.text.rindex("(", first, start), ground.text.rindex(")", end, last)
    rest = [(end, last, "")] if ground.text[end:last].strip() else []
    return Fix(text, (first, start, ""), *rest)


def cast(ground: Ground, reason: Reason) -> list[Fix]:
    """A cast left out, or passed by."""
    return uncast(ground, reason.abouts[0])


def target_dtype(ground: Ground, reason: Reason) -> list[Fix]:
    """The cast that made the target left out, or passed by."""
    return uncast(ground, reason.about) if reason.about is not None else []


def uncast(ground: Ground, entry: Entry) -> list[Fix]:
    """A cast left out, or passed by as if it had the slope 1."""
    span = place_of(entry)
    if span is None or entry[OP].name != "cast_other" or is_float(entry[ANS]) or dtype_of(
            entry[ANS]) in ("string", "bool"):
        return []
    arguments = arguments_of(ground.text, span)
    if not arguments:
        return []
    plain = term(ground.text[slice(*arguments[0])])
    call = ground.text[span[0]:span[1]]
    through = f"{plain} + stop_gradient(float({call}) - {plain})"
    return [unwrapped(ground, span, arguments[0]),
            Fix(through, (*span, grouped(ground.text, span, through)))]


def step(ground: Ground, reason: Reason) -> list[Fix]:
    """The row's substitute with the user's own argument: the same value, with a slope."""
    entry = reason.abouts[0]
    span = place_of(entry)
    op = entry[OP]
    if span is None or "stop_gradient" not in op.substitute:
        return []
    inner = operands_of(ground.text, span)
    if len(inner) != len(op.parameters):
        return []
    text = op.substitute.format(*[term(i) if len(inner) == 1 or is_atom(i) or re.fullmatch(
        r"[\d.]+", i) else f"({i})" for i in inner])
    if len(inner) == 1:
        text = text.replace(f"{op.name}({term(inner[0])})",
                            f"{called(ground.text, span)}({inner[0]})")
    return [Fix(text, (*span, grouped(ground.text, span, text)))]


def _numpy(ground: Ground, reason: Reason) -> list[Fix]:
    span = reason.span
    if span is None or not ground.text.startswith("np.", span[0]):
        return []
    call = ground.text[span[0] + 3:span[1]]
    arguments = arguments_of(ground.text, span)
    if called(ground.text, span) in ("np.array", "np.asarray") and arguments:
        return [unwrapped(ground, span, arguments[0])]
    return [Fix(call, (span[0], span[0] + 3, ""))]


def state(ground: Ground, reason: Reason) -> list[Fix]:
    """An assignment or declaration that makes a state, as a plain binding."""
    how = getattr(reason.abouts[0][OP], "how", "") if reason.abouts else ""
    line = ground.outline.at(reason.span[0]) if reason.span is not None else None
    if line is None:
        return []
    statement = ground.text[line.first:line.last]
    if how == "var":
        found = re.match(r"var\s+(\w+)\s*(:[^=]*)?=", statement)
        if found is None:
            return []
        edits = [(line.first, line.first + found.start(1), "")]
        if found[2]:
            edits.append((line.first + found.start(2), line.first + found.end(2), " "))
        return [ground.changed(*edits)]
    found = re.match(r"(\w+)\s*\.\s*(assign(?:_add|_sub)?)\s*\(", statement)
    if found is None or not statement.endswith(")"):
        return []
    sign = {"assign": "", "assign_add": "+ ", "assign_sub": "- "}[found[2]]
    value = statement[found.end():-1].strip()
    text = f"{found[1]} = {found[1]} {sign}{term(value)}" if sign else f"{found[1]} = {value}"
    return [ground.changed((line.first, line.last, text))]


def declared(ground: Ground, reason: Reason) -> list[Fix]:
    """np. dropped, or `const c = e`, where e was computed, as a plain binding."""
    if getattr(reason.abouts[0][OP], "how", "") not in ("const", "input"):
        return _numpy(ground, reason)
    line = ground.outline.at(reason.span[0]) if reason.span is not None else None
    statement = ground.text[line.first:line.last] if line is not None else ""
    found = re.match(r"(?:const|input)\s+(\w+)\s*(:[^=]*)?=", statement)
    if found is None or line is None:
        return []
    edits = [(line.first, line.first + found.start(1), "")]
    if found[2]:
        edits.append((line.first + found.start(2), line.first + found.end(2), " "))
    return [ground.changed(*edits)]


def into_block(ground: Ground, reason: Reason) -> list[Fix]:
    """Lines moved into the block of the tape."""
    head = ground.block()
    sites = [ground.site(entry) for entry in reason.abouts]
    if head is not None and any(site in ground.outline.inside(head) for site in sites):
        return persistent(ground, reason)  # there already, but after the one answer
    return moves.into_block(ground, reason)


def out_of_pause(ground: Ground, reason: Reason) -> list[Fix]:
    """Lines moved out of the block in which nothing is recorded."""
    return moves.out_of_pause(ground, reason)


def without_reset(ground: Ground, reason: Reason) -> list[Fix]:
    """The reset removed."""
    line = ground.outline.at(reason.span[0]) if reason.span is not None else None
    if line is None or not line.alone:
        return []
    return [Fix(f"remove {ground.text[line.first:line.last]}", (line.start, line.end, ""))]


def persistent(ground: Ground, reason: Reason) -> list[Fix]:
    """The tape made persistent."""
    window = ground.subject.window
    if window is None or window.span is None:
        return []
    head = ground.text[window.span[0]:window.span[1]]
    found = re.search(r"persistent\s*=\s*false", head)
    if found is not None:
        return [ground.changed((window.span[0] + found.start(), window.span[0] + found.end(),
                                "persistent=true"))]
    end = window.span[0] + len(head.rstrip().rstrip(":").rstrip())
    return [ground.changed((end, end, ", persistent=true"))]


def swap_accumulators(ground: Ground, reason: Reason) -> list[Fix]:
    """inner.jvp(outer.jvp(y)): the two names change places."""
    places = [reason.span, *[span for span, _ in reason.related]]
    heads = []
    for place in places[:2]:
        found = re.match(r"(\w+)\s*\.\s*jvp\b", ground.text[place[0]:]) if place else None
        if found is None:
            return []
        heads.append((place[0], place[0] + len(found[1]), found[1]))
    if len(heads) != 2:
        return []
    (a, b, first), (c, d, second) = heads
    return [ground.changed((a, b, second), (c, d, first))]
