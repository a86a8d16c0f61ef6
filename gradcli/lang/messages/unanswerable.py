"""Errors of questions that a program cannot answer: unknown names, and names of things without
value.
"""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.base.similar import nearest
from gradcli.lang.running.calls import kind_of
from gradcli.lang.syntax.code import CONSTANTS
from gradcli.ops.values import dtype_of, is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.lang.running.names import NameCheck
    from gradcli.lang.running.run import Binding, Run
    from gradcli.lang.syntax.code import Function


def no_such_name(source: Source, names: NameCheck, name: str, option: str) -> GradcliError:
    """Return E0204: an option asks for a name that the program does not have."""
    known = list(names.order)
    near = nearest(name, known)
    if name in CONSTANTS:
        help = f"`{name}` is a constant of the language; bind a name of your own to it"
    elif name in names.functions:
        parameters = names.functions[name].parameters
        help = f"it is a function; write a line such as y = {name}({', '.join(parameters)})"
    elif near:
        help = f"did you mean `{near}`?"
    else:
        help = f"its names are {', '.join(known[:8])}" if known else "the file has no names"
    return GradcliError(Diagnostic(
        "E0204", f"{option} names `{name}`, which `{source.name}` does not have",
        span=(0, len(name)), source=Source(name, option), help=help))


def no_such_tape(source: Source, run: Run, name: str) -> GradcliError:
    """Return E0505: --tape asks for a tape that the program does not have."""
    return GradcliError(Diagnostic(
        "E0505", f"`{source.name}` has no tape named `{name}`", span=(0, len(name)),
        source=Source(name, "--tape"), help=f"its tapes are {', '.join(run.tapes)}" if run.tapes
        else "leave out --tape: one tape covers the whole file"))


def no_value(source: Source, binding: Binding) -> GradcliError:
    """Return E0310 for a target that is a tape or an accumulator."""
    return GradcliError(Diagnostic(
        "E0310", f"`{binding.name}` is {_one(binding.kind)}, not a value", span=binding.span,
        source=source, help="name something that is computed"))


def no_number(source: Source, name: str, item: Any, span: Span) -> GradcliError:
    """Return E0310 for a target that is, or holds, neither a number nor a text."""
    return GradcliError(Diagnostic(
        "E0310", f"`{name}` is {kind_of(item)}, which has no value", span=span, source=source,
        help="name a number or a tensor with --of"))


def no_tensor(source: Source, binding: Binding) -> GradcliError:
    """Return E0310 for a source that is a list or a dictionary."""
    return GradcliError(Diagnostic(
        "E0310", f"`{binding.name}` is a structure, not a tensor", span=binding.span,
        source=source, help="name one of its items on a line of its own"))


def takes_no_value(source: Source, binding: Binding) -> GradcliError:
    """Return E0204: a value from outside for a name that is computed, or a tape."""
    kind = binding.kind
    what = kind if kind == "computed" else _one(kind)
    return GradcliError(Diagnostic(
        "E0204", f"`{binding.name}` is {what} and takes no value from outside",
        span=binding.span, source=source, label=f"{what} here",
        help=f"declare it an input: input {binding.name}" if kind == "computed" else
        f"leave {binding.name} out of --at"))


def nothing_to_differentiate(source: Source, run: Run, names: Sequence[str],
                             functions: Mapping[str, Function]) -> GradcliError:
    """Return E0211: none of the default sources, `names`, has a gradient."""
    whole = [n for n in names if n in run.bindings
             and not is_float(run.bindings[n][0].value.value)]
    plain = [n for n, b in run.bindings.items() if b[0].kind in ("literal", "constant")]
    if not run.bindings and not run.results:
        return nothing_to_evaluate(source, functions)
    help = (f"`{whole[0]}` is {_type_of(run.bindings[whole[0]][0].value.value)}; give it a type"
            " that has gradients, or none" if whole
            else f"name one: --wrt {plain[0]}" if plain
            else "write a formula with a variable, such as x^2")
    return GradcliError(Diagnostic(
        "E0211", "there is no variable or input to differentiate with respect to",
        span=run.bindings[(whole or plain)[0]][0].span if whole or plain else (0, 0),
        source=source, help=help))


def nothing_to_evaluate(source: Source, functions: Mapping[str, Function]) -> GradcliError:
    """Return E0210: a program without expression and binding. functions: those it defines."""
    last = list(functions.values())[-1:]
    help = "write an expression such as x^2" if not last else (
        f"it defines `{last[0].name}`; add a line with a formula, such as"
        f" {last[0].name}({', '.join(last[0].parameters)})")
    return GradcliError(Diagnostic(
        "E0210", f"`{source.name}` has nothing to evaluate", span=(0, 0), source=source, help=help))


def _one(kind: str) -> str:
    return f"{'an' if kind[0] == 'a' else 'a'} {kind}"


def _type_of(value: Any) -> str:
    kinds = {"bool": "a truth value", "string": "a text"}
    return kinds.get(dtype_of(value), "an integer")
