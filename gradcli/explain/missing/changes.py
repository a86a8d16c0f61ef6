"""Changes of a program's text, one function for each cause of a missing gradient."""

from __future__ import annotations

import re

from gradcli.engine.record.record import ANS, OP
from gradcli.explain.catalogue import Fix
from gradcli.explain.missing.outline import moved_into_block, watch_earlier, watch_line, where_for
from gradcli.explain.missing.scene import place_of
from gradcli.explain.written import arguments_of, grouped, head_of, is_atom, operands_of, term
from gradcli.ops.values import dtype_of, is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.catalogue import Edit, Reason
    from gradcli.explain.missing.outline import FixContext, where_for


def constant(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to watch a constant or to declare it a variable."""
    gap = reason.about or context.gap
    found = watch(context, reason)
    if gap.kind == "constant" and (gap.window is None or gap.window.automatic) and (
            "keyword" in gap.spans):
        found.append(context.changed((*gap.spans["keyword"], "var")))
    return found


def nontrainable(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to drop `trainable=false` or to watch the variable."""
    flag = (reason.about or context.gap).spans.get("trainable")
    return [*_without_option(context, flag), *watch(context, reason)]


def automatic(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to watch the source or to drop the option that turns automatic watching off."""
    window = context.gap.window
    option = window.option if window is not None else None
    return [*watch(context, reason), *_without_option(context, option)]


def _without_option(context: FixContext, option: Span | None) -> list[Fix]:
    """Propose to drop an option together with the comma before it."""
    if option is None:
        return []
    comma = context.text.rfind(",", 0, option[0])
    return [context.changed((comma, option[1], ""))] if comma >= 0 else []


def watch(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose a watch of the source where it comes early enough."""
    edit = watch_line(context, reason.about or context.gap)
    if edit is None:
        return []
    window = context.gap.window
    assert window is not None
    return [Fix(f"{window.name}.watch({context.gap.source})", edit)]


def watch_late(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to move the watch above the first use."""
    edits = watch_earlier(context, reason)
    watch = reason.related[0][0] if reason.related else None
    line = context.outline.at(watch[0]) if watch is not None else None
    use = context.outline.at(reason.span[0]) if reason.span is not None else None
    if not edits or line is None or use is None:
        return []
    return [Fix(f"move {context.text[line.first:line.last]} above line {context.row(use)}", *edits)]


def watch_again(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to watch the source again after the reset."""
    line = context.outline.at(reason.span[0]) if reason.span is not None else None
    window = context.gap.window
    if line is None or window is None or not line.alone or not context.has_name():
        return []
    call = f"{window.name}.watch({context.gap.source})"
    return [Fix(f"{call} after the reset", context.outline.behind(call, line))]


def dtype(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to drop the declared type, or the operation that made the source an integer."""
    spans, gap = context.gap.spans, context.gap
    if "type" not in spans:
        return uncast(context, reason.about) if reason.about is not None else _plain(context)
    dtype = dtype_of(gap.value)
    end = spans["type"][1]
    # The type's span may or may not include a shape that follows it.
    if dtype in ("string", "bool"):
        return [Fix("declare a number")]
    if context.text[end:end + 1] == "[" or "[" in context.text[spans["type"][0]:end]:
        return [Fix(f"declare {gap.source} float64",
                    (spans["type"][0], spans["type"][0] + _word(context, spans["type"]),
                     "float64"))]
    return [context.changed((spans["name"][1], end, ""))]


def _plain(context: FixContext) -> list[Fix]:
    """Propose to drop the `int()` around the value of the source."""
    start = context.gap.source_span
    line = context.outline.at(start[0]) if start is not None else None
    if start is None or line is None:
        return []
    found = re.match(r"\s*=\s*(?=int\b)", context.text[start[1]:line.last])
    if found is None:
        return []
    span = start[1] + found.end(), line.last
    arguments = arguments_of(context.text, span)
    if len(arguments) != 1:
        return []
    return [context.changed(*unwrapped(context, span, arguments[0]).edits)]


def _word(context: FixContext, span: Span) -> int:
    found = re.match(r"\w+", context.text[span[0]:])
    return len(found[0]) if found else 0


def copy(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to ask for the original in place of the copy."""
    edit = _in_question(context, context.gap.source, reason.about)
    return [Fix(f"ask for {reason.about} itself", edit)] if edit is not None else []


def _in_question(context: FixContext, old: str, new: str | None) -> Edit | None:
    """Return the edit that replaces one name in the question; None unless it is there once."""
    asked = context.gap.asked_at
    if asked is None or not new or not new.isidentifier():
        return None
    arguments = arguments_of(context.text, asked)
    if len(arguments) < 2:
        return None
    start, end = arguments[1]
    found = list(re.finditer(rf"(?<![\w.]){re.escape(old)}(?!\w)", context.text[start:end]))
    if len(found) != 1:
        return None
    return start + found[0].start(), start + found[0].end(), new


def rebound(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose `x.assign_add(e)` for `x = x + e` of a variable, else a new name for the value."""
    naming = reason.about
    if naming is None or naming.span is None:
        return []
    line = context.outline.at(naming.span[0])
    name = context.gap.source
    if line is None:
        return []
    statement = context.text[naming.span[0]:line.last]
    found = re.match(rf"{re.escape(name)}\s*=(?!=)\s*", statement)
    if found is None or ";" in statement:
        return []
    start = naming.span[0]
    value = statement[found.end():].rstrip()
    out = []
    if context.is_variable(name):
        for sign, how in (("+", "assign_add"), ("-", "assign_sub")):
            rest = re.match(rf"{re.escape(name)}\s*\{sign}\s*(.+)$", value, re.DOTALL)
            if rest is not None:
                out.append(f"{name}.{how}({rest[1]})")
        out.append(f"{name}.assign({value})")
        return [context.changed((start, start + len(statement.rstrip()), text)) for text in out]
    other = context.free_name(name)
    return [Fix(f"give the new value a name of its own: {other} = {value}",
                (start, start + len(name), other))]


def swap(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to exchange target and source."""
    asked = context.gap.asked_at
    arguments = arguments_of(context.text, asked) if asked is not None else []
    if len(arguments) < 2:
        return [Fix("swap target and source: --of "
                    f"{context.gap.source} --wrt {context.gap.target}")]
    (a, b), (c, d) = arguments[:2]
    first, second = context.text[a:b], context.text[c:d]
    return [context.changed((a, b, second), (c, d, first))]


def rename(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose another name for a parameter that hides the source. Only the head changes, so that
    the body reads the hidden name.
    """
    if reason.span is None or not reason.about:
        return []
    other = context.free_name(reason.about)
    line = context.outline.at(reason.span[0])
    head = context.text[line.first:line.last].partition("=")[0].strip() if line is not None else ""
    shown = head.replace(reason.about, other, 1) if head.count(reason.about) == 1 else other
    return [Fix(f"rename one of the two: {shown}", (*reason.span, other))]


def both_arms(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose a `where` of both arms in place of a branch."""
    edit = where_for(context, reason)
    return [] if edit is None else [Fix(edit[2].strip(), edit)]


def stop_gradient(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to drop `stop_gradient`."""
    span = reason.span
    arguments = arguments_of(context.text, span) if span is not None else []
    if len(arguments) != 1:
        return []
    return [unwrapped(context, span, arguments[0])]


def unwrapped(context: FixContext, span: Span, inner: Span) -> Fix:
    """Return the fix that replaces a call by its argument at `inner`, in brackets where needed."""
    (first, last), (start, end) = span, inner
    text = context.text[start:end]
    if "\n" in context.text[first:last] or grouped(context.text, span, text) != text:
        start, last = context.text.rindex("(", first, start), context.text.rindex(")", end, last)
    rest = [(end, last, "")] if context.text[end:last].strip() else []
    return Fix(text, (first, start, ""), *rest)


def cast(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to drop the cast on the path, or to give it the slope 1."""
    return uncast(context, reason.abouts[0])


def target_dtype(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to drop the cast that made the target, or to give it the slope 1."""
    return uncast(context, reason.about) if reason.about is not None else []


def uncast(context: FixContext, entry: Entry) -> list[Fix]:
    """Propose to drop a cast, or to give it the slope 1 by means of `stop_gradient`."""
    span = place_of(entry)
    if span is None or entry[OP].name != "cast_other" or is_float(entry[ANS]) or dtype_of(
            entry[ANS]) in ("string", "bool"):
        return []
    arguments = arguments_of(context.text, span)
    if not arguments:
        return []
    plain = term(context.text[slice(*arguments[0])])
    call = context.text[span[0]:span[1]]
    through = f"{plain} + stop_gradient(float({call}) - {plain})"
    return [unwrapped(context, span, arguments[0]),
            Fix(through, (*span, grouped(context.text, span, through)))]


def step(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose the substitute that the operation's row names: the same value, with a slope."""
    entry = reason.abouts[0]
    span = place_of(entry)
    op = entry[OP]
    if span is None or "stop_gradient" not in op.substitute:
        return []
    inner = operands_of(context.text, span)
    if len(inner) != len(op.parameters):
        return []
    text = op.substitute.format(*[term(i) if len(inner) == 1 or is_atom(i) or re.fullmatch(
        r"[\d.]+", i) else f"({i})" for i in inner])
    if len(inner) == 1:
        text = text.replace(f"{op.name}({term(inner[0])})",
                            f"{head_of(context.text, span)}({inner[0]})")
    return [Fix(text, (*span, grouped(context.text, span, text)))]


def _numpy(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to drop `np.` from a call, or the whole `np.array(...)`."""
    span = reason.span
    if span is None or not context.text.startswith("np.", span[0]):
        return []
    call = context.text[span[0] + 3:span[1]]
    arguments = arguments_of(context.text, span)
    if head_of(context.text, span) in ("np.array", "np.asarray") and arguments:
        return [unwrapped(context, span, arguments[0])]
    return [Fix(call, (span[0], span[0] + 3, ""))]


def state(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose a plain binding for a declaration or assignment that makes a variable's state."""
    how = getattr(reason.abouts[0][OP], "how", "") if reason.abouts else ""
    line = context.outline.at(reason.span[0]) if reason.span is not None else None
    if line is None:
        return []
    statement = context.text[line.first:line.last]
    if how == "var":
        found = re.match(r"var\s+(\w+)\s*(:[^=]*)?=", statement)
        if found is None:
            return []
        edits = [(line.first, line.first + found.start(1), "")]
        if found[2]:
            edits.append((line.first + found.start(2), line.first + found.end(2), " "))
        return [context.changed(*edits)]
    found = re.match(r"(\w+)\s*\.\s*(assign(?:_add|_sub)?)\s*\(", statement)
    if found is None or not statement.endswith(")"):
        return []
    sign = {"assign": "", "assign_add": "+ ", "assign_sub": "- "}[found[2]]
    value = statement[found.end():-1].strip()
    text = f"{found[1]} = {found[1]} {sign}{term(value)}" if sign else f"{found[1]} = {value}"
    return [context.changed((line.first, line.last, text))]


def declared(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose a plain binding in place of `const c = e` with a computed `e`, or to drop `np.`."""
    if getattr(reason.abouts[0][OP], "how", "") not in ("const", "input"):
        return _numpy(context, reason)
    line = context.outline.at(reason.span[0]) if reason.span is not None else None
    statement = context.text[line.first:line.last] if line is not None else ""
    found = re.match(r"(?:const|input)\s+(\w+)\s*(:[^=]*)?=", statement)
    if found is None or line is None:
        return []
    edits = [(line.first, line.first + found.start(1), "")]
    if found[2]:
        edits.append((line.first + found.start(2), line.first + found.end(2), " "))
    return [context.changed(*edits)]


def into_block(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to move lines into the block of the tape, or to make the tape persistent if they
    stand there after its one answer.
    """
    head = context.block()
    sites = [context.site(entry) for entry in reason.abouts]
    if head is not None and any(site in context.outline.inside(head) for site in sites):
        return persistent(context, reason)  # there already, but after the one answer
    return moved_into_block(context, reason)


def without_reset(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to remove the reset."""
    line = context.outline.at(reason.span[0]) if reason.span is not None else None
    if line is None or not line.alone:
        return []
    return [Fix(f"remove {context.text[line.first:line.last]}", (line.start, line.end, ""))]


def persistent(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose `persistent=true` for the tape."""
    window = context.gap.window
    if window is None or window.span is None:
        return []
    head = context.text[window.span[0]:window.span[1]]
    found = re.search(r"persistent\s*=\s*false", head)
    if found is not None:
        return [context.changed((window.span[0] + found.start(), window.span[0] + found.end(),
                                 "persistent=true"))]
    end = window.span[0] + len(head.rstrip().rstrip(":").rstrip())
    return [context.changed((end, end, ", persistent=true"))]


def swap_accumulators(context: FixContext, reason: Reason) -> list[Fix]:
    """Propose to exchange the names of the two accumulators in `inner.jvp(outer.jvp(y))`."""
    places = [reason.span, *[span for span, _ in reason.related]]
    heads = []
    for place in places[:2]:
        found = re.match(r"(\w+)\s*\.\s*jvp\b", context.text[place[0]:]) if place else None
        if found is None:
            return []
        heads.append((place[0], place[0] + len(found[1]), found[1]))
    if len(heads) != 2:
        return []
    (a, b, first), (c, d, second) = heads
    return [context.changed((a, b, second), (c, d, first))]
