"""The plain form of a command line, read without Typer.

Importing Typer and building its application costs five times an empty Python start (57 against
10 ms); this loop over argv costs none. It reads what is written the plain way and answers None to
anything else - an unknown option, a missing value, --help, a mistake - and then Typer reads the
same arguments, and helps or complains.
"""

from __future__ import annotations

from gradcli.cli.options import ARGUMENTS, defaults, misused, options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def read(argv: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """(command, values) of a plain command line, or None."""
    if not argv or argv[0] not in ARGUMENTS:
        return None
    command = argv[0]
    known = {flag: o for o in options(command) for flag in o.flags}
    values = defaults(command)
    argument = ARGUMENTS[command]
    given = set()
    rest = iter(argv[1:])
    for word in rest:
        if word == "-" or not word.startswith("-"):
            if values[argument] is not None:
                return None
            values[argument] = word
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
    return None if misused(command, values) else (command, values)
