"""Why a derivative that the command line asked for is None."""

from __future__ import annotations

from gradcli import calculus
from gradcli.answers.ask import Ask, tensors_of
from gradcli.explain.missing.of_file import of_named
from gradcli.lang.targets import parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.explain.reason import Reason
    from gradcli.lang.run import Binding
    from gradcli.lang.targets import Target
    from gradcli.program import Program


def causes(ask: Ask, target: Target, binding: Binding) -> list[Reason]:
    """The causes, the one to mend first on top, each with a fix that was tried if it can be."""
    run = ask.logged()

    def again(changed: Program) -> tuple[list[Any], Any]:
        """The same question to a changed program: the target's values and the gradient."""
        other = Ask(changed, at=ask.at, of=ask.of, wrt=ask.wrt, watch=ask.watch, tape=ask.tape,
                    tf=ask.tf, max_steps=ask.max_steps, max_bytes=ask.max_bytes)
        assert run.log is not None
        found = run.log.trial(changed.source.text, lambda: other.run(explain=False))
        other.on_tape, other.said = found.on_tape, found.watched
        with found.record:
            made = other.same_target(found, target)
            (source,) = changed.sources(found, [binding.name])
            values = [t.value for t in tensors_of(made)]
            (g,) = calculus.gradient(parts(made), [other.source(source)])
        return values, g

    late = {}
    if ask.tf and binding.kind != "variable" and binding.name not in ask.watch:
        late = {i: (when, None if place is None else (place[2], place[3]))
                for i, (when, place) in run.watched.items()}
    return of_named(ask.program, ask.at, run, target, binding, again, tape=ask.tape,
                    unwatched=not ask.watched(binding), late=late)
