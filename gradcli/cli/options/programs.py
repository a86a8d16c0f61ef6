"""The rows of why, run, ops, steps and derive."""

from __future__ import annotations

from gradcli.cli.options import OUTPUT, POINT, Command, Options, argument, option
from gradcli.cli.options.questions import (
    BUDGET,
    PATHS,
    SHOWN,
    TYPED,
    ProgramOptions,
    QuestionOptions,
)
from gradcli.formulas.text import LANGUAGES
from gradcli.render.numbers import visible

MAX_ORDER = 12


class ScriptOptions(QuestionOptions):
    """The options of run and why, which also take a Python script."""

    file: str | None = argument(
        "A file with an expression or program, - for standard input, or a Python script (.py),"
        " which runs with your rights.")
    arguments: list[str] = argument(
        "Of a script; behind `--` where they look like options.")
    real: bool = option(
        "--real", "Of a script: import the TensorFlow that is installed, not gradcli's.")

    def is_script(self) -> bool:
        """Return whether the file is a Python script."""
        return self.file is not None and self.file.endswith(".py")

    def runner(self) -> str:
        return f"script.{self.command.name}" if self.is_script() else super().runner()

    def wrong(self) -> tuple[str, str] | None:
        if not self.is_script():
            if self.arguments:
                return f"unexpected argument: {self.arguments[0]}", "FILE"
            return ("only a script (.py) imports TensorFlow.", "--real") if self.real else (
                super().wrong())
        for one in self.command.options:
            if one.name not in OF_SCRIPTS and getattr(self, one.name) != one.default:
                other = INSTEAD.get(one.name, "the script itself says what it asks its tapes")
                return f"a Python script has no {one.flags[-1]}: {other}.".replace(
                    "FILE", visible(self.file or "")), one.flags[-1]
        return None


OF_SCRIPTS = ("real", "format", "output", "open", "color", "quiet", "verbose", "strict", "fix",
              "digits", "framework")


STOPPED = "`timeout -s INT 60 gradcli why FILE` ends it after a minute, and tells what it showed"
INSTEAD = {
    "write": "`gradcli why FILE --fix | patch -p0` changes it", "timeout": STOPPED,
    "max_steps": STOPPED, "max_memory": "it takes what it takes in Python",
    "expression": "it is a file", "strict_syntax": "it is Python"}
"""What to write in place of options that scripts do not have."""


class WhyOptions(ScriptOptions):
    """The options of why, which also mends."""

    fix: bool = option(
        "--fix", "Show the changes that bring gradients back, as a diff; change nothing.", "",
        OUTPUT)
    framework: str | None = option(
        "--framework", "Say how each cause shows in this framework, and what to write there.", "",
        OUTPUT, choices=("tensorflow", "pytorch", "jax"))
    write: bool = option(
        "--write", "Make these changes in the file; what changed is printed on standard error.", "",
        OUTPUT)

    def wrong(self) -> tuple[str, str] | None:
        wrong = super().wrong()
        if wrong is None and self.write and self.file in (None, "-"):
            return "there is no file to change.", "--write"
        if wrong is None and (self.fix or self.write) and self.format is not None:
            return "a diff has no other format.", "--format"
        if wrong is None and (self.fix or self.write) and self.framework is not None:
            return "a diff has no words.", "--framework"
        return wrong

    def unclear(self) -> tuple[str, str] | None:
        return None if self.fix or self.write else super().unclear()


class LookupOptions(Options):
    """The options of ops."""

    name: str | None = argument("An operation by name or alias; all of them by default.")
    no_derivative: bool = option(
        "--no-derivative", "Only operations that no derivative passes through, with what to write"
        " instead.")
    search: str | None = option(
        "--search", "Only operations with this word in their names, what they do, or their group.",
        "WORD")
    group: str | None = option(
        "--group", "Only the group with this word in its name, such as logic or random.", "WORD")

    def wrong(self) -> tuple[str, str] | None:
        wrong = super().wrong()
        if wrong is None and self.name is not None:
            for flag, given in (("--no-derivative", self.no_derivative), ("--search", self.search),
                                ("--group", self.group)):
                if given:
                    return "NAME already says which operation.", flag
        return wrong


class StepsOptions(QuestionOptions):
    """The options of steps."""

    mode: str = option(
        "--mode", "What stands beside the values: adjoints (reverse) or tangents (forward).",
        default="reverse", choices=("reverse", "forward"))
    hint: int | None = option(
        "--hint", "Of a derivation with letters the first steps only.", "N")
    verbose: int = option("-v --verbose", "Say more; all steps, however many.", "", OUTPUT)


class SessionOptions(ProgramOptions):
    """The options of repl."""

    keep_going: bool = option(
        "--keep-going", "In a pipe, go on behind an error; the exit status is that of the first.")
    no_history: bool = option("--no-history", "Neither read nor write the history of lines.")

    def wrong(self) -> tuple[str, str] | None:
        return self._wrong_limits()


class DeriveOptions(QuestionOptions):
    """The options of derive."""

    of: list[str] = option(
        "--of", "Targets, the results to differentiate; a+b is the sum of both. By default the last"
        " result.", "NAME[,NAME]")
    at: list[str] = option(
        "--at", "Values of inputs and variables that decide which branches run: x=3,y=[1,2].",
        "NAME=VALUE", POINT)
    what: str = option(
        "--what", "Of a target with several elements: gradient of their sum, jacobian of each;"
        " hessian is gradient with --order 2.", default="gradient",
        choices=("gradient", "jacobian", "hessian"))
    order: int | None = option(
        "--order", f"Which derivative: 2 for the second, at most {MAX_ORDER}.", "N")
    simplify: bool = option(
        "--simplify", "Let SymPy make the formulas shorter; what it changes in value is refused.")
    value: bool = option(
        "--value", "The values at the point, too; `gradcli FORMULA --at ...` has them by itself.")
    inline: bool = option("--inline", "No names for what stands more than once.", "", OUTPUT)
    format: str | None = option(
        "--format", "Language of the formulas: " + ", ".join([
            name + f" ({words})" * bool(words) for name, (words, _) in LANGUAGES.items()])
        + "; or table, plain, json, csv, tsv, markdown, html. By default by the name of -o, else a"
        " table on a terminal, plain otherwise.", "", OUTPUT,
        choices=("table", "plain", "json", "csv", "tsv", "markdown", "html", *LANGUAGES))
    strict: bool = option(
        "--strict", "Exit 1 if a derivative is None, or leaves a part out, or does not hold at the"
        " given values.", "", OUTPUT)
    quiet: bool = option("-q --quiet", "Formulas only, no notes.", "", OUTPUT)
    verbose: int = option("-v --verbose", "Say more.", "", OUTPUT)

    def endings(self) -> dict[str, str]:
        of_languages = {end: name for name, (_, ends) in LANGUAGES.items() for end in ends}
        return {**of_languages, **super().endings()}

    def wrong(self) -> tuple[str, str] | None:
        wrong = super().wrong()
        if wrong is None and self.order is not None:
            if self.order > MAX_ORDER:
                return f"{self.order} is not in the range x<={MAX_ORDER}.", "--order"
            if self.what == "hessian" and self.order != 2:
                return "a Hessian has the order 2.", "--order"
        return wrong


ROWS = (
    Command("why", "Why a gradient is None, zero or NaN, step by step.", WhyOptions,
            f"file arguments expression strict_syntax wrt of {PATHS} real at fix write framework"
            f" {SHOWN} strict {BUDGET}", "why.run",
            "gradcli why model.txt --wrt x", "gradcli why model.txt --fix",
            "gradcli why model.txt --framework pytorch",
            "gradcli why train.py"),
    Command("run", "Run a program: its print statements, loops and expectations.", ScriptOptions,
            f"file arguments expression strict_syntax tf real at {SHOWN} {BUDGET}", "program.run",
            "gradcli run train.txt", "gradcli run train.txt --format json",
            "gradcli run train.py 10"),
    Command("ops", "The operation table, or one row: rule, domain and kinks.", LookupOptions,
            f"name no_derivative search group {SHOWN}", "ops.run", "gradcli ops",
            "gradcli ops tanh", "gradcli ops --no-derivative", "gradcli ops --search bessel"),
    Command("steps", "A derivative step by step: operations, rules and adjoints.", StepsOptions,
            f"file {TYPED} wrt of mode hint watch tf tape at {SHOWN} {BUDGET}",
            "answer.steps", "gradcli steps -e 'x^2*sin(x)'",
            "gradcli steps -e 'x^2*sin(x)' --at x=1.5",
            "gradcli steps model.txt --of loss --wrt w --mode forward",
            "gradcli steps -e 'sin(x*y)' --at x=1,y=2 --format latex -o steps.tex"),
    Command("derive", "The derivative as a formula, also for NumPy, C, LaTeX, SymPy.",
            DeriveOptions,
            f"file {TYPED} wrt of what order simplify unconnected watch at value exact format"
            f" inline output open color quiet verbose strict {BUDGET}", "answer.derive",
            "gradcli derive -e 'x^2*sin(x)'", "gradcli derive model.txt --of loss --wrt w,b",
            "gradcli derive -e 'x^2*exp(-x*y)' --order 2 --format latex",
            "gradcli derive -e '[r*cos(t), r*sin(t)]' --what jacobian --format c",
            "gradcli derive expr.txt --wrt x --format python -o slope.py"),
    Command("repl", "A session in which names, functions and the last answer stay.",
            SessionOptions, f"keep_going no_history color {BUDGET}", "session.run",
            "gradcli repl", "echo 'x^2 sin x' | gradcli repl"),
)
