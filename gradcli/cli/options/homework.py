"""The rows of check and of the commands of a class, which begin with `hw`."""

from __future__ import annotations

from gradcli.base.errors import listed
from gradcli.cli.options import (
    LIMITS,
    OUTPUT,
    POINT,
    QUESTION,
    Command,
    Options,
    argument,
    fitting,
    misused_at,
    option,
)
from gradcli.homework.checking.kinds import KINDS
from gradcli.render import WRITERS

FORMATS = tuple([format for format in WRITERS if format != "latex"])
BY_LINES = ("ndjson", "csv", "tsv")
VERDICTS = ("wrong", "undecided", "unreadable", "blank", "domain")
PAGES = ("markdown", "html", "moodle")
SUBMISSIONS, GRADES = "Submissions", "Grades"


class HomeworkOptions(Options):
    """The options that all commands of homework share."""

    seed: str | None = option(
        "--seed", "What the points are drawn by: a number or a word (0).", "SEED", LIMITS)
    jobs: int | None = option(
        "-j --jobs", "Processes that check answers; by default one for each processor with hw run,"
        " at most 8, else 1.", "N", LIMITS)
    scheduler: str | None = option(
        "--scheduler", "A Dask cluster that checks answers: tcp://host:8786.", "ADDRESS", LIMITS)
    format: str | None = option(
        "--format", "Output format; by default a table on a terminal, plain otherwise.", "", OUTPUT,
        choices=FORMATS)
    output: str | None = option(
        "-o --output", "Write to a file instead of standard output.", "FILE", OUTPUT)
    quiet: bool = option("-q --quiet", "Say less: the verdict only, no notes.", "", OUTPUT)
    verbose: int = option(
        "-v --verbose", "Say more: other readings, points, time.", "", OUTPUT)

    def wrong(self) -> tuple[str, str] | None:
        if self.jobs is not None and self.scheduler is not None:
            return "give either --jobs or --scheduler.", "--jobs"
        return None


class CheckOptions(HomeworkOptions):
    """The options of check."""

    function: str | None = argument(
        "What was to be differentiated, as written in class: 'x^2 sin x'.")
    answer: str | None = argument(
        "What was answered: '2x sin x + x^2 cos x'; - reads it from standard input.")
    wrt: list[str] = option(
        "--wrt", "The variables, such as x,y; by default the only one of the function.",
        "NAME[,NAME]")
    kind: str | None = option(
        "--kind", f"What is asked for: {', '.join(KINDS)}; by default derivative, gradient for"
        " several variables, implicit with --dependent, directional with --direction.", "KIND",
        choices=tuple(KINDS))
    at: list[str] = option(
        "--at", "The point, where a number is asked for: x=2,y=pi/4.", "NAME=VALUE", POINT)
    to: list[str] = option(
        "--to", "The other point, where a tangent estimates the function: x=2.1.", "NAME=VALUE",
        POINT)
    words: str | None = option(
        "--words", "What is right where there is no formula: DNE.", "TEXT")
    order: int | None = option("--order", "Which derivative: 2 for the second.", "N")
    direction: str | None = option(
        "--direction", "Of a directional derivative: 3,4.", "A,B", POINT)
    dependent: str | None = option(
        "--dependent", "The variable that an equation makes a function of the other: y.", "NAME")
    parameters: list[str] = option(
        "--parameters", "Letters that stand for positive constants: a,b.", "NAME[,NAME]")
    tolerance: str | None = option(
        "--tolerance", "How near a number has to be: 0.01, '1%', '3 digits' or '0.5 abs'.", "T")
    domain: list[str] = option("--domain", "The range of a variable: x=0:5.", "NAME=A:B", POINT)
    domain_policy: str | None = option(
        "--domain-policy", "What happens to an answer that is right but defined at fewer points"
        " (note).",
        choices=("note", "reject", "review"))
    log: str | None = option("--log", "What log means (natural).", choices=("natural", "ten"))
    angle: str | None = option(
        "--angle", "What sin and cos take (radian).", choices=("radian", "degree"))
    real_roots: bool = option("--real-roots", "x^(1/3) is real for negative x.")
    decimal_comma: bool = option("--decimal-comma", "0,5 is a number.")
    unit: str | None = option(
        "--unit", "The unit of the answer, m/s; others that measure the same are converted.",
        "UNIT")
    batch: str | None = option(
        "--batch", "Check the answers in a file of NDJSON (- for standard input), one object on"
        " each line; options fill in what an object leaves out.", "FILE")

    def runner(self) -> str:
        return "check.run_batch" if self.batch is not None else super().runner()

    def endings(self) -> dict[str, str]:
        found = super().endings()
        return found if self.batch is None else fitting(found, BY_LINES)

    def wrong(self) -> tuple[str, str] | None:
        return super().wrong() or self._wrong_answers() or misused_at(self.at) or self._borders()

    def _wrong_answers(self) -> tuple[str, str] | None:
        if self.batch is None:
            if self.function is None or self.answer is None:
                return ("give the function and the answer, an answer such as -x behind `--` if it"
                        " looks like an option; or --batch."), (
                            "FUNCTION" if self.function is None else "ANSWER")
            for flag, value in (("--jobs", self.jobs), ("--scheduler", self.scheduler)):
                if value is not None:
                    return "it needs --batch.", flag
        elif self.answer is not None:
            return "the answers are in the file.", "--batch"
        elif self.format is not None and self.format not in BY_LINES:
            return f"answers come out line by line: {', '.join(BY_LINES)}.", "--format"
        return None

    def _borders(self) -> tuple[str, str] | None:
        for part in listed(self.domain):
            name, _, limits = part.partition("=")
            low, _, high = limits.partition(":")
            if not (name.strip() and low.strip() and high.strip()):
                return f"`{part}` is not of the form NAME=A:B, such as x=0:5.", "--domain"
        return None


class ClassOptions(HomeworkOptions):
    """The options of the commands of a class."""

    sheet: str = argument("The problem sheet: TOML, CSV or a list of `id: function`.")
    folder: str | None = argument(
        "The folder of what was handed in, a zip archive of it, or one table of the whole class"
        " (CSV, NDJSON, - for NDJSON on standard input).")
    old: str = argument("The folder of the results before.")
    new: str = argument("The folder of the results after.")
    student: str = argument("A student's id.")
    problem: str = argument("A problem's id.")
    wide: str | None = option(
        "--wide", "In place of FOLDER, one table of the class: a row for each student, a column for"
        " each problem.", "FILE", SUBMISSIONS)
    roster: str | None = option(
        "--roster", "Who is in the class: a CSV file with student_id, last_name, first_name, email,"
        " section.", "FILE", SUBMISSIONS)
    student_column: str | None = option(
        "--student-col", "In a table of the class, the column that names the student.", "NAME",
        SUBMISSIONS)
    map: list[str] = option(
        "--map", "In a table of the class, which column answers which problem: 'Q1=1a'.",
        "COLUMN=PROBLEM", SUBMISSIONS)
    student_pattern: str | None = option(
        "--student-pattern", "A regular expression that finds the student in the path of a file:"
        " its group, or all that it matches.", "REGEX", SUBMISSIONS)
    follow: bool = option(
        "--follow", "Read files that are symbolic links, too.", "", SUBMISSIONS)
    overrides: str | None = option(
        "--overrides", "A review.csv in which a person wrote scores; they always win. It"
        " counts more than the one in the folder of the results.", "FILE", GRADES)
    feedback: str = option(
        "--feedback", "How much the pages for students tell.", "", GRADES, default="hint",
        choices=("none", "verdict", "hint", "full"))
    pages: list[str] = option(
        "--pages", "The pages for students: markdown (the default) and html in the folder feedback,"
        " moodle as an archive of feedback files.", "KIND[,KIND]", GRADES)
    comments: bool = option(
        "--comments", "In --template, write what the pages say into the comments of a grading"
        " worksheet of Moodle, too.", "", GRADES)
    late: str | None = option(
        "--late", "The share of the points that a late submission loses; by default what the sheet"
        " says.", "SHARE", GRADES)
    fail_on: list[str] = option(
        "--fail-on", "Verdicts that make the exit status 1: wrong, undecided, unreadable, blank,"
        " domain; by default each answer that does not count as right.", "VERDICT[,VERDICT]",
        OUTPUT)
    exit_zero: bool = option(
        "--exit-zero", "Exit 0 whatever the answers are.", "", OUTPUT)
    fresh: bool = option(
        "--fresh", "Check all answers again, not only what changed.", "", LIMITS)
    wait: bool = option(
        "--wait", "Wait for another run that writes to the same folder.", "", LIMITS)
    template: list[str] = option(
        "--template", "A gradebook as Canvas, Moodle or Gradescope exports it, to be filled in.",
        "FILE", GRADES)
    column: str | None = option(
        "--column", "In --template, the column to fill in; by default the one named like the"
        " sheet.", "NAME", GRADES)
    raw_csv: bool = option(
        "--raw-csv", "Leave texts that a spreadsheet would run as formulas as they are.", "",
        GRADES)
    gradescope: bool = option("--gradescope", "Write gradescope/results.json, too.", "", GRADES)
    visibility: str = option(
        "--visibility", "When Gradescope shows the tests to students.", "", GRADES,
        default="visible", choices=("visible", "hidden", "after_due_date", "after_published"))
    out: str = option(
        "-o --out", "The folder to write the results to.", "FOLDER", OUTPUT, default="results")
    results: str = option(
        "--results", "The folder of the results.", "FOLDER", QUESTION, default="results")

    def wrong(self) -> tuple[str, str] | None:
        return super().wrong() or self._wrong_class()

    def _wrong_class(self) -> tuple[str, str] | None:
        if self.wide is not None and self.folder is not None:
            return "give either FOLDER or --wide.", "--wide"
        for one in self.command.arguments:
            if getattr(self, one.name) is None and not (
                    one.name == "folder" and self.wide is not None):
                return f"it is missing. {one.help}", one.name.upper()
        if self.late is not None and share(self.late) is None:
            return f"{self.late!r} is not a share from 0 to 1.", "--late"
        for text in self.map:
            if "=" not in text or not all(part.strip() for part in text.rpartition("=")[::2]):
                return f"`{text}` is not of the form COLUMN=PROBLEM, such as Q1=1a.", "--map"
        for name in listed(self.fail_on):
            if name not in VERDICTS:
                return f"{name!r} is not one of {', '.join(VERDICTS)}.", "--fail-on"
        for name in listed(self.pages):
            if name not in PAGES:
                return f"{name!r} is not one of {', '.join(PAGES)}.", "--pages"
        if self.comments and not self.template:
            return "it needs --template.", "--comments"
        return None


class ReportOptions(ClassOptions):
    """The options of hw report."""

    anonymous: bool = option(
        "--anonymous", "Leave out who it is: no names, no ids, no text as it was typed.")
    format: str | None = option(
        "--format", "Output format; by default by the name of -o, else html.", "", OUTPUT,
        choices=FORMATS)
    output: str | None = option(
        "-o --output", "Write to a file, - for standard output; by default report.html in the"
        " folder of the results.", "FILE", OUTPUT)

    def chosen(self) -> str:
        return super().chosen() or "html"


class HwRunOptions(ClassOptions):
    """The options of hw run."""

    format: str | None = option(
        "--format", "Output format of the summary; by default a table on a terminal, plain"
        " otherwise. ndjson: every result; github: annotations.", "", OUTPUT,
        choices=(*FORMATS, "github"))


def share(text: str) -> float | None:
    """Read a number from 0 to 1, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None


SHOWN = "format digits output open color quiet verbose"
SUMMED = "format digits color quiet verbose"
BOOKS = "pages template column comments raw_csv gradescope visibility"
ROWS = (
    Command("check", "Check one answer against a function, or a stream of answers.", CheckOptions,
            "function answer wrt kind order dependent parameters tolerance domain_policy log angle"
            " real_roots decimal_comma unit batch at to direction words domain"
            f" {SHOWN} seed jobs scheduler",
            "check.run", "gradcli check 'x^2 sin x' '2x sin x + x^2 cos x'",
            "gradcli check 'x^2 + 3xy' '<2x + 3y, 3x>' --wrt x,y",
            "gradcli check 'x^2 + y^2 = 25' '-x/y' --dependent y --wrt x",
            "gradcli check 'e^(2x)' 7.389 --at x=0.5 --kind value",
            "gradcli check --batch answers.ndjson -o results.ndjson"),
    Command("hw run", "Check and grade a class; only what changed is checked again.",
            HwRunOptions,
            "sheet folder wide roster student_column map student_pattern follow overrides feedback"
            f" late {BOOKS} out {SUMMED} fail_on exit_zero fresh wait seed jobs scheduler",
            "homework.run", "gradcli hw run sheet.toml submissions",
            "gradcli hw run sheet.toml submissions --roster roster.csv -o results",
            "gradcli hw run sheet.toml responses.csv --student-col Email --map 'Q1=1a'",
            "gradcli hw run sheet.toml submissions --overrides results/review.csv"),
    Command("hw lint", "Check a sheet: its derivatives, and what may be unclear in it.",
            ClassOptions,
            f"sheet {SHOWN} seed", "homework.lint", "gradcli hw lint sheet.toml"),
    Command("hw diff", "Which marks changed between two runs.", ClassOptions, f"old new {SHOWN}",
            "homework.diff", "gradcli hw diff results-monday results"),
    Command("hw explain", "One answer in full: how it was read, and what went wrong.", ClassOptions,
            f"student problem results {SHOWN}", "homework.explain",
            "gradcli hw explain s1234567 1a",
            "gradcli hw explain s1234567 1a --results old-results"),
    Command("hw stats", "Per problem: how many are right, and the mistakes.", ClassOptions,
            f"results {SHOWN}", "homework.stats",
            "gradcli hw stats", "gradcli hw stats --format csv -o items.csv"),
    Command("hw report", "The class on one page: marks, problems, mistakes, who needs help.",
            ReportOptions, f"results anonymous {SHOWN}", "homework.report",
            "gradcli hw report", "gradcli hw report --anonymous -o class.html"),
    Command("hw export", "Write the gradebooks again, for Canvas, Moodle and Gradescope.",
            ClassOptions,
            f"results overrides feedback {BOOKS} {SUMMED} wait", "homework.export",
            "gradcli hw export --template canvas.csv"),
)
