"""Manual pages from the rows of the options: `python -m gradcli.cli.man FOLDER` writes them.

Pages are of man(7), see groff_man(7): one of gradcli, one of `gradcli hw`, one of each command. The
build puts them into the wheel as share/man/man1.
"""

from __future__ import annotations

import sys

from gradcli._version import __version__
from gradcli.cli.options import homework
from gradcli.cli.options.families import ABOUT, ARGUMENT_HELP, EXAMPLES, GROUPS, STATUS, SUMMARIES
from gradcli.cli.options.table import arguments, options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcli.cli.options.table import Option


RELATED = (
    ("grad", "jac", "hess", "eval", "why", "verify"), ("steps", "derive", "plot", "graph"),
    ("taylor", "tangent", "directional"), ("divergence", "curl", "laplacian"),
    ("implicit", "newton"), ("run", "eval", "why"), ("propagate", "grad"), ("check", "hw run"),
    ("hw run", "hw lint", "hw diff", "hw explain", "hw stats", "hw export"))
"""Commands whose pages name each other; of a command the first row counts."""

SIGNS = {"\\": "\\(rs", "-": "\\-", "^": "\\(ha", "~": "\\(ti", "`": "\\(ga", "'": "\\(aq"}


def pages() -> dict[str, str]:
    """File name to page: `gradcli-hw-run.1`."""
    found = {"gradcli.1": _group("", ABOUT), "gradcli-hw.1": _group("hw", homework.ABOUT_HW)}
    found.update((f"{_dashed(command)}.1", _page(command)) for command in SUMMARIES)
    return found


def escaped(text: str) -> str:
    """Text that roff shows as it is: no hyphenation signs for minus, no commands in a line."""
    text = "".join([SIGNS.get(character, character) for character in text])
    return f"\\&{text}" if text.startswith(".") else text


def _dashed(command: str) -> str:
    return "-".join(["gradcli", *command.split()])


def _head(command: str, summary: str) -> list[str]:
    name = _dashed(command)
    return [f'.TH "{name.upper()}" "1" "" "gradcli {__version__}" "User Commands"', ".SH NAME",
            f"{escaped(name)} \\- {escaped(summary)}", ".SH SYNOPSIS",
            f".B {escaped(' '.join(['gradcli', *command.split()]))}"]


def _page(command: str) -> str:
    lines = _head(command, SUMMARIES[command])
    names = arguments(command) or ()
    lines.append(" ".join(["[\\fIOPTION\\fR]...", *[f"[\\fI{n.upper()}\\fR]" for n in names]]))
    lines += [".SH DESCRIPTION", escaped(SUMMARIES[command])]
    for name in names:
        lines += [".TP", f"\\fI{name.upper()}\\fR", escaped(ARGUMENT_HELP[name])]
    lines.append(".SH OPTIONS")
    for option in options(command):
        lines += [".TP", _flags(option), escaped(_help(option))]
    lines += [".TP", "\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "Show a short form of this page."]
    lines += _examples(EXAMPLES[command]) + _status()
    above = ["gradcli", *(["gradcli hw"] if command.startswith("hw ") else [])]
    related = next((group for group in RELATED if command in group), ())
    return _finished(lines, [*above, *[f"gradcli {c}" for c in related if c != command]])


def _group(group: str, about: str) -> str:
    """The page of what has commands of its own."""
    lines = _head(group, about)
    lines += ["\\fICOMMAND\\fR [\\fIOPTION\\fR]...", ".SH DESCRIPTION", escaped(about),
              ".SH COMMANDS"]
    own = [c for c in SUMMARIES if c.startswith("hw ") == (group == "hw")]
    for command in own:
        lines += [".TP", f"\\fBgradcli {escaped(command)}\\fR", escaped(SUMMARIES[command])]
    if not group:
        lines += [".TP", "\\fBgradcli hw\\fR \\fICOMMAND\\fR", escaped(homework.ABOUT_HW),
                  ".SH OPTIONS"]
        for flag, text in (("version", "Print the version."),
                           ("install-completion", "Install completion for the shell in use."),
                           ("show-completion", "Print the completion script of that shell."),
                           ("help", "Show help; gradcli COMMAND --help shows that of a command.")):
            lines += [".TP", f"\\fB{escaped('--' + flag)}\\fR", escaped(text)]
    lines += _examples(GROUPS[group]) + _status()
    others = [f"gradcli {c}" for c in own]
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
    if option.kind == "text" and option.default is not None:
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
    """All pages into a folder, which is made."""
    import os

    os.makedirs(folder, exist_ok=True)
    for name, text in pages().items():
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m gradcli.cli.man FOLDER")
    write(sys.argv[1])
