r"""A text in LaTeX as its formulas: lines, what `\\` separates, what stands left of `=`."""

from __future__ import annotations

import re

from gradcli.errors import error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcli.errors import Span

DISPLAY = re.compile(
    r"\\(?:begin|end)\s*\{(?:align|aligned|equation|gather|gathered|split|displaymath|math)\*?\}"
    r"|\\\[|\\\]|\\\(|\\\)|\$\$?|\\(?:label|tag)\{[^{}]*\}|\\nonumber|\\notag")
BREAK = re.compile(r"\\\\(?:\[[^\]]*\])?|\n|;")
# A name, with an index or without, and arguments, which say what it is a function of.
LEFT = re.compile(r"\s*(\\?[^\W\d_]+(?:\{[A-Za-z]+\})?(?:_(?:\{\w+\}|\w))?)\s*(?:\\left)?"
                  r"(?:\([^()]*\))?\s*:?$")


def parts(text: str) -> Iterator[tuple[Span | None, Span]]:
    """(where the name stands or None, where the formula stands) of each formula.

    Raises E0210 for a text without one, E0719 for a left side that is no name.
    """
    text = _without_display(text)
    count = 0
    for begin, end in _lines(text):
        if not text[begin:end].strip():
            continue
        count += 1
        equals = text.find("=", begin, end)
        if equals < 0:
            yield None, (begin, end)
            continue
        found = LEFT.match(text[begin:equals])
        if found is None:
            raise error("E0719", "this left side is no name", (begin, equals),
                        help="write y = ..., f(x) = ..., or the formula alone")
        yield (begin + found.start(1), begin + found.end(1)), (equals + 1, end)
    if not count:
        raise error("E0210", "there is no formula", (0, len(text)),
                    help=r"such as \frac{x^2}{1+e^{-x}}")


def _without_display(text: str) -> str:
    """Blanks in place of what only displays a formula, and of the & that align it."""
    text = DISPLAY.sub(lambda found: " " * len(found.group()), text)
    out = list(text)
    depth = 0
    for found in re.finditer(r"\\begin|\\end|(?<!\\)&", text):
        depth += {"\\begin": 1, "\\end": -1}.get(found.group(), 0)
        if found.group() == "&" and depth <= 0:
            out[found.start()] = " "
    return "".join(out)


def _lines(text: str) -> Iterator[Span]:
    """Where the formulas stand: breaks inside of brackets or matrices do not end one."""
    begin = depth = 0
    for found in re.finditer(rf"\\begin|\\end|\\[{{}}]|[({{\[]|[)}}\]]|{BREAK.pattern}", text):
        word = found.group()
        if word in ("\\begin", "(", "{", "["):
            depth += 1
        elif word in ("\\end", ")", "}", "]"):
            depth -= 1
        elif depth <= 0 and word not in ("\\{", "\\}"):
            yield begin, found.start()
            begin = found.end()
    yield begin, len(text)
