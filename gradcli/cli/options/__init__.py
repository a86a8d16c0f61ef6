"""The table of commands: a row each, in the modules of this package.

One row feeds both readers of a command line: `read`, which starts in no time and takes only the
plain form, and `cli.app`, the Typer application, which takes everything else and writes all help
and all usage errors; manual pages, completion and the list in docs/README.md are made of it, too. A
new command is a row, the question that the row names, its layout, and a schema.
"""

from __future__ import annotations

from gradcli.base.errors import split
from gradcli.render import WRITERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, Self


QUESTION, POINT, OUTPUT, LIMITS = "Question", "Point", "Output", "Limits"
FORMATS = tuple(WRITERS)
ENDINGS = {"txt": "plain", "log": "plain", "json": "json", "ndjson": "ndjson", "jsonl": "ndjson",
           "csv": "csv", "tsv": "tsv", "md": "markdown", "tex": "latex", "html": "html",
           "htm": "html"}
"""End of the name of a file of -o to the format that it has."""
KINDS = {"str | None": "text", "str": "text", "list[str]": "list", "bool": "flag", "int": "count",
         "int | None": "number"}
"""Type of a value to the kind of its option: a list is repeatable, a count counts itself."""


class Option:
    """One option, or, without flags, one positional argument: a field of a class of `Options`.

    kind: as in KINDS; choices: what a text may be; panel: the part of --help where it stands;
    names: whether it takes names of the program.
    """

    __slots__ = ("choices", "default", "flags", "help", "kind", "metavar", "name", "names", "panel")

    def __init__(self, flags: str, help: str, metavar: str, panel: str, default: str | None,
                 choices: tuple[str, ...], names: bool) -> None:
        self.flags = tuple(flags.split())
        self.help = help
        self.metavar = metavar
        self.panel = panel
        self.default: Any = default
        self.choices = choices
        self.names = names or "NAME=" in metavar or "NAME[" in metavar

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.kind = KINDS[owner.__annotations__[name]]
        self.default = {"list": [], "flag": False, "count": 0}.get(self.kind, self.default)


def option(flags: str, help: str, metavar: str = "", panel: str = QUESTION, *,
           default: str | None = None, choices: tuple[str, ...] = (), names: bool = False) -> Any:
    """Declare an option; the type of the field says what it takes."""
    return Option(flags, help, metavar, panel, default, choices, names)


def argument(help: str) -> Any:
    """Declare a positional argument."""
    return option("", help)


class Command:
    """A row of the table: what a command is for, the class of its options and which of them it
    takes, by name; the function of `cli.commands` that runs it, as "module.function"; examples.
    question: the function of `questions` that answers, where that and its layout say it all.
    """

    __slots__ = ("arguments", "examples", "kind", "name", "options", "question", "run", "summary")

    def __init__(self, name: str, summary: str, kind: type[Options], takes: str, run: str,
                 *examples: str, question: str = "") -> None:
        self.name = name
        self.summary = summary
        self.kind = kind
        self.run = run
        self.examples = examples
        self.question = question
        fields = kind.fields()
        taken = [fields[word] for word in takes.split()]
        self.arguments = [one for one in taken if not one.flags]
        self.options = [one for panel in dict.fromkeys([one.panel for one in taken])
                        for one in taken if one.flags and one.panel == panel]

    @property
    def answers(self) -> bool:
        """Whether it takes answers of students, y = 4, which are no values of names."""
        return any(one.name == "answer" for one in self.arguments)

    def formats(self) -> tuple[str, ...]:
        """Return what --format takes."""
        return next((one.choices for one in self.options if one.name == "format"), ())

    def schema(self) -> str:
        """Return the name of the schema of its JSON, a file of `gradcli/schemas`."""
        return f"{self.name.replace(' ', '-')}.schema.json"


class Options:
    """A command line that was read: the command and a value of each field, at its default where
    the line does not say it or the command does not take it.
    """

    format: str | None = option(
        "--format", "Output format; by default a table on a terminal, plain otherwise.", "", OUTPUT,
        choices=FORMATS)
    digits: int | None = option(
        "--digits", "Significant digits for people, in table, markdown and latex; by default 6 on a"
        " terminal, all of them elsewhere.", "N", OUTPUT)
    output: str | None = option(
        "-o --output", "Write to a file instead of standard output; the end of its name (.json,"
        " .csv, .tex, ...) tells the format unless --format does.", "FILE", OUTPUT)
    color: str = option(
        "--color", "When to use colour.", "", OUTPUT, default="auto",
        choices=("auto", "always", "never"))
    open: bool = option(
        "--open", "Show the answer as a page in the browser: html, in a file of the folder for"
        " temporary files unless -o names one.", "", OUTPUT)
    quiet: bool = option("-q --quiet", "Results only, no notes.", "", OUTPUT)
    verbose: int = option(
        "-v --verbose", "Say more; with grad the path of each gradient.", "", OUTPUT)
    file: str | None = None

    def __init__(self, command: Command) -> None:
        self.command = command
        for name, one in self.fields().items():
            setattr(self, name, [] if one.kind == "list" else one.default)

    @classmethod
    def fields(cls) -> dict[str, Option]:
        """Return all options of this class, by name."""
        return {name: one for base in reversed(cls.__mro__) for name, one in vars(base).items()
                if type(one) is Option}

    def respelled(self, spell: Callable[[str], str]) -> Self:
        """Return a copy in which names of the program are spelled so."""
        found = type(self)(self.command)
        vars(found).update(vars(self))
        for one in self.command.options:
            value = getattr(self, one.name)
            if one.names and value:
                setattr(found, one.name, spell(value) if isinstance(value, str) else
                        [spell(text) for text in value])
        return found

    def runner(self) -> str:
        """Return which function of `cli.commands` runs this line, as "module.function"."""
        return self.command.run

    def endings(self) -> dict[str, str]:
        """Return the ends of names of files that tell a format of this command."""
        return fitting(ENDINGS, self.command.formats())

    def chosen(self) -> str | None:
        """Return --format, else what the name of -o ends in; None where neither tells a format."""
        return self.format or self.endings().get(ending(self.output)) or (
            "html" if self.open else None)

    # ---- what no command line may have: (what, where), or None. Exit status 2. -----------------

    def misused(self) -> tuple[str, str] | None:
        """Find a value, or a pair of them, that cannot be."""
        return self._unsound() or self.wrong() or self.unclear() or self._unseen()

    def _unsound(self) -> tuple[str, str] | None:
        for one in self.command.options:
            value = getattr(self, one.name)
            if one.choices and value is not None and value not in one.choices:
                return f"{value!r} is not one of {', '.join(one.choices)}.", one.flags[-1]
            if one.kind == "list" and any(not part.replace(",", " ").strip() for part in value):
                return "an empty value.", one.flags[-1]
            if one.kind == "number" and value is not None and value < 1:
                return f"{value} is not in the range x>=1.", one.flags[-1]
        return None

    def wrong(self) -> tuple[str, str] | None:
        """Find what the kind of command knows to be wrong."""
        return None

    def unclear(self) -> tuple[str, str] | None:
        """Find a name of a file that tells no format of this command, where --format does not."""
        end = ending(self.output)
        if self.format is not None or not end or end in self.endings():
            return None
        return unknown_format(self.output, self.endings())


    def _unseen(self) -> tuple[str, str] | None:
        if self.open and (self.chosen() != "html" or self.output == "-"):
            return "it shows a page; leave out another --format or -o.", "--open"
        return None


def fitting(endings: dict[str, str], formats: tuple[str, ...]) -> dict[str, str]:
    """Return those ends of names whose format is one of these."""
    return {end: format for end, format in endings.items() if format in formats}


def unknown_format(path: str | None, endings: dict[str, str]) -> tuple[str, str]:
    """Tell that the name of a file does not say its format."""
    return (f"`{path}` does not tell the format; end its name in"
            f" {', '.join([f'.{end}' for end in endings if end])}, or give --format."), "-o"


def ending(path: str | None) -> str:
    """Return what the name of a file ends in behind its last point, in small letters; empty if it
    has none.
    """
    head, _, end = (path or "").rpartition("/")[2].rpartition(".")
    return end.lower() if head else ""


def misused_at(texts: list[str], flag: str = "--at", alone: bool = False
               ) -> tuple[str, str] | None:
    """Find what is no value of a name. alone: one may have no name."""
    if alone and len(texts) == 1 and len(split(texts[0])) == 1 and "=" not in texts[0] and (
            texts[0] in ("pi", "e", "tau", "inf", "nan", "π") or not texts[0].isidentifier()):
        return None
    for text in texts:
        parts = split(text)
        for k, part in enumerate(parts):
            if "=" not in part or not part.split("=")[0].strip():
                point = f"{parts[k - 1]},{part}"
                if k and part.isdigit() and parts[k - 1][-1:].isdigit() and point in text:
                    return (f"`{point}` has a comma, which stands between values: write a point"
                            " for decimals, and nothing for thousands."), flag
                return f"`{part}` is not of the form NAME=VALUE, such as x=3.", flag
    return None


def memory(text: str) -> float | None:
    """Read bytes from 2e9, 512M or 2G; None if it is neither."""
    units = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    unit = units.get(text[-1:].upper())
    number = seconds(text[:-1] if unit else text)
    return number * (unit or 1.0) if number is not None else None


def seconds(text: str) -> float | None:
    """Read a positive finite number, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None


MODULES = ("questions", "programs", "pictures", "calculus", "homework")
"""The modules with rows, in the order of help."""


def commands() -> Iterator[Command]:
    """Yield the rows of all commands in the order of help; a module is loaded when its turn comes.
    """
    for module in MODULES:
        yield from _rows(module)


def find(name: str) -> Command | None:
    """Return the row of a command, None if there is no such command."""
    if name.startswith(("check", "hw ")):       # homework starts without the rows of the others
        return next((row for row in _rows("homework") if row.name == name), None)
    return next((row for row in commands() if row.name == name), None)


def _rows(module: str) -> tuple[Command, ...]:
    rows: tuple[Command, ...] = __import__(
        f"gradcli.cli.options.{module}", fromlist=["ROWS"]).ROWS
    return rows


# --------------------------------------------------------------------------------------------------
# The plain form of a command line, read without Typer.
#
# Importing Typer and building its application costs five times an empty Python start (57 against
# 10 ms); this loop over argv costs none. It reads what is written the plain way and answers None to
# anything else - an unknown option, a missing value, --help, a mistake - and then Typer reads the
# same arguments, and helps or complains.

def read(argv: Sequence[str]) -> Options | None:
    """Read a plain command line; None if it is not plain."""
    name = " ".join(argv[:2] if argv[:1] == ["hw"] else argv[:1])
    command = None if name.startswith("-") else find(name)
    if command is None:
        from gradcli.cli.formula import with_command

        meant = with_command(argv)
        return read(meant) if len(meant) > len(argv) else None
    known = _flags(command)
    options = command.kind(command)
    values = vars(options)
    free = iter(command.arguments)
    given = set()
    words = argv[1 + name.count(" "):]
    rest = iter(words if command.answers else _joined(words, known))
    for word in rest:
        if word == "-" or not word.startswith("-") or _is_formula(word, known, name):
            argument = next(free, None)
            if argument is None:
                return None
            if argument.kind == "list":
                values[argument.name].append(word)
                free = iter([argument])
            else:
                values[argument.name] = word
            continue
        flag, equals, text = word.partition("=")
        option = known.get(flag)
        if option is None or (equals and not flag.startswith("--")):
            return None
        if option.kind in ("flag", "count"):
            if equals:
                return None
            values[option.name] = values[option.name] + 1 if option.kind == "count" else True
            continue
        if not equals:
            text = next(rest, None)  # type: ignore[assignment]
            if text is None or text.startswith("--"):
                return None
        if option.kind == "list":
            values[option.name].append(text)
            continue
        if option.name in given:
            return None
        given.add(option.name)
        if option.kind == "number":
            if not text.isascii() or not text.isdigit() or len(text) > 15:
                return None
            values[option.name] = int(text)
        else:
            values[option.name] = text
    return None if options.misused() else options


def _flags(command: Command) -> dict[str, Option]:
    return {flag: option for option in command.options for flag in option.flags}


def _joined(words: Sequence[str], known: Mapping[str, Option]) -> list[str]:
    """Return the words of a command line with values of names in one word: --at x=3, y=2."""
    found: list[str] = []
    flag = ""       # that the last word is a value of
    for word in words:
        more = flag in known and known[flag].kind == "list" and not word.startswith("-") and (
            _is_value(flag, word) or (found[-1].endswith(",") and (
                "=" not in known[flag].metavar or word.partition("=")[0].isidentifier())))
        if more:
            found[-1] = found[-1].rstrip(",") + "," + word
            continue
        if word.startswith("--") and "=" in word:
            flag = word.partition("=")[0]
        else:
            flag = found[-1] if found and found[-1] in known and not flag else ""
        found.append(word)
    return found


def _is_value(flag: str, word: str) -> bool:
    """Return whether a word is one more value of --at: y=2, and no formula y = x^2."""
    name, equals, value = word.partition("=")
    return flag == "--at" and name.isidentifier() and bool(equals and value) and not value.strip(
        "0123456789.eE+-*/()piπ√")


def arranged(argv: Sequence[str]) -> list[str]:
    """Return a command line with values of names in one word, and with formulas behind `--`, for a
    reader that takes -2x for an option.
    """
    command = find(argv[0]) if argv and argv[0] not in ("hw", "run") else None
    if command is None:
        return list(argv)
    known = _flags(command)
    words: list[str] = []
    formulas: list[str] = []
    joined = argv[1:] if command.answers else _joined(argv[1:], known)
    rest = iter(joined)
    for word in rest:
        if word == "--":
            formulas += rest
            break
        if word == "-" or not word.startswith("-") or _is_formula(word, known, command.name):
            formulas.append(word)
            continue
        words.append(word)
        if word in known and known[word].kind not in ("flag", "count"):
            words += [text for text in [next(rest, None)] if text is not None]
    if not any(text.startswith("-") and text != "-" for text in formulas):
        return [argv[0], *joined]
    return [argv[0], *words, "--", *formulas]


def _is_formula(word: str, known: Mapping[str, Option], command: str) -> bool:
    """Tell formulas and answers, -sin x and -2x, from options, --wrt, -q, -vv, -h, -o and -j4."""
    if not word.startswith("-") or word.startswith("--") or word in known:
        return False
    if command != "check":
        from gradcli.cli.formula import is_signed

        return is_signed(word)
    return not (set(word[1:]) <= set("hqv") or (word[1] == "j" and word[2:].isdigit()))
