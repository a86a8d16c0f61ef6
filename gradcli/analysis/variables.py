"""Which variables a command works on, and in which order, which fields and directions need: that of
--wrt, else of --at where it names all, else of their declarations, else of the alphabet.
"""

from __future__ import annotations

from gradcli.errors import Diagnostic, GradcliError
from gradcli.lang.interpreter import CONSTANTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.answers.ask import Ask
    from gradcli.lang.run import Run

# What takes variables that do not occur in the formula, and what depends on their order.
FREE = ("taylor", "tangent", "directional", "divergence", "curl", "laplacian")
ORDERED = ("directional", "divergence", "curl")


def declared(ask: Ask) -> list[str]:
    """Variables of --at and --wrt that a program without declarations does not mention: they are
    made its inputs. None where names are without a value, of which one may be written wrong.
    """
    names = ask.program.names
    if names.declared or any(name not in ask.at for name in names.inputs):
        return []
    known = {*names.order, *names.bound, *names.functions, *names.called, *CONSTANTS}
    found = [name for name in dict.fromkeys([*ask.at, *ask.wrt])
             if name not in known and name.isidentifier()]
    for name in found:
        names.order.setdefault(name)
        names.inputs[name] = (0, 0)
    return found


def order(ask: Ask, run: Run, command: str) -> None:
    """The variables in the order of --at where it names all, else of declarations, else of the
    alphabet. Raises E0831 where a command needs an order and none of these is one.
    """
    names = [] if ask.wrt else ask.program.differentiable(run)
    given = [name for name in ask.at if name in names]
    if len(given) == len(names):
        ask.wrt = ask.wrt or given
    elif not all(name in ask.program.names.declared for name in names):
        sort = [_place(name) for name in names]
        if len({stem for stem, _, _ in sort}) == 1:
            ask.wrt = sorted(names, key=_place)
        elif command in ORDERED:
            raise GradcliError(Diagnostic(
                "E0831", f"the order of the variables {', '.join(names)} is not clear, and a"
                f" {command} depends on it", span=None, source=ask.program.source,
                help=f"say it: --wrt {','.join(names)}"))


def _place(name: str) -> tuple[str, int, str]:
    """What names in a row have in common, and where one stands: x, y, z; x1, x2, x10."""
    stem = name.rstrip("0123456789")
    return ("", 0, name) if len(name) == 1 else (stem, int(name[len(stem):] or 0), name)
