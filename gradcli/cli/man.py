"""Manual pages from the rows of the options: `python -m gradcli.cli.man FOLDER` writes them.

Pages are of man(7), see groff_man(7): one of gradcli, one of `gradcli hw`, one of each command. The
build puts them into the wheel as share/man/man1.
"""

from __future__ import annotations

import sys

from gradcli._version import __version__
from gradcli.cli.options import commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcli.cli.options import Command, Option

GROUPS = {
    "": ("The gradient calculator of the command line.",
         ("gradcli 'x^2 sin x'", "gradcli grad expr.txt --wrt x",
          "gradcli grad -e 'x^2*sin(y)' --at x=1.5,y=0.5",
          "gradcli steps -e 'x^2*sin(x)' --at x=1.5", "gradcli why model.txt",
          "gradcli grad --help")),
    "hw": ("Homework of a whole class: check, grade, review, report.",
           ("gradcli hw lint sheet.toml", "gradcli hw run sheet.toml submissions",
            "gradcli hw stats")),
}
"""What it is for, and examples."""

STATUS = (
    ("0", "Everything is fine."),
    ("1", "Something that was checked is wrong: an answer, an expectation, a derivative."),
    ("2", "The command line is wrong."),
    ("3", "The input is wrong: syntax, names, shapes, a budget, a file that cannot be read."),
    ("70", "A bug in gradcli."),
    ("130", "Interrupted."),
)
"""Exit statuses."""

RELATED = (
    ("grad", "jac", "hess", "eval", "why", "verify"), ("steps", "derive", "plot", "graph"),
    ("taylor", "tangent", "directional"), ("divergence", "curl", "laplacian"),
    ("study", "limit", "plot"), ("implicit", "newton"), ("run", "eval", "why"),
    ("propagate", "grad"), ("check", "hw run"),
    ("hw run", "hw lint", "hw diff", "hw explain", "hw stats", "hw export"))
"""Commands whose pages name each other; of a command the first row counts."""

SIGNS = {"\\": "\\(rs", "-": "\\-", "^": "\\(ha", "~": "\\(ti", "`": "\\(ga", "'": "\\(aq"}


def pages() -> dict[str, str]:
    """Return all pages, by file name: `gradcli-hw-run.1`."""
    found = {"gradcli.1": _group(""), "gradcli-hw.1": _group("hw")}
    found.update((f"{_dashed(row.name)}.1", _page(row)) for row in commands())
    return found


def escaped(text: str) -> str:
    """Escape a text for roff: no hyphenation signs for minus, no commands in a line."""
    text = "".join([SIGNS.get(character, character) for character in text])
    return f"\\&{text}" if text.startswith(".") else text


def _dashed(command: str) -> str:
    return "-".join(["gradcli", *command.split()])


def _head(command: str, summary: str) -> list[str]:
    name = _dashed(command)
    return [f'.TH "{name.upper()}" "1" "" "gradcli {__version__}" "User Commands"', ".SH NAME",
            f"{escaped(name)} \\- {escaped(summary)}", ".SH SYNOPSIS",
            f".B {escaped(' '.join(['gradcli', *command.split()]))}"]


def _page(command: Command) -> str:
    lines = _head(command.name, command.summary)
    lines.append(" ".join(
        ["[\\fIOPTION\\fR]...", *[f"[\\fI{a.name.upper()}\\fR]" for a in command.arguments]]))
    lines += [".SH DESCRIPTION", escaped(command.summary)]
    for argument in command.arguments:
        lines += [".TP", f"\\fI{argument.name.upper()}\\fR", escaped(argument.help)]
    lines += [".SH OPTIONS", ".TP", "\\fB\\-h\\fR, \\fB\\-\\-help\\fR",
              "Show a short form of this page."]
    panel = ""
    for option in command.options:
        if option.panel != panel:
            panel = option.panel
            lines.append(f".SS {panel}")
        lines += [".TP", _flags(option), escaped(_help(option))]
    lines += _examples(command.examples) + _status()
    above = ["gradcli", *(["gradcli hw"] if command.name.startswith("hw ") else [])]
    related = next((group for group in RELATED if command.name in group), ())
    return _finished(lines, [*above, *[f"gradcli {c}" for c in related if c != command.name]])


def _group(group: str) -> str:
    """Return the page of what has commands of its own."""
    about, examples = GROUPS[group]
    lines = _head(group, about)
    lines += ["\\fICOMMAND\\fR [\\fIOPTION\\fR]...", ".SH DESCRIPTION", escaped(about),
              ".SH COMMANDS"]
    own = [row for row in commands() if row.name.startswith("hw ") == (group == "hw")]
    for row in own:
        lines += [".TP", f"\\fBgradcli {escaped(row.name)}\\fR", escaped(row.summary)]
    if not group:
        lines += [".TP", "\\fBgradcli hw\\fR \\fICOMMAND\\fR", escaped(GROUPS["hw"][0]),
                  ".SH OPTIONS"]
        for flag, text in (("version", "Print the version."),
                           ("install-completion", "Install completion for the shell in use."),
                           ("show-completion", "Print the completion script of that shell."),
                           ("help", "Show help; gradcli COMMAND --help shows that of a command.")):
            lines += [".TP", f"\\fB{escaped('--' + flag)}\\fR", escaped(text)]
    lines += _examples(examples) + _status()
    others = [f"gradcli {row.name}" for row in own]
    return _finished(lines, ["gradcli", *others] if group else [*others, "gradcli hw"])


def _flags(option: Option) -> str:
    text = ", ".join([f"\\fB{escaped(flag)}\\fR" for flag in option.flags])
    metavar = option.metavar or "|".join(option.choices)
    return f"{text} \\fI{escaped(metavar)}\\fR" if metavar and option.kind not in (
        "flag", "count") else text


def _help(option: Option) -> str:
    parts = [option.help]
    if option.metavar and option.choices:
        parts.append(f"One of {', '.join(option.choices)}.")
    if option.kind == "text" and option.default:
        parts.append(f"Default: {option.default}.")
    if option.kind == "list":
        parts.append("May be given more than once.")
    return " ".join(parts)


def _examples(examples: Iterable[str]) -> list[str]:
    return [".SH EXAMPLES", ".nf", *[escaped(line) for line in examples], ".fi"]


def _status() -> list[str]:
    lines = [".SH EXIT STATUS"]
    for number, text in STATUS:
        lines += [".TP", f"\\fB{number}\\fR", escaped(text)]
    return lines


def _finished(lines: list[str], others: Iterable[str]) -> str:
    see = ", ".join([f"\\fB{escaped('-'.join(other.split()))}\\fR(1)" for other in others])
    return "\n".join([*lines, ".SH SEE ALSO", see, ""])


def write(folder: str) -> None:
    """Write all pages into a folder, which is made."""
    import os

    os.makedirs(folder, exist_ok=True)
    for name, text in pages().items():
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m gradcli.cli.man FOLDER")
    write(sys.argv[1])
