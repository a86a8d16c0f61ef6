"""Why a gradient is None: which cause, which line, what to write instead.

`reasons(question)` looks at what ran, in the order of the catalogue: the types of source and
target, then whether any path joins them, then where the path nearest the target is cut, then
whether the source is watched. Codes are those of the catalogue (`source-...`, `path-...`,
`target-...`). A fix that is a change of the text is applied to a copy, run and differentiated
before it is offered: `fix_works` tells.
"""

from __future__ import annotations

from gradcli import calculus
from gradcli.explain.reason import Reason
from gradcli.ops.kinds import FLAT
from gradcli.ops.values import dtype_of, is_float
from gradcli.tape.record import ANS, IDS, OP, OUT, PLACE
from gradcli.tape.tensor import Tensor
from gradcli.tape.variable import Variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.errors import Span
    from gradcli.lang.calls import NoGradient
    from gradcli.lang.file_tape import FileTape
    from gradcli.lang.run import Binding, Run
    from gradcli.program import Program, Target
    from gradcli.tape.record import Entry

    Edit = tuple[int, int, str]


class Question:
    """What was asked: a program at a point, its run, the target and one source; tape: of the file,
    if one of its own was asked.
    """

    __slots__ = ("at", "binding", "program", "run", "tape", "target", "unwatched")

    def __init__(self, program: Program, at: Mapping[str, Any], run: Run, target: Target,
                 binding: Binding, unwatched: bool, tape: FileTape | None = None) -> None:
        self.program = program
        self.at = at
        self.run = run
        self.target = target
        self.binding = binding
        self.unwatched = unwatched
        self.tape = tape


def reasons(q: Question, trials: bool = True) -> list[Reason]:
    """All causes that hold, the one to mend first on top; at least one. trials: try fixes out."""
    source = q.binding.value.origin() if isinstance(q.binding.value, Variable) else q.binding.value
    targets = _tensors(q.target.tensor)
    found: list[Reason] = []
    if not is_float(source.value):
        found.append(_source_dtype(q))
    made = [t for t in targets if t.id is not None]
    if made and all(not is_float(t.value) for t in made):
        found.append(_target_dtype(q, made[0]))
    ancestors = set()
    for t in made:
        ancestors |= calculus.ancestry(t.id)  # type: ignore[arg-type]
    if source.id in ancestors:
        found.extend(_cuts(q, made, ancestors))
    elif not found:
        found.append(_no_path(q, ancestors))
    if q.tape is not None and made:
        from gradcli.explain import tapes

        found.extend(tapes.reasons(q.run, q.tape, q.binding, q.binding.value, made[0]))
    elif q.unwatched:
        found.append(_unwatched(q))
    for reason in found:
        if trials and reason.edit is not None:
            reason.fix_works = _works(q, [r.edit for r in found if r.edit is not None])
    return found


def of_missing(program: Program, at: Mapping[str, Any], run: Run, gap: NoGradient
               ) -> list[Reason]:
    """The causes of a gradient that a file asked for itself, as in `g = grad(floor(x), x)`."""
    from gradcli.lang.run import Binding
    from gradcli.program import Target

    def name_of(tensor: Any, otherwise: str) -> str:
        for name, bindings in run.bindings.items():
            if any(b.value is tensor for b in bindings):
                return name
        known = run.named.get(getattr(tensor, "id", None) or 0)
        return otherwise if known is None else known.name

    source = gap.source
    known = source.origin() if isinstance(source, Variable) else source
    kept = [b for bindings in run.bindings.values() for b in bindings
            if getattr(b.value, "id", None) == known.id]
    binding = kept[0] if kept else run.named.get(
        known.id or 0, Binding("the source", source, (0, 0), "computed"))
    maker = _maker(run, getattr(gap.target, "id", None))
    target = Target(name_of(gap.target, "the target"), gap.target,
                    _span(maker) if maker else (0, 0))
    with run.record:
        # A trial asks for the gradient of a named target; this one stands inside an expression.
        return reasons(Question(program, at, run, target, binding, False, gap.tape), trials=False)


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, list):
        return [t for item in value for t in _tensors(item)]
    return []


# --- the source and the target ----------------------------------------------------------------


def _source_dtype(q: Question) -> Reason:
    dtype = dtype_of(q.binding.value.value)
    d = q.binding.declaration
    kind = {"string": "a text", "bool": "a truth value"}.get(dtype, f"an integer ({dtype})")
    message = f"{q.binding.name} is {kind}; only floating point values have a gradient"
    if d is not None and d.dtype is not None and "type" in d.spans:
        text = q.program.source.text
        start = d.spans["name"][1]
        end = d.spans["type"][1]
        # The type's span may or may not include a shape that follows it.
        if text[end:end + 1] == "[" or d.shape is not None:
            return Reason("source-dtype", message, d.spans["type"],
                          fix=f"declare {d.name} float64")
        if dtype in ("string", "bool"):
            return Reason("source-dtype", message, d.spans["type"], fix="declare a number")
        edit = (start, end, "")
        return Reason("source-dtype", message, d.spans["type"], fix=_changed(q, edit), edit=edit)
    return Reason("source-dtype", message, q.binding.span, fix="write a number with a point: 3.0")


def _target_dtype(q: Question, target: Tensor) -> Reason:
    dtype = dtype_of(target.value)
    maker = _maker(q.run, target.id)
    kind = {"string": "a text", "bool": "a truth value"}.get(dtype, f"an integer ({dtype})")
    span = _span(maker) if maker else q.target.span
    by = f", made by `{maker[OP].name}`" if maker else ""
    return Reason("target-dtype", f"{q.target.name} is {kind}{by}; only floating point values have"
                  " a gradient", span, fix="keep it a float")


def _unwatched(q: Question) -> Reason:
    b = q.binding
    d = b.declaration
    name = b.name
    if b.kind == "nontrainable" and d is not None:
        start, end = d.spans["trainable"]
        comma = q.program.source.text.rfind(",", 0, start)
        edit = (comma, end, "")
        return Reason("source-nontrainable", f"{name} is declared trainable=false, so nothing"
                      " watches it", (start, end), fix=_changed(q, edit), edit=edit)
    related = _first_use(q)
    if b.kind == "constant" and d is not None:
        start = _statement(q, d.spans["name"])[0]
        edit = (start, start + len("const"), "var")
        return Reason(
            "source-constant-unwatched", f"{name} is a constant and nothing watches it",
            (start, d.spans["name"][1]), fix=_changed(q, edit), edit=edit, related=related)
    return Reason("source-constant-unwatched", f"{name} is no trainable variable and nothing"
                  " watches it", b.span, fix=f"--watch {name}", related=related)


def _first_use(q: Question) -> list[tuple[Span, str]]:
    for entry in q.run.record.history():
        if q.binding.value.id in entry[IDS] and entry[PLACE] is not None:
            return [(_span(entry), "first used here")]
    return []


# --- the path ---------------------------------------------------------------------------------


def _cuts(q: Question, targets: Sequence[Tensor], ancestors: set[int]) -> list[Reason]:
    """All cuts on the way, nearest the target first."""
    source = q.binding.value.id
    below = {source}
    for entry in q.run.record.history():
        if any(i in below for i in entry[IDS]):
            below.add(entry[OUT])
    open_ids = {t.id for t in targets if is_float(t.value)}
    found: list[Reason] = []
    seen: set[tuple[int, int]] = set()
    for entry in reversed(q.run.record.history()):
        if entry[OUT] not in open_ids:
            continue
        for k, i in enumerate(entry[IDS]):
            if i is None or i not in below or i not in ancestors:
                continue
            maker = _maker(q.run, i)
            # Behind a cut there may be another one: the walk goes on.
            open_ids.add(i)
            if entry[OP].edge(k) and (maker is None or is_float(maker[ANS])):
                continue
            cut, k = _left_reals(q.run, entry, k, below)
            place = _span(cut) or (0, 0)
            back_to_float = cut[OP].name == "cast_other" and is_float(cut[ANS])
            if place not in seen and not back_to_float:
                seen.add(place)
                found.append(_cut(q, cut, k))
    return found


def _left_reals(run: Run, entry: Entry, k: int, below: set[int]) -> tuple[Entry, int]:
    """The operation on this way that took a real number and gave none: what decides is the
    comparison or cast, not the `where` or `float()` that met its result.
    """
    while True:
        maker = _maker(run, entry[IDS][k])
        if maker is None or is_float(maker[ANS]):
            return entry, k
        entry = maker
        k = next(n for n, i in enumerate(entry[IDS]) if i in below)


def _cut(q: Question, entry: Entry, k: int) -> Reason:
    op = entry[OP]
    span = _span(entry)
    way = f"the path from {q.binding.name} to {q.target.name} is cut by"
    if op.kind == FLAT:
        fix, edit = _replacement(q, entry)
        return Reason("path-step-function", f"{way} `{op.name}`, a step function: its slope is 0"
                      " almost everywhere", span, fix=fix or "ask for 0: --unconnected zero",
                      edit=edit)
    if op.name == "left_engine":
        call = q.program.source.text[span[0]:span[1]] if span else "np."
        inside = call.removeprefix("np.")
        edit = (span[0], span[1], inside) if span and inside != call else None
        name = call.partition("(")[0]
        return Reason("path-left-engine", f"{way} `{name}`, which leaves the tape", span, fix=
                      inside if edit else "use the operation without np.", edit=edit)
    if op.name == "stop_gradient":
        inner = _argument(q, entry)
        edit = (span[0], span[1], f"({inner})") if inner and span else None
        return Reason("path-stop-gradient", f"{way} `stop_gradient`", span,
                      fix=inner or "remove stop_gradient", edit=edit)
    if op.name == "cast_other":
        fix, edit = _straight_through(q, entry)
        return Reason("path-dtype-cast", f"{way} a cast to {dtype_of(entry[ANS])}", span,
                      fix=fix or "keep it a float", edit=edit)
    if op.role(k) == "shape":
        return Reason("path-value-independent", f"{way} `{op.name}`, which uses only the shape",
                      span)
    advice = op.substitute.format("a", "b") if op.substitute else None
    return Reason("path-nondifferentiable", f"{way} `{op.name}`, which has no derivative", span,
                  fix=f"a smooth substitute: {advice}" if advice else None)


def _argument(q: Question, entry: Entry) -> str | None:
    """The first argument of a call, as it is written."""
    span = _span(entry)
    if span is None:
        return None
    text = q.program.source.text[span[0]:span[1]]
    start = text.find("(")
    if start < 0 or not text.endswith(")") or not text[:start].strip().isidentifier():
        return None
    inner = text[start + 1:-1]
    depth = 0
    for k, character in enumerate(inner):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            return inner[:k].strip()
    return inner.strip()


def _replacement(q: Question, entry: Entry) -> tuple[str | None, Edit | None]:
    """The row's substitute with the user's own argument: the same value, with a slope."""
    inner = _argument(q, entry)
    span = _span(entry)
    if inner is None or span is None or len(entry[OP].parameters) != 1:
        return None, None
    plain = inner if inner.replace("_", "").isalnum() else f"({inner})"
    text = entry[OP].substitute.format(plain).replace(f"{entry[OP].name}({plain})",
                                                      f"{entry[OP].name}({inner})")
    return text, (span[0], span[1], f"({text})")


def _straight_through(q: Question, entry: Entry) -> tuple[str | None, Edit | None]:
    inner = _argument(q, entry)
    span = _span(entry)
    if inner is None or span is None or dtype_of(entry[ANS]) not in ("int64", "int32"):
        return None, None
    plain = inner if inner.replace("_", "").isalnum() else f"({inner})"
    call = q.program.source.text[span[0]:span[1]]
    text = f"{plain} + stop_gradient(float({call}) - {plain})"
    return text, (span[0], span[1], f"({text})")


def _no_path(q: Question, ancestors: set[int]) -> Reason:
    name = q.binding.name
    for other in q.run.bindings.get(name, []):
        if (other is not q.binding and isinstance(other.value, Tensor)
                and other.value.id in ancestors):
            return Reason(
                "source-rebound", f"{name} was bound to a new value, and {q.target.name} uses that"
                " one", other.span, fix="give the new value a name of its own",
                related=[(q.binding.span, "the value that was asked for")])
    started = _started_from(q, ancestors)
    if started is not None:
        return started
    branch = _branch(q)
    if branch is not None:
        return branch
    if not any(_has_past(q, t) for t in _tensors(q.target.tensor)):
        return Reason("target-constant", f"{q.target.name} depends on nothing", q.target.span)
    near = _leaf_names(q, ancestors)
    uses = [
        (_span(entry), "used here, but not on the way to the target")
        for entry in q.run.record.history() if q.binding.value.id in entry[IDS]][:3]
    help = f"{q.target.name} depends on {', '.join(near[:4])}" if near else None
    return Reason(
        "source-unrelated", f"{q.target.name} does not depend on {name}", q.binding.span
        if q.binding.span != (0, 0) else q.target.span, fix=help,
        related=[(span, text) for span, text in uses if span is not None])


def _has_past(q: Question, tensor: Tensor) -> bool:
    """Whether an operation made a value, or it came from outside."""
    if _maker(q.run, tensor.id) is not None:
        return True
    return any(b.value is tensor and b.kind != "literal"
               for bindings in q.run.bindings.values() for b in bindings)


def _started_from(q: Question, ancestors: set[int]) -> Reason | None:
    """A variable on the way that took only its first value from the source."""
    for tensor, variable, span in q.run.started:
        if variable.id in ancestors and q.binding.value.id in calculus.ancestry(tensor.id):
            name = next((n for n, b in q.run.bindings.items() if b[0].value is variable), "it")
            if ".assign" in q.program.source.text[span[0]:span[1]]:
                return Reason(
                    "path-state-write", f"{name} takes up {q.binding.name} by an assignment, which"
                    " no tape records", span, fix="make a new tensor of it, without assign")
            return Reason(
                "path-state-write", f"{name} takes its first value from {q.binding.name}, and is a"
                " source of its own from there on", span, fix=f"bind it without var: {name} = ...")
    return None


def _leaf_names(q: Question, ancestors: set[int]) -> list[str]:
    return [
        name for name, bindings in q.run.bindings.items()
        if bindings[0].kind != "computed" and isinstance(bindings[0].value, Tensor)
        and bindings[0].value.id in ancestors]


def _branch(q: Question) -> Reason | None:
    """A branch that did not run, or a condition that decides one: seen in a second, logged run."""
    name = q.binding.name
    run = q.run if q.run.branches is not None else q.program.logged_run(q.at)
    if name not in run.bindings:
        return None
    source = getattr(run.bindings[name][0].value, "id", None)   # a missing gradient has none

    def depends(value: Any) -> bool:
        return isinstance(value, Tensor) and value.id is not None and source in calculus.ancestry(
            value.id)

    with run.record:
        for span, condition, unread in run.branches or ():
            if any(depends(value) for value in unread):
                return Reason(
                    "source-untaken-branch", f"{name} is only in the branch that was not taken",
                    span, fix="expected at this point; where(c, a, b) computes both branches")
            if depends(condition):
                return Reason(
                    "source-condition-only", f"{name} only decides which branch runs; a condition"
                    " has no slope", span,
                    fix="a smooth gate, such as sigmoid(k*(a - b)) for a > b")
    return None


# --- places and fixes -------------------------------------------------------------------------


def _maker(run: Run, id: int | None) -> Entry | None:
    """The entry that made a value: found by bisection, since ids only grow."""
    from gradcli.sweeps.reach import since

    if id is None:
        return None
    entries = run.record.history()
    k = since(entries, id) - 1
    return entries[k] if k >= 0 and entries[k][OUT] == id else None


def _span(entry: Entry) -> Span:
    place = entry[PLACE]
    return (place[2], place[3]) if place is not None else (0, 0)


def _statement(q: Question, span: Span) -> Span:
    """The statement around a place: its beginning and end."""
    for statement in q.program.statements:
        if statement.start <= span[0] < statement.end:
            return statement.start, statement.end
    return span


def _changed(q: Question, edit: Edit) -> str:
    """The statement around an edit, as it reads when the edit is made."""
    text = q.program.source.text
    start, end = _statement(q, (edit[0], edit[1]))
    return (text[start:edit[0]] + edit[2] + text[edit[1]:end]).strip()


def _works(q: Question, edits: Sequence[Edit]) -> bool:
    """Whether the changed text has the same value and a gradient. All causes are mended at once:
    lifting one of two would prove nothing.
    """
    from gradcli.errors import GradcliError
    from gradcli.program import Program, parts, plain_structure
    from gradcli.source import Source

    text = q.program.source.text
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    try:
        program = Program(Source(text, q.program.source.name))
        run = program.run(q.at, explain=False)
        with run.record:
            name = q.target.name
            of = [] if name == q.program.unnamed() and name not in run.bindings else [name]
            target = program.targets(run, of)[0]
            source = program.sources(run, [q.binding.name])[0]
            same = _same(plain_structure(target.tensor), plain_structure(q.target.tensor))
            unwatched = source.kind in ("constant", "nontrainable")
            found = calculus.gradient(parts(target), [source.value])[0]
    except GradcliError:
        return False
    return same and found is not None and not unwatched


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= 1e-12 * max(abs(a), abs(b)) or (a != a and b != b)
    from gradcli.ops.lazy import np

    try:
        return bool(np.allclose(a, b, rtol=1e-12, atol=0.0, equal_nan=True))
    except (TypeError, ValueError):
        return bool(a == b)
