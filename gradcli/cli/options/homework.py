"""The options of check and hw, as data; see `cli.options.table`, which knows those of all else."""

from __future__ import annotations

from gradcli.cli.options.table import Option, misused_at, same, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KINDS = ("derivative", "value", "partial", "gradient", "jacobian", "hessian", "directional",
         "implicit", "parametric", "tangent")
FORMATS = ("table", "plain", "json", "ndjson", "csv", "tsv", "markdown")
BY_LINES = ("ndjson", "csv", "tsv")
CHECK = ("check",)
RUN = ("hw run",)
READ = ("hw diff", "hw explain", "hw stats", "hw export")
WRITE = (*RUN, "hw export")
HW = (*RUN, "hw lint", *READ)
ALL = (*CHECK, *HW)

OPTIONS = (
    Option("wrt", "--wrt", "list", "The variables, such as x,y; by default the only one of the"
           " function.", commands=CHECK, metavar="NAME[,NAME]"),
    Option("kind", "--kind", "text", f"What is asked for: {', '.join(KINDS)}; by default"
           " derivative, gradient for several variables, implicit with --dependent, directional"
           " with --direction.", commands=CHECK, metavar="KIND", choices=KINDS),
    Option("at", "--at", "list", "The point, where a number is asked for: x=2,y=pi/4.",
           commands=CHECK, metavar="NAME=VALUE"),
    Option("order", "--order", "number", "Which derivative: 2 for the second.", commands=CHECK,
           metavar="N"),
    Option("direction", "--direction", "text", "Of a directional derivative: 3,4.",
           commands=CHECK, metavar="A,B"),
    Option("dependent", "--dependent", "text", "The variable that an equation makes a function of"
           " the other: y.", commands=CHECK, metavar="NAME"),
    Option("parameters", "--parameters", "list", "Letters that stand for positive constants:"
           " a,b.", commands=CHECK, metavar="NAME[,NAME]"),
    Option("tolerance", "--tolerance", "text", "How near a number has to be: 0.01, '1%', '3 digits'"
           " or '0.5 abs'.", commands=CHECK, metavar="T"),
    Option("domain", "--domain", "list", "Where a variable lives: x=0:5.", commands=CHECK,
           metavar="NAME=A:B"),
    Option("domain_policy", "--domain-policy", "text", "What an answer gets that is right, but"
           " defined at fewer points (note).", commands=CHECK,
           choices=("note", "reject", "review")),
    Option("log", "--log", "text", "What log means (natural).", commands=CHECK,
           choices=("natural", "ten")),
    Option("angle", "--angle", "text", "What sin and cos take (radian).", commands=CHECK,
           choices=("radian", "degree")),
    Option("real_roots", "--real-roots", "flag", "x^(1/3) is real for negative x.",
           commands=CHECK),
    Option("decimal_comma", "--decimal-comma", "flag", "0,5 is a number.", commands=CHECK),
    Option("batch", "--batch", "text", "Check the answers in a file of NDJSON (- for standard"
           " input), one object on each line; other options hold where an object does not say.",
           commands=CHECK, metavar="FILE"),
    Option("wide", "--wide", "text", "In place of FOLDER, one table of the class: a row for each"
           " student, a column for each problem.", commands=RUN, metavar="FILE"),
    Option("roster", "--roster", "text", "Who is in the class: a CSV file with student_id,"
           " last_name, first_name, email, section.", commands=RUN, metavar="FILE"),
    Option("student_column", "--student-col", "text", "In a table of the class, the column that"
           " names the student.", commands=RUN, metavar="NAME"),
    Option("map", "--map", "list", "In a table of the class, which column answers which problem:"
           " 'Q1=1a'.", commands=RUN, metavar="COLUMN=PROBLEM"),
    Option("student_pattern", "--student-pattern", "text", "A regular expression that finds the"
           " student in the path of a file: its group, or all that it matches.", commands=RUN,
           metavar="REGEX"),
    Option("overrides", "--overrides", "text", "A review.csv in which a person wrote scores; they"
           " win always. It goes before the one in the folder of the results.",
           commands=WRITE, metavar="FILE"),
    Option("feedback", "--feedback", "text", "How much the pages for students tell.",
           commands=WRITE, default="hint", choices=("none", "verdict", "hint", "full")),
    Option("late", "--late", "text", "The share of the points that a late submission loses; by"
           " default what the sheet says.", commands=RUN, metavar="SHARE"),
    Option("follow", "--follow", "flag", "Read files that are symbolic links, too.",
           commands=RUN),
    Option("fail_on", "--fail-on", "list", "Verdicts that make the exit status 1: wrong,"
           " undecided, unreadable, blank, domain; by default each answer that does not count"
           " as right.", commands=RUN, metavar="VERDICT[,VERDICT]"),
    Option("exit_zero", "--exit-zero", "flag", "Exit 0 whatever the answers are.", commands=RUN),
    Option("fresh", "--fresh", "flag", "Check all answers again, not only what changed.",
           commands=RUN),
    Option("template", "--template", "list", "A gradebook as Canvas or Moodle exports it, to be"
           " filled in.", commands=WRITE, metavar="FILE"),
    Option("column", "--column", "text", "In --template, the column to fill in; by default the one"
           " named like the sheet.", commands=WRITE, metavar="NAME"),
    Option("raw_csv", "--raw-csv", "flag", "Leave texts that a spreadsheet would run as formulas"
           " as they are.", commands=WRITE),
    Option("gradescope", "--gradescope", "flag", "Write gradescope/results.json, too.",
           commands=WRITE),
    Option("visibility", "--visibility", "text", "When Gradescope shows the tests to students.",
           commands=WRITE, default="visible",
           choices=("visible", "hidden", "after_due_date", "after_published")),
    Option("out", "-o --out", "text", "The folder to write the results to.", commands=RUN,
           metavar="FOLDER", default="results"),
    Option("results", "--results", "text", "The folder of the results.",
           commands=("hw explain", "hw stats", "hw export"), metavar="FOLDER", default="results"),
    Option("seed", "--seed", "text", "What the points are drawn by: a number or a word (0).",
           commands=(*CHECK, *RUN, "hw lint"), metavar="SEED"),
    Option("jobs", "-j --jobs", "number", "Processes that check answers; by default one for each"
           " processor with hw run, at most 8, else 1.", commands=(*CHECK, *RUN), metavar="N"),
    Option("scheduler", "--scheduler", "text", "A Dask cluster that checks answers:"
           " tcp://host:8786.", commands=(*CHECK, *RUN), metavar="ADDRESS"),
    Option("format", "--format", "text", "Output format; by default a table on a terminal, plain"
           " otherwise.", commands=tuple([name for name in ALL if name != "hw run"]),
           choices=FORMATS),
    Option("format", "--format", "text", "Output format of the summary; by default a table on a"
           " terminal, plain otherwise. ndjson: every result; github: annotations.",
           commands=RUN, choices=(*FORMATS, "github")),
    *same("digits", ALL),
    Option("output", "-o --output", "text", "Write to a file instead of standard output.",
           commands=(*CHECK, "hw lint", "hw diff", "hw explain", "hw stats"), metavar="FILE"),
    *same("color", ALL),
    Option("quiet", "-q --quiet", "flag", "Say less: the verdict only, no notes.", commands=ALL),
    Option("verbose", "-v --verbose", "count", "Say more: other readings, points, time.",
           commands=ALL),
)

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "check": ("function", "answer"), "hw run": ("sheet", "folder"), "hw lint": ("sheet",),
    "hw diff": ("old", "new"), "hw explain": ("student", "problem"), "hw stats": (),
    "hw export": ()}

ARGUMENT_HELP = {
    "function": "What was to be differentiated, as written in class: 'x^2 sin x'.",
    "answer": "What was answered: '2x sin x + x^2 cos x'; - reads it from standard input.",
    "sheet": "The problem sheet: TOML, CSV or a list of `id: function`.",
    "folder": "The folder of what was handed in, or one table of the whole class (CSV, NDJSON,"
              " - for NDJSON on standard input).",
    "old": "The folder of the results before.",
    "new": "The folder of the results after.",
    "student": "A student's id.",
    "problem": "A problem's id.",
}

ABOUT_HW = "Homework of a whole class: check, grade, review, report."

SUMMARIES = {
    "check": "Check one answer against a function, or a stream of answers.",
    "hw run": "Check and grade a class; only what changed is checked again.",
    "hw lint": "Check a sheet: its derivatives, and what may be unclear in it.",
    "hw diff": "Which marks changed between two runs.",
    "hw explain": "One answer in full: how it was read, and what went wrong.",
    "hw stats": "Per problem: how many are right, and the mistakes.",
    "hw export": "Write the gradebooks again, for Canvas, Moodle and Gradescope.",
}

EXAMPLES = {
    "check": ("gradcli check 'x^2 sin x' '2x sin x + x^2 cos x'",
              "gradcli check 'x^2 + 3xy' '<2x + 3y, 3x>' --wrt x,y",
              "gradcli check 'x^2 + y^2 = 25' '-x/y' --dependent y --wrt x",
              "gradcli check 'e^(2x)' 7.389 --at x=0.5 --kind value",
              "gradcli check --batch answers.ndjson -o results.ndjson"),
    "hw run": ("gradcli hw run sheet.toml submissions",
               "gradcli hw run sheet.toml submissions --roster roster.csv -o results",
               "gradcli hw run sheet.toml responses.csv --student-col Email --map 'Q1=1a'",
               "gradcli hw run sheet.toml submissions --overrides results/review.csv"),
    "hw lint": ("gradcli hw lint sheet.toml",),
    "hw diff": ("gradcli hw diff results-monday results",),
    "hw explain": ("gradcli hw explain s1234567 1a",
                   "gradcli hw explain s1234567 1a --results old-results"),
    "hw stats": ("gradcli hw stats", "gradcli hw stats --format csv -o items.csv"),
    "hw export": ("gradcli hw export --template canvas.csv",),
}


def misused(command: str, values: dict[str, Any]) -> tuple[str, str] | None:
    """As `cli.options.misused`, what that does not know."""
    if values.get("jobs") is not None and values["scheduler"] is not None:
        return "give either --jobs or --scheduler.", "--jobs"
    if command == "check":
        return _misused_check(values)
    if values.get("wide") is not None and values["folder"] is not None:
        return "give either FOLDER or --wide.", "--wide"
    for name in ARGUMENTS[command]:
        if values[name] is None and not (name == "folder" and values["wide"] is not None):
            return f"it is missing. {ARGUMENT_HELP[name]}", name.upper()
    if values.get("late") is not None and share(values["late"]) is None:
        return f"{values['late']!r} is not a share from 0 to 1.", "--late"
    for text in values.get("map") or ():
        if "=" not in text or not all(part.strip() for part in text.rpartition("=")[::2]):
            return f"`{text}` is not of the form COLUMN=PROBLEM, such as Q1=1a.", "--map"
    for name in [name for text in values.get("fail_on") or () for name in split(text)]:
        if name not in VERDICTS:
            return f"{name!r} is not one of {', '.join(VERDICTS)}.", "--fail-on"
    return None


VERDICTS = ("wrong", "undecided", "unreadable", "blank", "domain")


def _misused_check(values: dict[str, Any]) -> tuple[str, str] | None:
    if values["batch"] is None:
        if values["function"] is None or values["answer"] is None:
            return ("give the function and the answer, an answer such as -x behind `--` if it looks"
                    " like an option; or --batch."), (
                        "FUNCTION" if values["function"] is None else "ANSWER")
        for name in ("jobs", "scheduler"):
            if values[name] is not None:
                return "it needs --batch.", "--" + name
    elif values["answer"] is not None:
        return "the answers are in the file.", "--batch"
    elif values["format"] is not None and values["format"] not in BY_LINES:
        return f"answers come out line by line: {', '.join(BY_LINES)}.", "--format"
    wrong = misused_at(values["at"])
    if wrong is not None:
        return wrong
    for part in [part for text in values["domain"] for part in split(text)]:
        name, _, limits = part.partition("=")
        low, _, high = limits.partition(":")
        if not (name.strip() and low.strip() and high.strip()):
            return f"`{part}` is not of the form NAME=A:B, such as x=0:5.", "--domain"
    return None


def share(text: str) -> float | None:
    """A number from 0 to 1, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None
