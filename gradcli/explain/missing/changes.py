"""Changes of a program's text, one function for each cause of a missing gradient."""

from __future__ import annotations

import re

from gradcli.engine.record.record import ANS, OP
from gradcli.explain.catalogue import Fix
from gradcli.explain.missing import ground as arms
from gradcli.explain.missing.ground import moved_into_block, watch_earlier, watch_line
from gradcli.explain.missing.scene import place_of
from gradcli.explain.written import arguments_of, grouped, head_of, is_atom, operands_of, term
from gradcli.ops.values import dtype_of, is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.catalogue import Edit, Reason
    from gradcli.explain.missing.ground import Ground


def constant(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose to watch a constant or to declare it a variable."""
    subject = reason.about or ground.subject
    found = watch(ground, reason)
    if subject.kind == "constant" and (subject.window is None or subject.window.automatic) and (
            "keyword" in subject.spans):
        found.append(ground.changed((*subject.spans["keyword"], "var")))
    return found


def nontrainable(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose to drop `trainable=false` or to watch the variable."""
    flag = (reason.about or ground.subject).spans.get("trainable")
    return [*_without_option(ground, flag), *watch(ground, reason)]


def automatic(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose to watch the source or to drop the option that turns automatic watching off."""
    window = ground.subject.window
    option = window.option if window is not None else None
    return [*watch(ground, reason), *_without_option(ground, option)]


def _without_option(ground: Ground, option: Span | None) -> list[Fix]:
    """Propose to drop an option together with the comma before it."""
    if option is None:
        return []
    comma = ground.text.rfind(",", 0, option[0])
    return [ground.changed((comma, option[1], ""))] if comma >= 0 else []


def watch(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose a watch of the source where it comes early enough."""
    edit = watch_line(ground, reason.about or ground.subject)
    if edit is None:
        return []
    window = ground.subject.window
    assert window is not None
    return [Fix(f"{window.name}.watch({ground.subject.source})", edit)]


def watch_late(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose to move the watch above the first use."""
    edits = watch_earlier(ground, reason)
    watch = reason.related[0][0] if reason.related else None
    line = ground.outline.at(watch[0]) if watch is not None else None
    use = ground.outline.at(reason.span[0]) if reason.span is not None else None
    if not edits or line is None or use is None:
        return []
    return [Fix(f"move {ground.text[line.first:line.last]} above line {ground.row(use)}", *edits)]


def watch_again(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose to watch the source again after the reset."""
    line = ground.outline.at(reason.span[0]) if reason.span is not None else None
    window = ground.subject.window
    if line is None or window is None or not line.alone or not ground.has_name():
        return []
    call = f"{window.name}.watch({ground.subject.source})"
    return [Fix(f"{call} after the reset", ground.outline.behind(call, line))]


def dtype(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose to drop the declared type, or the operation that made the source an integer."""
    spans, subject = ground.subject.spans, ground.subject
    if "type" not in spans:
        return uncast(ground, reason.about) if reason.about is not None else _plain(ground)
    dtype = dtype_of(subject.value)
    end = spans["type"][1]
    # The type's span may or may not include a shape that follows it.
    if dtype in ("string", "bool"):
        return [Fix("declare a number")]
    if ground.text[end:end + 1] == "[" or "[" in ground.text[spans["type"][0]:end]:
        return [Fix(f"declare {subject.source} float64",
                    (spans["type"][0], spans["type"][0] + _word(ground, spans["type"]), "float64"))]
    return [ground.changed((spans["name"][1], end, ""))]


def _plain(ground: Ground) -> list[Fix]:
    """Propose to drop the `int()` around the value of the source."""
    start = ground.subject.source_span
    line = ground.outline.at(start[0]) if start is not None else None
    if start is None or line is None:
        return []
    found = re.match(r"\s*=\s*(?=int\b)", ground.text[start[1]:line.last])
    if found is None:
        return []
    span = start[1] + found.end(), line.last
    arguments = arguments_of(ground.text, span)
    if len(arguments) != 1:
        return []
    return [ground.changed(*unwrapped(ground, span, arguments[0]).edits)]


def _word(ground: Ground, span: Span) -> int:
    found = re.match(r"\w+", ground.text[span[0]:])
    return len(found[0]) if found else 0


def copy(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose to ask for the original in place of the copy."""
    edit = _in_question(ground, ground.subject.source, reason.about)
    return [Fix(f"ask for {reason.about} itself", edit)] if edit is not None else []


def _in_question(ground: Ground, old: str, new: str | None) -> Edit | None:
    """Return the edit that replaces one name in the question; None unless it is there once."""
    asked = ground.subject.asked_at
    if asked is None or not new or not new.isidentifier():
        return None
    arguments = arguments_of(ground.text, asked)
    if len(arguments) < 2:
        return None
    start, end = arguments[1]
    found = list(re.finditer(rf"(?<![\w.]){re.escape(old)}(?!\w)", ground.text[start:end]))
    if len(found) != 1:
        return None
    return start + found[0].start(), start + found[0].end(), new


def rebound(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose `x.assign_add(e)` for `x = x + e` of a variable, else a new name for the value."""
    naming = reason.about
    if naming is None or naming.span is None:
        return []
    line = ground.outline.at(naming.span[0])
    name = ground.subject.source
    if line is None:
        return []
    statement = ground.text[naming.span[0]:line.last]
    found = re.match(rf"{re.escape(name)}\s*=(?!=)\s*", statement)
    if found is None or ";" in statement:
        return []
    start = naming.span[0]
    value = statement[found.end():].rstrip()
    out = []
    if ground.is_variable(name):
        for sign, how in (("+", "assign_add"), ("-", "assign_sub")):
            rest = re.match(rf"{re.escape(name)}\s*\{sign}\s*(.+)$", value, re.DOTALL)
            if rest is not None:
                out.append(f"{name}.{how}({rest[1]})")
        out.append(f"{name}.assign({value})")
        return [ground.changed((start, start + len(statement.rstrip()), text)) for text in out]
    other = ground.free_name(name)
    return [Fix(f"give the new value a name of its own: {other} = {value}",
                (start, start + len(name), other))]


def swap(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose to exchange target and source."""
    asked = ground.subject.asked_at
    arguments = arguments_of(ground.text, asked) if asked is not None else []
    if len(arguments) < 2:
        return [Fix("swap target and source: --of "
                    f"{ground.subject.source} --wrt {ground.subject.target}")]
    (a, b), (c, d) = arguments[:2]
    first, second = ground.text[a:b], ground.text[c:d]
    return [ground.changed((a, b, second), (c, d, first))]


def rename(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose another name for a parameter that hides the source. Only the head changes, so that
    the body reads the hidden name.
    """
    if reason.span is None or not reason.about:
        return []
    other = ground.free_name(reason.about)
    line = ground.outline.at(reason.span[0])
    head = ground.text[line.first:line.last].partition("=")[0].strip() if line is not None else ""
    shown = head.replace(reason.about, other, 1) if head.count(reason.about) == 1 else other
    return [Fix(f"rename one of the two: {shown}", (*reason.span, other))]


def both_arms(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose a `where` of both arms in place of a branch."""
    edit = arms.where_for(ground, reason)
    return [] if edit is None else [Fix(edit[2].strip(), edit)]


def stop_gradient(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose to drop `stop_gradient`."""
    span = reason.span
    arguments = arguments_of(ground.text, span) if span is not None else []
    if len(arguments) != 1:
        return []
    return [unwrapped(ground, span, arguments[0])]


def unwrapped(ground: Ground, span: Span, inner: Span) -> Fix:
    """Return the fix that replaces a call by its argument at `inner`, in brackets where needed."""
    (first, last), (start, end) = span, inner
    text = ground.text[start:end]
    if "\n" in ground.text[first:last] or grouped(ground.text, span, text) != text:
        start, last = ground.text.rindex("(", first, start), ground.text.rindex(")", end, last)
    rest = [(end, last, "")] if ground.text[end:last].strip() else []
    return Fix(text, (first, start, ""), *rest)


def cast(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose to drop the cast on the path, or to give it the slope 1."""
    return uncast(ground, reason.abouts[0])


def target_dtype(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose to drop the cast that made the target, or to give it the slope 1."""
    return uncast(ground, reason.about) if reason.about is not None else []


def uncast(ground: Ground, entry: Entry) -> list[Fix]:
    """Propose to drop a cast, or to give it the slope 1 by means of `stop_gradient`."""
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
    """Propose the substitute that the operation's row names: the same value, with a slope."""
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
                            f"{head_of(ground.text, span)}({inner[0]})")
    return [Fix(text, (*span, grouped(ground.text, span, text)))]


def _numpy(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose to drop `np.` from a call, or the whole `np.array(...)`."""
    span = reason.span
    if span is None or not ground.text.startswith("np.", span[0]):
        return []
    call = ground.text[span[0] + 3:span[1]]
    arguments = arguments_of(ground.text, span)
    if head_of(ground.text, span) in ("np.array", "np.asarray") and arguments:
        return [unwrapped(ground, span, arguments[0])]
    return [Fix(call, (span[0], span[0] + 3, ""))]


def state(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose a plain binding for a declaration or assignment that makes a variable's state."""
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
    """Propose a plain binding in place of `const c = e` with a computed `e`, or to drop `np.`."""
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
    """Propose to move lines into the block of the tape, or to make the tape persistent if they
    stand there after its one answer.
    """
    head = ground.block()
    sites = [ground.site(entry) for entry in reason.abouts]
    if head is not None and any(site in ground.outline.inside(head) for site in sites):
        return persistent(ground, reason)  # there already, but after the one answer
    return moved_into_block(ground, reason)


def without_reset(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose to remove the reset."""
    line = ground.outline.at(reason.span[0]) if reason.span is not None else None
    if line is None or not line.alone:
        return []
    return [Fix(f"remove {ground.text[line.first:line.last]}", (line.start, line.end, ""))]


def persistent(ground: Ground, reason: Reason) -> list[Fix]:
    """Propose `persistent=true` for the tape."""
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
    """Propose to exchange the names of the two accumulators in `inner.jvp(outer.jvp(y))`."""
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
