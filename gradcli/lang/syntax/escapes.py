"""Backslashes in strings: `\\n`, `\\t`, `\\\\`, quotes, `\\x41`, `\\u03b1`, `\\U0001f600`."""

from __future__ import annotations

from gradcli.base.errors import error

_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", "'": "'", '"': '"'}
_DIGITS = {"x": 2, "u": 4, "U": 8}


def unescaped(text: str, offset: int) -> str:
    """Return the string that `text`, the part between the quotes, stands for.

    offset: of `text` in the source. Raises E0108 for an escape that means nothing.
    """
    parts: list[str] = []
    at = 0
    while (backslash := text.find("\\", at)) >= 0:
        letter = text[backslash + 1]
        end = backslash + 2 + _DIGITS.get(letter, 0)
        character = _PLAIN.get(letter) or _by_number(text[backslash + 2:end], letter)
        if character is None:
            raise error("E0108", f"`{text[backslash:end]}` is not an escape sequence",
                        (offset + backslash, offset + min(end, len(text))),
                        help=f"write `\\\\{letter}` for a backslash, or leave it out")
        parts += text[at:backslash], character
        at = end
    return "".join((*parts, text[at:]))


def _by_number(digits: str, letter: str) -> str | None:
    if len(digits) != _DIGITS.get(letter) or not all(d in "0123456789abcdefABCDEF" for d in digits):
        return None
    number = int(digits, 16)
    return chr(number) if number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF else None
