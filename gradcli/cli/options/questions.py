"""The rows of grad, jac, hess and eval, and the options that others share with them."""

from __future__ import annotations

from gradcli.base.errors import listed, split
from gradcli.cli.options import (
    LIMITS,
    OUTPUT,
    POINT,
    Command,
    Options,
    argument,
    memory,
    misused_at,
    option,
    seconds,
)

POINTS = ("csv", "tsv", "ndjson", "parquet", "arrow")
# Words of rows: what commands take together.
TYPED = "expression latex strict_syntax"
SHOWN = "format digits output open color quiet verbose"
BUDGET = "max_steps max_memory timeout"
PATHS = "unconnected watch tf tape"
ROWS_OF = "at points points_format on_error"
WORKERS = "jobs scheduler"


class ProgramOptions(Options):
    """The options of a command that runs a program."""

    file: str | None = argument(
        "A file with an expression or program, - for standard input, or a formula: 'x^2 sin x'.")
    expression: str | None = option(
        "-e --expression", "A formula, also one that has the name of a file.", "TEXT")
    strict_syntax: bool = option(
        "--strict-syntax", "Read formulas by the rules of files only, not as written on paper:"
        " `sin^2 x`, `xe^x` and LaTeX are errors.")
    latex: bool = option("--latex", r"The formula is LaTeX: \frac{x^2}{1+e^{-x}}.")
    of: list[str] = option(
        "--of", "Targets, the results to answer for; a+b is the sum of both. By default the last"
        " result.", "NAME[,NAME]")
    at: list[str] = option(
        "--at", "Values of inputs and variables: x=3,y=[1,2]; of the only one: 3.", "NAME=VALUE",
        POINT)
    max_steps: int | None = option("--max-steps", "Budget of steps (10,000,000).", "N", LIMITS)
    max_memory: str | None = option(
        "--max-memory", "Budget of one array, such as 2G; by default half of the machine.", "BYTES",
        LIMITS)
    timeout: str | None = option(
        "--timeout", "Budget of wall time, in seconds.", "SECONDS", LIMITS)

    def targets(self) -> list[list[str]]:
        """Return the names of each target of --of; several are a sum."""
        return [split(part.replace("+", ",")) for part in dict.fromkeys(listed(self.of))]

    def wrong(self) -> tuple[str, str] | None:
        return self._no_program() or self._wrong_limits()

    def _no_program(self) -> tuple[str, str] | None:
        if (self.file is None) != (self.expression is None):
            return None
        return ("give either a file or a formula with -e, not both."
                if self.file is not None else
                "give a formula, a file, or `-` for standard input."), "FILE"

    def _wrong_limits(self) -> tuple[str, str] | None:
        wrong = misused_at(self.at, alone=True)
        for flag, text, read in (("--max-memory", self.max_memory, memory),
                                 ("--timeout", self.timeout, seconds)):
            if wrong is None and text is not None and read(text) is None:
                wrong = f"{text!r} is not a positive number.", flag
        return wrong


class QuestionOptions(ProgramOptions):
    """The options of a question about derivatives."""

    wrt: list[str] = option(
        "--wrt", "Sources, the names to differentiate by, such as x,y; by default every trainable"
        " variable and input.",
        "NAME[,NAME]")
    points: list[str] = option(
        "--points", "Answer at every row of a CSV, TSV, NDJSON, Parquet or Arrow file (- for"
        " standard input), or of a grid: 'x=linspace(0,1,1e6)'.", "FILE|NAME=RANGE", POINT)
    points_format: str | None = option(
        "--points-format", "Format of the rows; by default by the name of the file.", "", POINT,
        choices=POINTS)
    on_error: str = option(
        "--on-error", "After an error in a row: stop, skip the row, or leave its answers empty.",
        "", POINT, default="stop", choices=("stop", "skip", "null"))
    jobs: int | None = option("--jobs", "Processes that work on the rows (1).", "N", LIMITS)
    scheduler: str | None = option(
        "--scheduler", "A Dask cluster that works on the rows: tcp://host:8786.", "ADDRESS", LIMITS)
    mode: str = option(
        "--mode", "Reverse mode, forward mode or finite differences.", default="reverse",
        choices=("reverse", "forward", "finite"))
    verify: bool = option(
        "--verify", "Check each derivative by finite differences; exit 1 if one differs.")
    eig: bool = option("--eig", "Add eigenvalues and definiteness.")
    exact: bool = option(
        "--exact", "Exact numbers where there are any: -pi^2, 1/2, sqrt(3)/4.")
    sparse: bool = option(
        "--sparse", "Only the elements that can differ from 0, with their row and column.")
    unconnected: str = option(
        "--unconnected", "The gradient where no path leads from the source to the target.",
        default="none", choices=("none", "zero"))
    output_gradient: str | None = option(
        "--output-gradient", "Weights of the target's elements, such as [1,0,2].", "E")
    watch: list[str] = option(
        "--watch", "Constants and untrainable variables to watch.", "NAME[,NAME]")
    tf: bool = option(
        "--tf", "TensorFlow's rule: only trainable variables and watched names have gradients.")
    tape: str | None = option("--tape", "The tape of the file to ask; by default the last.", "NAME")
    strict: bool = option(
        "--strict", "Exit 1 if a gradient is None, or a number NaN, infinite, or noted as perhaps"
        " wrong.", "", OUTPUT)

    def runner(self) -> str:
        return "points.run" if self.points else super().runner()

    def endings(self) -> dict[str, str]:
        if not self.points:
            return super().endings()
        from gradcli.points.files import ENDINGS as OF_ROWS

        return {**OF_ROWS, "json": "json", "md": "markdown", "txt": "", "gz": ""}

    def wrong(self) -> tuple[str, str] | None:
        return super().wrong() or self._wrong_points()

    def _wrong_points(self) -> tuple[str, str] | None:
        """Find what does not go together with --points, or not without it."""
        points = self.points
        if not points:
            for flag, value in (("--points-format", self.points_format), ("--jobs", self.jobs),
                                ("--scheduler", self.scheduler)):
                if value is not None:
                    return "it needs --points.", flag
            return None
        if "-" in points and self.file == "-":
            return "standard input cannot be both the program and the points.", "--points"
        if len(points) > 1 and not all("=" in text for text in points):
            return "give one file, or ranges such as x=linspace(0,1,11).", "--points"
        for flag, given in (
                ("--verify", self.verify), ("--eig", self.eig), ("--sparse", self.sparse),
                ("--exact", self.exact)):
            if given:
                return "it has no place with --points.", flag
        from gradcli.points.cells import BETWEEN

        if self.format not in (None, "table", "json", "ndjson", *BETWEEN):
            form = "LaTeX" if self.format == "latex" else self.format
            return f"rows have no {form} form; use markdown or csv.", "--format"
        if self.jobs is not None and self.scheduler is not None:
            return "give either --jobs or --scheduler.", "--jobs"
        return None


ROWS = (
    Command("grad", "Gradients of a target, and why one is None.", QuestionOptions,
            f"file {TYPED} wrt of mode verify exact output_gradient {PATHS} {ROWS_OF}"
            f" {SHOWN} strict {WORKERS} {BUDGET}", "question.run",
            "gradcli grad expr.txt --wrt x", "gradcli grad -e 'x^2*sin(y)' --at x=1.5,y=0.5",
            "echo 'x^2' | gradcli grad - --at x=3 --format json",
            "gradcli grad expr.txt --points data.csv -o slopes.csv",
            "gradcli grad -e 'sin(x)/x' --points 'x=linspace(1,2,11)'"),
    Command("jac", "Jacobian: each element of the target by each of the source.", QuestionOptions,
            f"file {TYPED} wrt of mode verify sparse {PATHS} {ROWS_OF} {SHOWN}"
            f" strict {WORKERS} {BUDGET}", "question.run",
            "gradcli jac -e '[r*cos(t), r*sin(t)]' --wrt r,t --at r=2,t=0.5"),
    Command("hess", "Hessian: second derivatives, as a matrix or in blocks.", QuestionOptions,
            f"file {TYPED} wrt of mode verify eig sparse {PATHS} {ROWS_OF}"
            f" {SHOWN} strict {WORKERS} {BUDGET}", "question.run",
            "gradcli hess -e '100(y-x^2)^2+(1-x)^2' --wrt x,y --at x=-1.2,y=1 --eig"),
    Command("eval", "Values only.", QuestionOptions,
            f"file {TYPED} of exact {ROWS_OF} {SHOWN} strict {WORKERS} {BUDGET}", "question.run",
            "gradcli eval expr.txt", "gradcli eval -e '2^10'",
            "gradcli eval -e '1/3 + 1/6' --exact"),
)
