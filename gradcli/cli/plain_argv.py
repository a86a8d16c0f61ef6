"""The plain form of a command line, read without Typer.

Importing Typer and building its application costs five times an empty Python start (57 against
10 ms); this loop over argv costs none. It reads what is written the plain way and answers None to
anything else - an unknown option, a missing value, --help, a mistake - and then Typer reads the
same arguments, and helps or complains.
"""

from __future__ import annotations

from gradcli.cli.options import find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcli.cli.options import Command, Option, Options


def read(argv: Sequence[str]) -> Options | None:
    """Read a plain command line; None if it is not plain."""
    name = " ".join(argv[:2] if argv[:1] == ["hw"] else argv[:1])
    command = None if name.startswith("-") else find(name)
    if command is None:
        return None
    known = _flags(command)
    options = command.kind(command)
    values = vars(options)
    free = iter(command.arguments)
    given = set()
    rest = iter(argv[1 + name.count(" "):])
    for word in rest:
        if word == "-" or not word.startswith("-") or (
                name == "check" and _is_formula(word, known)):
            argument = next(free, None)
            if argument is None:
                return None
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


def arranged(argv: Sequence[str]) -> list[str]:
    """Put formulas behind `--`, for a reader that takes -2x for an option."""
    command = find("check") if argv[:1] == ["check"] else None
    if command is None:
        return list(argv)
    known = _flags(command)
    words: list[str] = []
    formulas: list[str] = []
    rest = iter(argv[1:])
    for word in rest:
        if word == "--":
            formulas += rest
            break
        if word == "-" or not word.startswith("-") or _is_formula(word, known):
            formulas.append(word)
            continue
        words.append(word)
        if word in known and known[word].kind not in ("flag", "count"):
            words += [text for text in [next(rest, None)] if text is not None]
    if not any(text.startswith("-") and text != "-" for text in formulas):
        return list(argv)
    return ["check", *words, "--", *formulas]


def _is_formula(word: str, known: Mapping[str, Option]) -> bool:
    """Tell answers, -sin x and -2x, from options, --wrt, -q, -vv, -h, -o and -j4."""
    if not word.startswith("-") or word.startswith("--") or word in known:
        return False
    return not (set(word[1:]) <= set("hqv") or (word[1] == "j" and word[2:].isdigit()))
