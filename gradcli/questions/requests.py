"""The requests for derivatives that a file makes by itself, with the names and the values of their
operands then.
"""

from __future__ import annotations

from gradcli.engine.record.record import OUT, span_of
from gradcli.engine.record.tensor import Tensor, flatten
from gradcli.engine.record.variable import Variable
from gradcli.explain.missing import file_scene
from gradcli.lang.blame import InstructionText
from gradcli.lang.running.calls import NoGradient, plain_structure
from gradcli.lang.running.run import Binding
from gradcli.lang.running.tapes import FileTape
from gradcli.questions.path import text_at
from gradcli.questions.plain_data import is_finite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.explain.missing.scene import Window
    from gradcli.lang.running.log import LoggedRequest
    from gradcli.lang.running.run import Run
    from gradcli.questions.question import Question


def chosen_requests(logged: Run) -> list[LoggedRequest]:
    """Return for each location the first question whose answer is None, else the first whose answer
    is not finite or doubtful, else the last. A slope `f'(x)` with an answer has no target of its
    own.
    """
    chosen: dict[Span, tuple[int, LoggedRequest]] = {}
    for request in logged.log.requests if logged.log is not None else ():
        found = flatten(request.found)
        missing = any(isinstance(g, NoGradient) for g in found)
        bad = 2 if missing else int(any(
            isinstance(g, Tensor) and (g.id in logged.doubtful or not is_finite(g.value))
            for g in found))
        worst, _ = chosen.get(request.span, (0, None))
        if (request.kind != "prime" or missing) and (bad > worst or bad == worst == 0):
            chosen[request.span] = bad, request
    return [request for _, request in chosen.values()]


def answered(request: LoggedRequest) -> Iterator[tuple[list[Any], list[tuple[Any, Any]]]]:
    """Yield (targets, (source, answer) ...) of a question."""
    targets, sources = flatten(request.targets), flatten(request.sources)
    found = flatten(request.found)
    if request.kind == "jvp" and len(found) == len(targets):
        for target, g in zip(targets, found, strict=True):
            yield [target], [(source, g) for source in sources[:1]]
    elif len(found) == len(sources):
        yield targets, list(zip(sources, found, strict=True))
    else:
        gap = next((g for g in found if isinstance(g, NoGradient)), None)
        yield targets, [(source, gap or request.found) for source in sources[:1]]


def kind_of(request: LoggedRequest) -> str:
    """Return what was asked for: a gradient with weights is a `vjp`."""
    if request.kind in ("gradient", "grad"):
        count, named = request.arguments()
        return "vjp" if count > 2 or "output_gradients" in named else "gradient"
    return request.kind


def window_of(request: LoggedRequest) -> Window | None:
    """Return what the tape of a question had recorded by then."""
    tape = request.tape
    return file_scene.window_of(tape, request.last) if isinstance(tape, FileTape) else None


def states_of(logged: Run, source: Any, request: LoggedRequest) -> set[int]:
    """Return the ids of a source; of a variable those of its states up to the question."""
    if not isinstance(source, Variable):
        return {source.id} if getattr(source, "id", None) is not None else set()
    states = logged.log.states if logged.log is not None else []
    found = {source.origin().id, *[s.after for s in states
                                   if s.name == source.name and s.after < request.last]}
    return {i for i in found if i is not None}


def value_then(logged: Run, value: Any, request: LoggedRequest) -> Any:
    """Return a value as it was at a question: of a variable that of its last state before."""
    if not isinstance(value, Variable):
        return plain_structure(value)
    ids = states_of(logged, value, request)
    states = logged.log.states if logged.log is not None else []
    return next((s.value for s in reversed(states) if s.after in ids), value.origin().value)


def binding_of(logged: Run, states: Collection[int], name: str, source: Any) -> Binding:
    known = next((logged.named[i] for i in sorted(states) if i in logged.named), None)
    return known or Binding(name, source, (0, 0), "computed")


def names_of(question: Question, logged: Run, request: LoggedRequest, which: int,
             values: Sequence[Any], otherwise: str) -> list[str]:
    """Return what the targets (which = 0) or sources (1) of a question are called: as written there
    if that is a name, or all there is.
    """
    if request.kind == "prime":
        return [_of_prime(question, logged, request)[which] or otherwise]
    call = InstructionText(question.program.source.text, request.at)
    span = _argument(call, which)
    parts = [] if span is None else [text_at(question, item) for item in call.items(span)]
    if len(parts) == len(values):
        return [part if part.isidentifier() else _called(question, logged, value, part)
                for part, value in zip(parts, values, strict=True)]
    return [_called(question, logged, value, otherwise) for value in values]


def _of_prime(question: Question, logged: Run, request: LoggedRequest) -> tuple[str, str]:
    """Return target and source of `f'(2.0)`: `f(2.0)`, and the argument, or f's parameter if that
    is no name.
    """
    text, name = text_at(question, request.span), request.at[1][0]
    span = InstructionText(question.program.source.text, request.at).argument(0)
    argument = "" if span is None else text_at(question, span)
    assert logged.log is not None
    parameter = "".join([f.parameters[0] for f in logged.log.called.values() if f.name == name])
    return text.replace("'", "", 1), argument if argument.isidentifier() else parameter


def written(question: Question, request: LoggedRequest, which: int) -> str | None:
    """Return the name that stands for the targets (0) or sources (1) of a question, if it is one
    name.
    """
    span = _argument(InstructionText(question.program.source.text, request.at), which)
    text = "" if span is None else text_at(question, span)
    return text if text.isidentifier() else None


def _argument(call: InstructionText, which: int) -> Span | None:
    """Return the span of the targets (0) or sources (1) of a question."""
    for name in (("target", "primals"), ("sources", "source"))[which]:
        if name in call.keywords:
            return call.argument(name)
    return call.argument(which) if which < call.count else None


def _called(question: Question, logged: Run, value: Any, otherwise: str) -> str:
    """Return the first name of a value; else what stands where it was made."""
    if isinstance(value, Variable):
        return value.name
    id = getattr(value, "id", None)
    assert logged.log is not None
    if id is None:
        return otherwise
    if id in logged.named:
        return logged.named[id].name
    for other in logged.log.requests:
        if any(getattr(g, "id", None) == id for g in flatten(other.found)):
            return text_at(question, other.span)
    maker = next((e for e in reversed(logged.record.history()) if e[OUT] == id), None)
    span = None if maker is None else span_of(maker)
    return otherwise if span is None else text_at(question, span)
