"""What to write instead, for each cause: changes of the program's text, the smallest first.

A proposal is only that: `trials` finds out whether it helps. A cause without an entry in
`PROPOSALS` has no mechanical mend; its advice is a sentence in `ADVICE`, or none.
"""

from __future__ import annotations

import re

from gradcli.explain.missing import moves
from gradcli.explain.missing.scene import place_of
from gradcli.explain.naming import LONGEST
from gradcli.explain.reason import Fix
from gradcli.explain.written import arguments_of, called, grouped, is_atom, operands_of, term
from gradcli.ops.values import dtype_of, is_float
from gradcli.tape.record import ANS, IDS, OP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcli.errors import Span
    from gradcli.explain.missing.moves import Ground
    from gradcli.explain.reason import Edit, Reason
    from gradcli.tape.record import Entry

    Proposals = Callable[[Ground, Reason], list[Fix]]

ADVICE = {
    "path-custom-none": "return a gradient for this argument",
    "path-dtype-cast": "keep it a float",
    "path-gradient-not-recorded": "move the line into the block of {tape}",
    "path-left-engine": "use the operation without np.",
    "path-outside-tape": "move the line into the block of {tape}",
    "path-reset": "reset before the line",
    "path-state-write": "bind a new name to it, without var or assign",
    "path-value-independent": "use its values, not only its shape",
    "path-step-function": "ask for 0: --unconnected zero",
    "path-stop-gradient": "remove stop_gradient",
    "path-stop-recording": "move the line out of the block",
    "source-auto-watch-off": "{tape}.watch({source})",
    "source-condition-only": "a smooth gate, such as sigmoid(k*(a - b)) for a > b",
    "source-constant-unwatched": "{tape}.watch({source})",
    "source-downstream": "swap target and source",
    "source-dtype": "write a number with a point: 3.0",
    "source-in-dead-code": "let that code run",
    "source-is-copy": "ask for the original",
    "source-nontrainable": "{tape}.watch({source})",
    "source-not-picked": "a smooth choice, such as softmax weights; max(a, b) of the language gives"
                         " 0 instead",
    "source-not-watched-on-this-tape": "{tape}.watch({source})",
    "source-rebound": "give the new value a name of its own",
    "source-shadowed": "rename one of the two",
    "source-untaken-branch": "where(c, a, b) computes both branches",
    "source-after-target": "compute {target} after {source}",
    "source-watch-reset": "watch it again after the reset",
    "source-watched-late": "watch it before the line that uses it",
    "target-consumed": "write persistent=true",
    "target-dtype": "keep it a float",
    "target-empty": "put a target into the list",
    "forward-wrong-order": "ask the inner one first: outer.jvp(inner.jvp(y))",
}


def propose(ground: Ground, reason: Reason) -> list[Fix]:
    """What may mend one cause, the smallest change first; advice, which nobody can try, last."""
    proposals = PROPOSALS.get(reason.code)
    found = proposals(ground, reason) if proposals is not None else []
    if any(not fix.edits for fix in found):
        return found
    advice = OWN_ADVICE.get(reason.code, _advice)(ground, reason)
    return [*found, Fix(advice)] if advice else found


def _advice(ground: Ground, reason: Reason) -> str | None:
    subject = ground.subject
    tape = subject.window.name if subject.window is not None else ""
    text = ADVICE.get(reason.code)
    if text is None:
        return None
    if "{tape}.watch" in text and not tape:
        return f"--watch {subject.source}"
    return text.format(tape=tape or "the tape", source=subject.source,
                       target=subject.target)


def _unrelated(ground: Ground, reason: Reason) -> str | None:
    names = [name for name in reason.about or () if name != ground.subject.target]
    if not names:
        return None
    return f"ask for what {ground.subject.target} depends on: {', '.join(names[:4])}"


def _substitute(ground: Ground, reason: Reason) -> str | None:
    """The row's substitute, with the user's own operands if they are short."""
    op, span = reason.abouts[0][OP], place_of(reason.abouts[0])
    if not op.substitute:
        return None
    parts = operands_of(ground.text, span) if span is not None else []
    if not parts or sum(map(len, parts)) > LONGEST or any("\n" in part for part in parts):
        parts = [p.lstrip("*") for p in op.parameters] or ["a", "b"]
    parts += ["a", "b"][len(parts):]
    return f"a smooth substitute: {op.substitute.format(*map(term, parts))}"


def _original(ground: Ground, reason: Reason) -> str | None:
    return f"ask for {reason.about or 'the original'} itself"


def _float(ground: Ground, reason: Reason) -> str | None:
    # Numbers of a file are floats, unless something made them integers.
    return f"make {ground.subject.source} a float"


def _meant(ground: Ground, reason: Reason) -> str | None:
    return f"did you mean {reason.about}?" if reason.about else None


def _arguments(ground: Ground, reason: Reason) -> str | None:
    names = [ground.scene.name(i) for entry in reason.abouts[:1] for i in entry[IDS]]
    known = [name for name in names if name]
    return f"ask for {' or '.join(known)} instead" if known else (
        "ask for the gradient in its arguments instead")


OWN_ADVICE: dict[str, Callable[[Ground, Reason], str | None]] = {
    "source-dtype": _float, "source-is-copy": _original, "source-unrelated": _unrelated,
    "path-nondifferentiable": _substitute,
    "path-custom-internal": _arguments, "target-constant": _meant}


# --- the source -------------------------------------------------------------------------------


def _constant(ground: Ground, reason: Reason) -> list[Fix]:
    subject = reason.about or ground.subject
    found = _watch(ground, reason)
    if subject.kind == "constant" and (subject.window is None or subject.window.automatic) and (
            "keyword" in subject.spans):
        found.append(ground.changed((*subject.spans["keyword"], "var")))
    return found


def _nontrainable(ground: Ground, reason: Reason) -> list[Fix]:
    flag = (reason.about or ground.subject).spans.get("trainable")
    return [*_without_option(ground, flag), *_watch(ground, reason)]


def _automatic(ground: Ground, reason: Reason) -> list[Fix]:
    window = ground.subject.window
    option = window.option if window is not None else None
    return [*_watch(ground, reason), *_without_option(ground, option)]


def _without_option(ground: Ground, option: Span | None) -> list[Fix]:
    """An attribute dropped with the comma before it."""
    if option is None:
        return []
    comma = ground.text.rfind(",", 0, option[0])
    return [ground.changed((comma, option[1], ""))] if comma >= 0 else []


def _watch(ground: Ground, reason: Reason) -> list[Fix]:
    edit = moves.watch(ground, reason.about or ground.subject)
    if edit is None:
        return []
    window = ground.subject.window
    assert window is not None
    return [Fix(f"{window.name}.watch({ground.subject.source})", edit)]


def _watch_late(ground: Ground, reason: Reason) -> list[Fix]:
    edits = moves.watch_earlier(ground, reason)
    watch = reason.related[0][0] if reason.related else None
    line = ground.outline.at(watch[0]) if watch is not None else None
    use = ground.outline.at(reason.span[0]) if reason.span is not None else None
    if not edits or line is None or use is None:
        return []
    return [Fix(f"move {ground.text[line.first:line.last]} above line {ground.row(use)}", *edits)]


def _watch_again(ground: Ground, reason: Reason) -> list[Fix]:
    line = ground.outline.at(reason.span[0]) if reason.span is not None else None
    window = ground.subject.window
    if line is None or window is None or not line.alone or not ground.has_name():
        return []
    call = f"{window.name}.watch({ground.subject.source})"
    return [Fix(f"{call} after the reset", ground.outline.behind(call, line))]


def _dtype(ground: Ground, reason: Reason) -> list[Fix]:
    spans, subject = ground.subject.spans, ground.subject
    if "type" not in spans:
        return _uncast(ground, reason.about) if reason.about is not None else _plain(ground)
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
    """A number that int() was called for, without it."""
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
    return [ground.changed(*_unwrapped(ground, span, arguments[0]).edits)]


def _word(ground: Ground, span: Span) -> int:
    found = re.match(r"\w+", ground.text[span[0]:])
    return len(found[0]) if found else 0


def _copy(ground: Ground, reason: Reason) -> list[Fix]:
    edit = _in_question(ground, ground.subject.source, reason.about)
    return [Fix(f"ask for {reason.about} itself", edit)] if edit is not None else []


def _in_question(ground: Ground, old: str, new: str | None) -> Edit | None:
    """One name in the question that was asked replaced by another."""
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


def _rebound(ground: Ground, reason: Reason) -> list[Fix]:
    """`x = x + e` of a variable means `x.assign_add(e)`; else the new value needs a name."""
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


def _swap(ground: Ground, reason: Reason) -> list[Fix]:
    asked = ground.subject.asked_at
    arguments = arguments_of(ground.text, asked) if asked is not None else []
    if len(arguments) < 2:
        return [Fix("swap target and source: --of "
                    f"{ground.subject.source} --wrt {ground.subject.target}")]
    (a, b), (c, d) = arguments[:2]
    first, second = ground.text[a:b], ground.text[c:d]
    return [ground.changed((a, b, second), (c, d, first))]


def _rename(ground: Ground, reason: Reason) -> list[Fix]:
    """A parameter that hides a name under another name, in the head only: then the name is meant
    that was asked for.
    """
    if reason.span is None or not reason.about:
        return []
    other = ground.free_name(reason.about)
    line = ground.outline.at(reason.span[0])
    head = ground.text[line.first:line.last].partition("=")[0].strip() if line is not None else ""
    shown = head.replace(reason.about, other, 1) if head.count(reason.about) == 1 else other
    return [Fix(f"rename one of the two: {shown}", (*reason.span, other))]


def _both_arms(ground: Ground, reason: Reason) -> list[Fix]:
    edit = moves.where_for(ground, reason)
    return [] if edit is None else [Fix(edit[2].strip(), edit)]


# --- the path ---------------------------------------------------------------------------------


def _stop_gradient(ground: Ground, reason: Reason) -> list[Fix]:
    span = reason.span
    arguments = arguments_of(ground.text, span) if span is not None else []
    if len(arguments) != 1:
        return []
    return [_unwrapped(ground, span, arguments[0])]


def _unwrapped(ground: Ground, span: Span, inner: Span) -> Fix:
    """Only what is in a call, in the call's brackets where it needs some."""
    (first, last), (start, end) = span, inner
    text = ground.text[start:end]
    if "\n" in ground.text[first:last] or grouped(ground.text, span, text) != text:
        start, last = ground.text.rindex("(", first, start), ground.text.rindex(")", end, last)
    rest = [(end, last, "")] if ground.text[end:last].strip() else []
    return Fix(text, (first, start, ""), *rest)


def _cast(ground: Ground, reason: Reason) -> list[Fix]:
    return _uncast(ground, reason.abouts[0])


def _target_dtype(ground: Ground, reason: Reason) -> list[Fix]:
    return _uncast(ground, reason.about) if reason.about is not None else []


def _uncast(ground: Ground, entry: Entry) -> list[Fix]:
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
    return [_unwrapped(ground, span, arguments[0]),
            Fix(through, (*span, grouped(ground.text, span, through)))]


def _step(ground: Ground, reason: Reason) -> list[Fix]:
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
        return [_unwrapped(ground, span, arguments[0])]
    return [Fix(call, (span[0], span[0] + 3, ""))]


def _state(ground: Ground, reason: Reason) -> list[Fix]:
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


def _declared(ground: Ground, reason: Reason) -> list[Fix]:
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


def _into_block(ground: Ground, reason: Reason) -> list[Fix]:
    head = ground.block()
    sites = [ground.site(entry) for entry in reason.abouts]
    if head is not None and any(site in ground.outline.inside(head) for site in sites):
        return _persistent(ground, reason)  # there already, but after the one answer
    return moves.into_block(ground, reason)


def _out_of_pause(ground: Ground, reason: Reason) -> list[Fix]:
    return moves.out_of_pause(ground, reason)


def _question_into_block(ground: Ground, reason: Reason) -> list[Fix]:
    return moves.question_into_block(ground, reason)


def _without_reset(ground: Ground, reason: Reason) -> list[Fix]:
    line = ground.outline.at(reason.span[0]) if reason.span is not None else None
    if line is None or not line.alone:
        return []
    return [Fix(f"remove {ground.text[line.first:line.last]}", (line.start, line.end, ""))]


def _persistent(ground: Ground, reason: Reason) -> list[Fix]:
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


def _swap_accumulators(ground: Ground, reason: Reason) -> list[Fix]:
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


PROPOSALS: dict[str, Proposals] = {
    "forward-wrong-order": _swap_accumulators,
    "path-dtype-cast": _cast,
    "path-gradient-not-recorded": _question_into_block,
    "path-left-engine": _declared,
    "path-outside-tape": _into_block,
    "path-reset": _without_reset,
    "path-state-write": _state,
    "path-step-function": _step,
    "path-stop-gradient": _stop_gradient,
    "path-stop-recording": _out_of_pause,
    "source-auto-watch-off": _automatic,
    "source-constant-unwatched": _constant,
    "source-downstream": _swap,
    "source-dtype": _dtype,
    "source-is-copy": _copy,
    "source-nontrainable": _nontrainable,
    "source-not-watched-on-this-tape": _watch,
    "source-rebound": _rebound,
    "source-shadowed": _rename,
    "source-untaken-branch": _both_arms,
    "source-watch-reset": _watch_again,
    "source-watched-late": _watch_late,
    "target-consumed": _persistent,
    "target-dtype": _target_dtype,
}
