"""Why a tape of a file knows no path that is there: what it watched, when it was recording.

The run that is explained recorded everything; the tape remembers what it saw of that.
"""

from __future__ import annotations

from gradcli.explain.reason import Reason
from gradcli.sweeps import reach
from gradcli.tape.record import IDS, OP, OUT, PLACE
from gradcli.tape.variable import Variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.errors import Span
    from gradcli.lang.file_tape import FileTape
    from gradcli.lang.run import Binding, Run
    from gradcli.program import Program, Target
    from gradcli.tape.record import Entry, Segment
    from gradcli.tape.tensor import Tensor


def reasons(run: Run, tape: FileTape, binding: Binding, source: Tensor, target: Tensor
            ) -> list[Reason]:
    """The causes, the one to mend first on top; empty if the tape saw the whole path."""
    history = run.record.history()
    window, watched, late = tape.remembered()
    found: list[Reason] = []
    ids, _ = reach.on_tape(window, watched, late)
    origin = source.origin() if isinstance(source, Variable) else source
    own = {i for v, states in tape.saw.items() if v is source for i in states}
    own |= {i for i in (source.id, origin.id) if i is not None}
    if target.id is not None:
        missing = _missing(history, window, own, target.id)
        if missing is not None:
            found.append(_where(run, tape, missing, target))
    if own.isdisjoint(ids):
        # A trainable variable needs no watch: what it lacks is a read that was recorded.
        if binding.kind != "variable" or not tape.watch_accessed or target.id in own:
            found.append(_unwatched(run, tape, binding, source))
    elif not found and not own.isdisjoint(late):
        found.append(_late(tape, binding, history, own))
    return found


def asked(program: Program, at: Mapping[str, Any], name: str | None, target: Target,
          binding: Binding) -> list[Reason]:
    """The causes of a None that the command line got from a tape of the file, by default the last
    to close: the program runs again, keeping everything.
    """
    from gradcli.explain import none

    run = program.logged_run(at)
    tape = run.tapes[name] if name is not None else next(reversed(run.tapes.values()), None)
    with run.record:
        unnamed = target.name == program.unnamed() and target.name not in run.bindings
        (again,) = program.targets(run, [] if unnamed else [target.name])
        (source,) = program.sources(run, [binding.name])
        return none.reasons(none.Question(program, at, run, again, source, False, tape))


def _missing(history: Segment, window: Segment, own: set[int], target: int) -> Entry | None:
    """The entry nearest the target, on a way from the source, that the tape did not record."""
    reached = reach.active(history, own)
    wanted = {target}
    inside = {entry[OUT] for entry in window}
    for entry in reversed(history):
        if entry[OUT] in wanted and entry[OUT] in reached and entry[OUT] not in own:
            if entry[OUT] not in inside:
                return entry
            wanted.update(i for i in entry[IDS] if i is not None)
    return None


def _span(entry: Entry) -> Span | None:
    place = entry[PLACE]
    return None if place is None else (place[2], place[3])


def _where(run: Run, tape: FileTape, entry: Entry, target: Tensor) -> Reason:
    """What the tape was doing when an operation on the path ran."""
    name, made = tape.name, entry[OUT]
    what = f"`{entry[OP].name}` ran"
    for kind, start, end, span in tape.pauses:
        if kind == "stop_recording" and start < made < end:
            return Reason("path-stop-recording", f"{what} while `{name}` was not recording",
                          _span(entry), fix="move the line out of the block",
                          related=[(span, "recording stops here")])
        if kind == "reset" and made < end:
            return Reason("path-reset", f"{what} before `{name}` was reset and forgot it",
                          _span(entry), fix="reset before the line",
                          related=[(span, "reset here")])
    if any(i in run.record.derived for i in reach.ancestry(run.record.history(), made)) and (
            target.id in run.record.derived):
        return Reason("path-gradient-not-recorded", "the first gradient was computed outside"
                      f" `{name}`, which knows nothing of it", _span(entry),
                      fix=f"move the line into the block of {name}",
                      related=[(tape.span, f"`{name}` opens here")])
    return Reason("path-outside-tape", f"{what} outside `{name}`", _span(entry),
                  fix=f"move the line into the block of {name}",
                  related=[(tape.span, f"`{name}` opens here")])


def _unwatched(run: Run, tape: FileTape, binding: Binding, source: Tensor) -> Reason:
    name = binding.name
    fix = f"{tape.name}.watch({name})"
    if isinstance(source, Variable) or binding.kind in ("variable", "nontrainable"):
        d = binding.declaration
        if binding.kind == "nontrainable" and d is not None and "trainable" in d.spans:
            return Reason("source-nontrainable", f"{name} is declared trainable=false, so nothing"
                          " watches it", d.spans["trainable"], fix=fix)
        if not tape.watch_accessed:
            return Reason("source-auto-watch-off", f"`{tape.name}` watches no variable by itself",
                          tape.spans.get("watch_accessed_variables", tape.span), fix=fix)
    for other in run.tapes.values():
        if other is not tape and source.id in other.remembered()[1]:
            return Reason("source-not-watched-on-this-tape",
                          f"{name} is watched by `{other.name}`, not by `{tape.name}`",
                          tape.span, fix=fix)
    first = run.bindings.get(name)
    if binding.kind == "computed" and first and first[0].kind == "variable":
        return Reason("source-rebound", f"{name} was bound to a new value, which is no variable",
                      binding.span, fix=f"{name}.assign(...) changes the variable",
                      related=[(first[0].span, "the variable")])
    if binding.kind == "variable":
        return Reason("source-constant-unwatched", f"nothing in the block of `{tape.name}` reads"
                      f" {name}, so it is not watched", tape.span, fix=fix)
    return Reason("source-constant-unwatched", f"{name} is no trainable variable and `{tape.name}`"
                  " does not watch it", binding.span if binding.span != (0, 0) else tape.span,
                  fix=fix)


def _late(tape: FileTape, binding: Binding, history: Segment, own: set[int]) -> Reason:
    use = next((entry for entry in history if not own.isdisjoint(
        i for i in entry[IDS] if i is not None)), None)
    related = [] if use is None or _span(use) is None else [(_span(use), "used before")]
    return Reason("source-watched-late", f"{binding.name} was watched after it had been used",
                  tape.watch_span(own) or tape.span, fix="watch it before the line that uses it",
                  related=related)  # type: ignore[arg-type]
