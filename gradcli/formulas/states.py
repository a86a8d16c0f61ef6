"""States of variables: a formula has one value for a name."""

from __future__ import annotations

from gradcli.answers.ask import tensors_of
from gradcli.answers.states import is_link
from gradcli.errors import Diagnostic, GradcliError
from gradcli.execute.recorded import ancestors
from gradcli.ops.lazy import np
from gradcli.tape.record import IDS, OUT, VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.lang.run import Binding
    from gradcli.lang.targets import Target
    from gradcli.program import Program
    from gradcli.tape.record import Entry


class States:
    """What targets read of variables.

    values: name to the one value that is read. later: id of a state that is not a variable's first
    to its name.
    """

    __slots__ = ("later", "values")

    def __init__(self, values: dict[str, Any], later: dict[int, str]) -> None:
        self.values = values
        self.later = later


def states_read(program: Program, history: Sequence[Entry], bindings: Sequence[Binding],
                targets: Sequence[Target]) -> States:
    """The states of variables that targets read. Raises E0804 where there are several."""
    ids = ancestors(history, [t.id for target in targets for t in tensors_of(target)])
    firsts = {b.value.id: b for b in bindings if b.kind in ("variable", "nontrainable")}
    links = {e[OUT]: firsts[e[IDS][0]] for e in history if e[OUT] in ids and len(e[IDS]) == 1
             and e[IDS][0] in firsts and is_link(e, e[IDS][0])}
    found: dict[str, dict[int, Any]] = {}
    for entry in history:
        if entry[OUT] not in ids or entry[OUT] in links:
            continue
        for i, value in zip(entry[IDS], entry[VALUES], strict=True):
            b = links.get(i) if i in links else firsts.get(i)
            if i is not None and b is not None:
                found.setdefault(b.name, {})[i] = value
    made = States({}, {})
    for name, states in found.items():
        first, *others = states.items()
        another = [i for i, value in others if not np.array_equal(value, first[1])]
        if another:
            from gradcli.tape.record import span_of

            b = next(b for b in bindings if b.name == name)
            assigned = next((span_of(e) for e in history if e[OUT] == another[0]), None)
            raise GradcliError(Diagnostic(
                "E0804", f"`{name}` has {len(states)} values on the way to the target, and a"
                " formula has one value for a name", span=assigned or b.span, source=program.source,
                help=f"bind a new name to what {name} becomes, or ask for numbers"))
        made.values[name] = first[1]
        made.later.update((i, name) for i in states if i in links)
    return made
