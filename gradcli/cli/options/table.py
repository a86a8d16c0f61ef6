"""The options of every command, as data.

One definition feeds both readers of a command line: `cli.plain_argv`, which starts in no time and
takes only the plain form, and `cli.app`, the Typer application, which takes everything else and
writes all help and all usage errors. An option means the same everywhere.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMATS = ("table", "plain", "json", "ndjson", "csv", "tsv", "markdown", "latex")
POINTS = ("csv", "tsv", "ndjson", "parquet", "arrow")
ENDINGS = {"txt": "plain", "log": "plain", "json": "json", "ndjson": "ndjson", "jsonl": "ndjson",
           "csv": "csv", "tsv": "tsv", "md": "markdown", "tex": "latex"}
"""End of the name of a file of -o to the format that it has."""
FIRST = ("grad", "jac")
DERIVATIVES = (*FIRST, "hess")
QUESTIONS = (*DERIVATIVES, "eval")
EXPLAINED = (*DERIVATIVES, "why")
PROGRAMS = (*QUESTIONS, "why", "run")
ALL = (*PROGRAMS, "ops")


class Option:
    """One option. kind: "text", "list" (repeatable), "flag", "count" or "number"; choices: what a
    text may be; commands: where it exists.
    """

    __slots__ = ("choices", "commands", "default", "flags", "help", "kind", "metavar", "name")

    def __init__(self, name: str, flags: str, kind: str, help: str, *, commands: tuple[str, ...],
                 metavar: str = "", default: Any = None, choices: tuple[str, ...] = ()) -> None:
        self.name = name
        self.flags = tuple(flags.split())
        self.kind = kind
        self.help = help
        self.commands = commands
        self.metavar = metavar
        self.choices = choices
        empty: dict[str, Any] = {"list": [], "flag": False, "count": 0}
        self.default = empty.get(kind, default)

    def of(self, commands: tuple[str, ...]) -> Option:
        """The same option of other commands."""
        return Option(self.name, " ".join(self.flags), self.kind, self.help, commands=commands,
                      metavar=self.metavar, default=self.default, choices=self.choices)


OPTIONS = (
    Option("expression", "-e --expression", "text", "A formula instead of a file.",
           commands=PROGRAMS, metavar="TEXT"),
    Option("latex", "--latex", "flag", r"The formula is LaTeX: \frac{x^2}{1+e^{-x}}.",
           commands=QUESTIONS),
    Option("wrt", "--wrt", "list", "Sources, such as x,y; by default every trainable variable and"
           " input.", commands=EXPLAINED, metavar="NAME[,NAME]"),
    Option("of", "--of", "list", "Targets; a,b is the sum of both, repeating the option gives one"
           " table each. By default the last result.", commands=(*QUESTIONS, "why"),
           metavar="NAME[,NAME]"),
    Option("at", "--at", "list", "Values of inputs and variables: x=3,y=[1,2].",
           commands=PROGRAMS, metavar="NAME=VALUE"),
    Option("points", "--points", "list", "Answer at every row of a CSV, TSV, NDJSON, Parquet or"
           " Arrow file (- for standard input), or of a grid: 'x=linspace(0,1,1e6)'.",
           commands=QUESTIONS, metavar="FILE|NAME=RANGE"),
    Option("points_format", "--points-format", "text", "Format of the rows; by default by the name"
           " of the file.", commands=QUESTIONS, choices=POINTS),
    Option("on_error", "--on-error", "text", "What a row that is wrong does: stop, skip the row, or"
           " leave its answers empty.", commands=QUESTIONS, default="stop",
           choices=("stop", "skip", "null")),
    Option("jobs", "--jobs", "number", "Processes that work on the rows (1).", commands=QUESTIONS,
           metavar="N"),
    Option("scheduler", "--scheduler", "text", "A Dask cluster that works on the rows:"
           " tcp://host:8786.", commands=QUESTIONS, metavar="ADDRESS"),
    Option("mode", "--mode", "text", "How: reverse, forward or finite differences.",
           commands=DERIVATIVES, default="reverse", choices=("reverse", "forward", "finite")),
    Option("verify", "--verify", "flag", "Check each derivative by finite differences; exit 1 if"
           " one differs.", commands=DERIVATIVES),
    Option("eig", "--eig", "flag", "Add eigenvalues and definiteness.", commands=("hess",)),
    Option("sparse", "--sparse", "flag", "Only the elements that can differ from 0, with their row"
           " and column.", commands=("jac", "hess")),
    Option("unconnected", "--unconnected", "text", "What a source without a path gives.",
           commands=EXPLAINED, default="none", choices=("none", "zero")),
    Option("output_gradient", "--output-gradient", "text", "Weights of the target's elements, such"
           " as [1,0,2].", commands=("grad",), metavar="E"),
    Option("watch", "--watch", "list", "Constants and untrainable variables to watch.",
           commands=EXPLAINED, metavar="NAME[,NAME]"),
    Option("tf", "--tf", "flag", "TensorFlow's rule: only trainable variables and watched names"
           " have gradients.", commands=(*EXPLAINED, "run")),
    Option("tape", "--tape", "text", "Which tape of the file answers.", commands=EXPLAINED,
           metavar="NAME"),
    Option("fix", "--fix", "flag", "Show the changes that bring gradients back, as a diff; change"
           " nothing.",
           commands=("why",)),
    Option("write", "--write", "flag", "Make these changes in the file; what was mended is told on"
           " standard error.", commands=("why",)),
    Option("format", "--format", "text", "Output format; by default a table on a terminal, plain"
           " otherwise.", commands=ALL, choices=FORMATS),
    Option("digits", "--digits", "number", "Significant digits for people, in table, markdown and"
           " latex; by default 6 on a terminal, all of them elsewhere.", commands=ALL,
           metavar="N"),
    Option("strict", "--strict", "flag", "Exit 1 if a gradient is None, or a number NaN,"
           " infinite, or noted as perhaps wrong.",
           commands=(*QUESTIONS, "why")),
    Option("output", "-o --output", "text", "Write to a file instead of standard output; the"
           " end of its name (.json, .csv, .tex, ...) tells the format unless --format does.",
           commands=ALL, metavar="FILE"),
    Option("color", "--color", "text", "When to use colour.", commands=ALL, default="auto",
           choices=("auto", "always", "never")),
    Option("quiet", "-q --quiet", "flag", "Results only, no notes.", commands=ALL),
    Option("verbose", "-v --verbose", "count", "Say more; with grad the path of each gradient.",
           commands=ALL),
    Option("max_steps", "--max-steps", "number", "Budget of steps (10,000,000).",
           commands=PROGRAMS, metavar="N"),
    Option("max_memory", "--max-memory", "text", "Budget of one array, such as 2G; by default half"
           " of the machine.", commands=PROGRAMS, metavar="BYTES"),
    Option("timeout", "--timeout", "text", "Budget of wall time, in seconds.",
           commands=PROGRAMS, metavar="SECONDS"),
)

def same(names: str, commands: tuple[str, ...]) -> list[Option]:
    """The rows of these options for other commands, where they mean the same."""
    rows = {o.name: o for o in OPTIONS}
    return [rows[name].of(commands) for name in names.split()]


ARGUMENTS = {"ops": ("name",), **dict.fromkeys(PROGRAMS, ("file",))}
"""The positional arguments of each command; those of others stand with their rows."""

SUMMARIES = {
    "grad": "Gradients of a target, and why one is None.",
    "jac": "Jacobian: target shape + source shape.",
    "hess": "Hessian: second derivatives, as a matrix or in blocks.",
    "eval": "Values only.",
    "why": "Why a gradient is None, zero or NaN, step by step.",
    "run": "Run a program: its print statements, loops and expectations.",
    "ops": "The operation table, or one row: rule, domain and kinks.",
}

EXAMPLES = {
    "grad": ("gradcli grad expr.txt --wrt x", "gradcli grad -e 'x^2*sin(y)' --at x=1.5,y=0.5",
             "echo 'x^2' | gradcli grad - --at x=3 --format json",
             "gradcli grad expr.txt --points data.csv -o slopes.csv",
             "gradcli grad -e 'sin(x)/x' --points 'x=linspace(1,2,11)'"),
    "jac": ("gradcli jac -e '[r*cos(t), r*sin(t)]' --wrt r,t --at r=2,t=0.5",),
    "hess": ("gradcli hess -e '100(y-x^2)^2+(1-x)^2' --wrt x,y --at x=-1.2,y=1 --eig",),
    "eval": ("gradcli eval expr.txt", "gradcli eval -e '2^10'"),
    "why": ("gradcli why model.txt --wrt x", "gradcli why model.txt --fix",
            "gradcli why model.txt --write"),
    "run": ("gradcli run train.txt", "gradcli run train.txt --format json",
            "gradcli run train.txt -v"),
    "ops": ("gradcli ops", "gradcli ops tanh"),
}


CALCULUS = ("verify", "taylor", "tangent", "directional", "divergence", "curl", "laplacian",
            "implicit", "newton", "propagate")
"""Commands with rows in `cli.options.calculus`."""


ELSEWHERE = {**dict.fromkeys(CALCULUS, "calculus"), "steps": "steps", "derive": "derive",
             "plot": "pictures", "graph": "pictures", "check": "homework"}
"""Command to the module of `cli.rows` with its rows, where they are not here; `hw` is homework."""


def _elsewhere(command: str) -> Any:
    """The module with the rows of a command that are not here; None if there is no such command.
    """
    family = "homework" if command.startswith("hw ") else ELSEWHERE.get(command)
    return family and __import__(f"gradcli.cli.options.{family}", fromlist=["OPTIONS"])


def arguments(command: str) -> tuple[str, ...] | None:
    """The positional arguments of a command; None if there is no such command."""
    if command in ARGUMENTS:
        return ARGUMENTS[command]
    rows = _elsewhere(command)
    return None if rows is None else rows.ARGUMENTS.get(command)


def options(command: str) -> list[Option]:
    """The options of one command."""
    if command in ARGUMENTS:
        return [o for o in OPTIONS if command in o.commands]
    return [o for o in _elsewhere(command).OPTIONS if command in o.commands]


def defaults(command: str) -> dict[str, Any]:
    """Every option of a command at its default, lists fresh."""
    values: dict[str, Any] = {
        o.name: list(o.default) if o.kind == "list" else o.default for o in options(command)}
    for name in arguments(command) or ():
        values[name] = None
    return values


def misused(command: str, values: dict[str, Any]) -> tuple[str, str] | None:
    """(what, where) for values that no command line may have, else None. Exit status 2."""
    for option in options(command):
        value = values[option.name]
        if option.choices and value is not None and value not in option.choices:
            return f"{value!r} is not one of {', '.join(option.choices)}.", option.flags[-1]
        if option.kind == "list" and any(not part.replace(",", " ").strip() for part in value):
            return "an empty value.", option.flags[-1]
        if option.kind == "number" and value is not None and value < 1:
            return f"{value} is not in the range x>=1.", option.flags[-1]
    wrong = _misused_program(values) if "expression" in values else None
    if wrong is not None:
        return wrong
    if command not in PROGRAMS:
        if command not in ARGUMENTS:
            wrong = _elsewhere(command).misused(command, values)
        return wrong or _misused_output(command, values)
    wrong = _misused_points(values) or _misused_output(command, values)
    if wrong is not None:
        return wrong
    if values.get("write") and values["file"] in (None, "-"):
        return "there is no file to change.", "--write"
    if (values.get("fix") or values.get("write")) and values["format"] is not None:
        return "a diff has no other format.", "--format"
    return None


def ending(path: str | None) -> str:
    """What the name of a file ends in behind its last point, in small letters; empty if it has
    none.
    """
    head, _, end = (path or "").rpartition("/")[2].rpartition(".")
    return end.lower() if head else ""


def _misused_output(command: str, values: dict[str, Any]) -> tuple[str, str] | None:
    """A name of a file that tells no format of this command, where --format does not tell it."""
    path = values.get("output")
    if path is None or values["format"] is not None or values.get("fix") or values.get("write"):
        return None
    known: dict[str, str] = getattr(_elsewhere(command), "ENDINGS", {**ENDINGS})
    if values.get("points"):
        from gradcli.points.files import ENDINGS as OF_ROWS

        known = {**OF_ROWS, "json": "json", "md": "markdown", "txt": "", "gz": ""}
    choices = {choice for o in options(command) if o.name == "format" for choice in o.choices}
    if values.get("batch") is not None:
        choices = set(_elsewhere(command).BY_LINES)
    fitting = [end for end, format in known.items() if format in choices or format in ("", *POINTS)]
    if not ending(path) or ending(path) in fitting:
        return None
    return (f"`{path}` does not tell the format; end its name in"
            f" {', '.join([f'.{end}' for end in fitting if end])}, or give --format."), "-o"


def _misused_program(values: dict[str, Any]) -> tuple[str, str] | None:
    """What no command that runs a program may have."""
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


def misused_at(texts: list[str]) -> tuple[str, str] | None:
    """What is no value of a name."""
    for text in texts:
        parts = split(text)
        for k, part in enumerate(parts):
            if "=" not in part or not part.split("=")[0].strip():
                point = f"{parts[k - 1]},{part}"
                if k and part.isdigit() and parts[k - 1][-1:].isdigit() and point in text:
                    return (f"`{point}` has a comma, which stands between values: write a point"
                            " for decimals, and nothing for thousands."), "--at"
                return f"`{part}` is not of the form NAME=VALUE, such as x=3.", "--at"
    return None


def _misused_points(values: dict[str, Any]) -> tuple[str, str] | None:
    """What does not go together with --points, or not without it."""
    points = values.get("points")
    if not points:
        for name in ("points_format", "jobs", "scheduler"):
            if values.get(name) is not None:
                return "it needs --points.", "--" + name.replace("_", "-")
        return None
    if "-" in points and values["file"] == "-":
        return "standard input cannot be both the program and the points.", "--points"
    if len(points) > 1 and not all("=" in text for text in points):
        return "give one file, or ranges such as x=linspace(0,1,11).", "--points"
    for name in ("verify", "eig", "sparse"):
        if values.get(name):
            return "it has no place with --points.", "--" + name
    if values["format"] == "latex":
        return "rows have no LaTeX form; use markdown or csv.", "--format"
    if values["jobs"] is not None and values["scheduler"] is not None:
        return "give either --jobs or --scheduler.", "--jobs"
    return None


def split(text: str) -> list[str]:
    """The parts of a comma list; commas inside brackets do not separate."""
    parts, depth, start = [], 0, 0
    for k, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:k])
            start = k + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def memory(text: str) -> float | None:
    """Bytes from 2e9, 512M or 2G; None if it is neither."""
    units = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    unit = units.get(text[-1:].upper())
    number = seconds(text[:-1] if unit else text)
    return number * (unit or 1.0) if number is not None else None


def seconds(text: str) -> float | None:
    """A positive finite number, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None
