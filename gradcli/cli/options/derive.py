"""The options of derive, as data; see `cli.options.table`, which knows those of all else."""

from __future__ import annotations

from gradcli.cli.options.table import Option, ending, same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ALL = ("derive",)
FORMATS = ("table", "plain", "json", "csv", "tsv", "markdown", "gradcli", "python", "c", "latex",
           "sympy")
ENDINGS = {"py": "python", "c": "c", "h": "c", "tex": "latex", "json": "json", "csv": "csv",
           "tsv": "tsv", "md": "markdown", "txt": "plain"}
"""End of a file's name to its format."""
MAX_ORDER = 12
WHAT = ("gradient", "jacobian", "hessian")

OPTIONS = (
    *same("expression latex wrt", ALL),
    Option("of", "--of", "list", "Targets; a,b is the sum of both, repeating the option gives each"
           " its formulas. By default the last result.", commands=ALL, metavar="NAME[,NAME]"),
    Option("at", "--at", "list", "Values of inputs and variables, where these decide the way"
           " through the program: x=3,y=[1,2].", commands=ALL, metavar="NAME=VALUE"),
    Option("what", "--what", "text", "Of a target with several elements: gradient of their sum,"
           " jacobian of each; hessian is gradient with --order 2.", commands=ALL,
           default="gradient", choices=WHAT),
    Option("order", "--order", "number", "Which derivative: 2 for the second, at most"
           f" {MAX_ORDER}.", commands=ALL, metavar="N"),
    Option("simplify", "--simplify", "flag", "Let SymPy make the formulas shorter; what it changes"
           " in value is refused.", commands=ALL),
    Option("inline", "--inline", "flag", "No names for what stands more than once.", commands=ALL),
    *same("unconnected watch", ALL),
    Option("format", "--format", "text", "Language of the formulas: gradcli (a file that gradcli"
           " reads back), python (NumPy), c, latex, sympy; or table, plain, json, csv, tsv,"
           " markdown. By default by the name of -o, else a table on a terminal, plain otherwise.",
           commands=ALL,
           choices=FORMATS),
    *same("output color", ALL),
    Option("strict", "--strict", "flag", "Exit 1 if a derivative is None, or leaves a part out, or"
           " does not hold at the given values.", commands=ALL),
    Option("quiet", "-q --quiet", "flag", "Formulas only, no notes.", commands=ALL),
    Option("verbose", "-v --verbose", "count", "Say more.", commands=ALL),
    *same("max_steps max_memory timeout", ALL),
)

ARGUMENTS: dict[str, tuple[str, ...]] = dict.fromkeys(ALL, ("file",))

SUMMARIES = {
    "derive": "The derivative as a formula, also for NumPy, C, LaTeX, SymPy.",
}

EXAMPLES = {
    "derive": ("gradcli derive -e 'x^2*sin(x)'", "gradcli derive model.txt --of loss --wrt w,b",
               "gradcli derive -e 'x^2*exp(-x*y)' --order 2 --format latex",
               "gradcli derive -e '[r*cos(t), r*sin(t)]' --what jacobian --format c",
               "gradcli derive expr.txt --wrt x --format python -o slope.py"),
}


def format_of(values: dict[str, Any]) -> str | None:
    """--format, else what the name of -o ends in, if that is a language."""
    if values["format"] is not None:
        return str(values["format"])
    return ENDINGS.get(ending(values["output"]))


def misused(command: str, values: dict[str, Any]) -> tuple[str, str] | None:
    """As `cli.options.misused`, what that does not know."""
    if values["order"] is not None and values["order"] > MAX_ORDER:
        return f"{values['order']} is not in the range x<={MAX_ORDER}.", "--order"
    if values["order"] is not None and values["what"] == "hessian" and values["order"] != 2:
        return "a Hessian has the order 2.", "--order"
    return None
