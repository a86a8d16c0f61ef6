"""Changes of a text as a unified diff that `patch` reads."""

from __future__ import annotations

from gradcli.render.numbers import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

COLORS = {"-": "\x1b[31m", "+": "\x1b[32m", "@": "\x1b[36m"}
HEAD, OFF = "\x1b[1m", "\x1b[0m"
NO_END = "\\ No newline at end of file"


def unified(name: str, before: str, after: str, safe: bool = False, color: bool = False) -> str:
    """Return the diff, empty if nothing changes. safe: with escapes for unprintable characters."""
    return "".join([
        line + "\n" for line in _lines(visible(name), before, after, safe, color)])


def _lines(name: str, before: str, after: str, safe: bool, color: bool) -> Iterator[str]:
    from difflib import unified_diff

    found = unified_diff(_split(before), _split(after), name, name, lineterm="\n")
    for at, line in enumerate(found):
        text, end = line.removesuffix("\n"), line.endswith("\n")
        if safe:
            text = text[:1] + visible(text[1:].removesuffix("\r"))
        paint = (HEAD if at < 2 else COLORS.get(text[:1], "")) if color else ""
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
