"""why: what every derivative is and how it came about; --fix and --write mend the file."""

from __future__ import annotations

from gradcli import questions
from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.cli.commands.output import deliver
from gradcli.cli.commands.question import guarded, question_from
from gradcli.cli.environment import OK, WRONG, write
from gradcli.cli.files import write_file
from gradcli.questions import why as explaining
from gradcli.render.entries import listed
from gradcli.render.numbers import first_derivative, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.cli.options.programs import WhyOptions
    from gradcli.lang.running.program import Program
    from gradcli.questions.why import Explained, Mended


MARK = b"\xef\xbb\xbf"      # what some editors put at the front of a file


def run(options: WhyOptions, environment: Environment) -> int:
    """Explain, or show and make the changes that help; with --strict 1 if a gradient is None, after
    --write if one still is.
    """
    changing = options.fix or options.write

    def work(program: Program, options: WhyOptions) -> tuple[Explained, Mended | None]:
        found = explaining.explained(question_from(program, options))
        return found, explaining.mended(found) if changing else None

    found, mended = guarded(options, environment, work)
    answer = found.answer
    if mended is not None:
        _mend(found.question.program.source.as_typed, mended.text, options, environment)
        if not options.quiet:
            environment.tell(_summary(answer, mended, options))
        if options.write:
            left = mended.lost or set(_missing(answer)) - mended.gained
            return WRONG if left and options.strict else OK
    else:
        if options.framework is not None:
            from gradcli.explain.frameworks import in_words

            answer["framework"] = in_words(_codes(answer), options.framework)
        deliver(answer, options, environment)
    return WRONG if questions.failed(answer, options.strict) else OK


def _codes(answer: dict[str, Any]) -> Iterator[str]:
    """Yield the codes of all causes, and of the notes on what is 0, NaN or infinite."""
    for result in answer["results"]:
        for source in result["sources"]:
            for remark in (*source["reasons"], *source["notes"]):
                yield remark["code"]


def _missing(answer: dict[str, Any]) -> list[tuple[int, int]]:
    """Return (number of the result, number of the source) of each gradient without a path."""
    return [(i, j) for i, result in enumerate(answer["results"])
            for j, source in enumerate(result["sources"]) if source["reasons"]]


def _mend(source: Source, text: str, options: WhyOptions, environment: Environment) -> None:
    """Make the change with --write, show the diff with --fix: the file first, so that none is
    announced that was not made.
    """
    if options.write and text != source.text:
        _change(options.file or "", source, text)
    if options.fix:
        show(source, text, options, environment)


def show(source: Source, text: str, options: WhyOptions, environment: Environment) -> None:
    """Show the diff between a file and its new text, or write it to the file of -o."""
    path = None if options.output == "-" else options.output
    stream = environment.stdout
    if path is not None:
        write_file(path, unified(source.name, source.text, text))
        return
    # A person sees what is there; a program gets the bytes that it can apply.
    write(stream, unified(source.name, source.text, text, safe=environment.terminal(stream),
                               color=environment.color(stream, options.color)))


def _change(path: str, source: Source, text: str) -> None:
    """Give the file this text or leave it as it is. Raises E0605 if it is no regular file, or no
    longer holds what was read.
    """
    import os

    problem = None
    before = b""
    if not os.path.isfile(path):
        problem = "it is no regular file"
    else:
        with open(path, "rb") as file:
            before = file.read()
        if before.removeprefix(MARK) != source.text.encode():
            problem = "it was changed meanwhile"
    if problem is not None:
        raise GradcliError(Diagnostic(
            "E0605", f"cannot write `{path}`: {problem}", span=(0, len(path)),
            source=Source(path, "--write"), help="--fix shows the changes as a diff"))
    write_file(path, ("\ufeff" if before.startswith(MARK) else "") + text, "--write")


def _summary(answer: dict[str, Any], mended: Mended, options: WhyOptions) -> str:
    """Tell what is mended and what is not, for standard error."""
    missing = _missing(answer)
    if not missing:
        return "nothing to mend: no gradient is None\n"

    def names(places: Collection[tuple[int, int]]) -> str:
        return listed([first_derivative(answer["results"][i]["of"],
                                        answer["results"][i]["sources"][j]["wrt"])
                       for i, j in sorted(places)])

    lines = []
    for places, verb, why in (
            (mended.broken, "stay", "the whole program does not work with the fix"),
            (mended.left - mended.broken, "stay", "the fix does not go with the others"),
            (set(missing) - mended.left - mended.gained, "stay", "no change that was tried helps"),
            (mended.lost, "become", "another name has the value then")):
        if places:
            verb += "s" if len(places) == 1 else ""
            lines.append(f"{names(places)} {verb} None: {why}")
    if mended.gained:
        have = "has a gradient" if len(mended.gained) == 1 else "have gradients"
        lines.append(
            f"{answer['file']} is changed: {names(mended.gained)} now {have}" if options.write
            else f"with this change {names(mended.gained)} {have}; --write makes it")
    return "".join([visible(line) + "\n" for line in lines])


# ---- changes as a unified diff that `patch` reads ----------------------------------------------


COLORS = {"-": "\x1b[31m", "+": "\x1b[32m", "@": "\x1b[36m"}
BOLD, OFF = "\x1b[1m", "\x1b[0m"
NO_END = "\\ No newline at end of file"


def unified(name: str, before: str, after: str, safe: bool = False, color: bool = False) -> str:
    """Return the diff, empty if nothing changes. safe: with escapes for unprintable characters."""
    return "".join([
        line + "\n" for line in _diff_lines(visible(name), before, after, safe, color)])


def _diff_lines(name: str, before: str, after: str, safe: bool, color: bool) -> Iterator[str]:
    from difflib import unified_diff

    found = unified_diff(_split(before), _split(after), name, name, lineterm="\n")
    for at, line in enumerate(found):
        text, end = line.removesuffix("\n"), line.endswith("\n")
        if safe:
            text = text[:1] + visible(text[1:].removesuffix("\r"))
        paint = (BOLD if at < 2 else COLORS.get(text[:1], "")) if color else ""
        yield f"{paint}{text}{OFF}" if paint else text
        if not end:
            yield NO_END


def _split(text: str) -> list[str]:
    """Return the lines with their ends, split at line feeds only: other characters end no line of a
    file.
    """
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
