"""What can be prepared: the tensors that answer a question, and how their values are given.

Each question is one function that is asked in two ways: as the program itself answers, and recorded
(`emit`), so that what ran answers at other points too.
"""

from __future__ import annotations

from gradcli import calculus
from gradcli.execute.recorded import Unrecorded
from gradcli.lang.calls import as_tensor
from gradcli.lang.structures import is_number
from gradcli.lang.targets import own, parts, plain_structure
from gradcli.tape.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gradcli.lang.run import Binding, Run
    from gradcli.lang.targets import Target

    # What the values that were found are given as.
    Form = Callable[[Sequence[Any]], Any]
    # (target, sources, run, names) to tensors, plain values or None, and the form of their values;
    # names: what other points give otherwise if the answer is recorded for them, else None.
    Question = Callable[
        [Target, Sequence[Binding], Run, Sequence[str] | None], tuple[list[Any], Form]]


def value_of_target(target: Target, emit: bool) -> Any:
    """A target as one tensor; not emitted, as its value, which may be a structure."""
    value = target.tensor
    if not emit:
        return own(plain_structure(value))
    if isinstance(value, list) and value and all(is_number(item) for item in value):
        return as_tensor(value)
    if isinstance(value, (list, dict)):
        raise Unrecorded
    return value.read() if isinstance(value, Tensor) else plain_structure(value)


def gradient(target: Target, sources: Sequence[Binding], run: Run, names: Sequence[str] | None
              ) -> tuple[list[Any], Form]:
    emit = names is not None
    value = value_of_target(target, emit)
    found = calculus.gradient(parts(target), [run.source(s) for s in sources], emit=emit)
    return [value, *found], _by_name(sources)


def _by_name(sources: Sequence[Binding]) -> Form:
    names = [s.name for s in sources]
    return lambda values: (values[0], dict(zip(names, values[1:], strict=True)))
