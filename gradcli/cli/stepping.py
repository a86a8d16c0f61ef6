"""The options of steps, as data; see `cli.options`, which knows those of all else."""

from __future__ import annotations

from gradcli.cli.options import FORMATS, Option, latex, memory, misused_at, seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ALL = ("steps",)

OPTIONS = (
    Option("expression", "-e --expression", "text", "A formula instead of a file.", commands=ALL,
           metavar="TEXT"),
    latex(ALL),
    Option("wrt", "--wrt", "list", "Sources, such as x,y; by default every trainable variable and"
           " input.", commands=ALL, metavar="NAME[,NAME]"),
    Option("of", "--of", "list", "Targets; a,b is the sum of both, repeating the option gives one"
           " table each. By default the last result.", commands=ALL, metavar="NAME[,NAME]"),
    Option("at", "--at", "list", "Values of inputs and variables: x=3,y=[1,2].", commands=ALL,
           metavar="NAME=VALUE"),
    Option("mode", "--mode", "text", "The walk behind the values: reverse gives adjoints, forward"
           " tangents.", commands=ALL, default="reverse", choices=("reverse", "forward")),
    Option("watch", "--watch", "list", "Constants and untrainable variables to watch.",
           commands=ALL, metavar="NAME[,NAME]"),
    Option("tf", "--tf", "flag", "TensorFlow's rule: only trainable variables and watched names"
           " have gradients.", commands=ALL),
    Option("tape", "--tape", "text", "Which tape of the file answers.", commands=ALL,
           metavar="NAME"),
    Option("format", "--format", "text", "Output format; by default a table on a terminal, plain"
           " otherwise.", commands=ALL, choices=FORMATS),
    Option("digits", "--digits", "number", "Significant digits in tables (6).", commands=ALL,
           metavar="N"),
    Option("output", "-o --output", "text", "Write to a file instead of standard output.",
           commands=ALL, metavar="FILE"),
    Option("color", "--color", "text", "When to use colour.", commands=ALL, default="auto",
           choices=("auto", "always", "never")),
    Option("quiet", "-q --quiet", "flag", "Results only, no notes.", commands=ALL),
    Option("verbose", "-v --verbose", "count", "Say more; all steps, however many.", commands=ALL),
    Option("max_steps", "--max-steps", "number", "Budget of steps (10,000,000).", commands=ALL,
           metavar="N"),
    Option("max_memory", "--max-memory", "text", "Budget of one array, such as 2G; by default half"
           " of the machine.", commands=ALL, metavar="BYTES"),
    Option("timeout", "--timeout", "text", "Budget of wall time, in seconds.", commands=ALL,
           metavar="SECONDS"),
)

ARGUMENTS: dict[str, tuple[str, ...]] = dict.fromkeys(ALL, ("file",))

SUMMARIES = {
    "steps": "A derivative step by step: every operation, its rule, its value and its adjoint.",
}

EXAMPLES = {
    "steps": ("gradcli steps -e 'x^2*sin(x)' --at x=1.5",
              "gradcli steps model.txt --of loss --wrt w --mode forward",
              "gradcli steps -e 'sin(x*y)' --at x=1,y=2 --format latex -o steps.tex"),
}


def misused(command: str, values: dict[str, Any]) -> tuple[str, str] | None:
    """As `cli.options.misused`, what that does not know."""
    if (values["file"] is None) == (values["expression"] is None):
        return ("give either a file or a formula with -e, not both."
                if values["file"] is not None else
                "give a file, `-` for standard input, or a formula with -e."), "FILE"
    wrong = misused_at(values["at"])
    if wrong is not None:
        return wrong
    for name, read in (("max_memory", memory), ("timeout", seconds)):
        if values[name] is not None and read(values[name]) is None:
            return f"{values[name]!r} is not a positive number.", "--" + name.replace("_", "-")
    return None
