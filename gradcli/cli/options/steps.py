"""The options of steps, as data; see `cli.options.table`, which knows those of all else."""

from __future__ import annotations

from gradcli.cli.options.table import Option, same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ALL = ("steps",)

OPTIONS = (
    *same("expression latex wrt of at", ALL),
    Option("mode", "--mode", "text", "The walk behind the values: reverse gives adjoints, forward"
           " tangents.", commands=ALL, default="reverse", choices=("reverse", "forward")),
    *same("watch tf tape format digits output color quiet", ALL),
    Option("verbose", "-v --verbose", "count", "Say more; all steps, however many.", commands=ALL),
    *same("max_steps max_memory timeout", ALL),
)

ARGUMENTS: dict[str, tuple[str, ...]] = dict.fromkeys(ALL, ("file",))

SUMMARIES = {
    "steps": "A derivative step by step: operations, rules and adjoints.",
}

EXAMPLES = {
    "steps": ("gradcli steps -e 'x^2*sin(x)' --at x=1.5",
              "gradcli steps model.txt --of loss --wrt w --mode forward",
              "gradcli steps -e 'sin(x*y)' --at x=1,y=2 --format latex -o steps.tex"),
}


def misused(command: str, values: dict[str, Any]) -> tuple[str, str] | None:
    """As `cli.options.misused`, what that does not know."""
    return None
