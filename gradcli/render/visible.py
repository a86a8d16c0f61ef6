"""Text of others made harmless: what cannot be seen is shown as an escape.

Names, file names, messages and source lines may hold terminal escapes, line ends or bidirectional
marks. Every text renderer passes such text through `visible` before it writes or measures it.
"""

from __future__ import annotations


def visible(text: str) -> str:
    r"""`text` with every unprintable character as `\x1b`, `\u202e`, `\t`, ...

    Controls, line ends, bidirectional marks, zero-width characters, odd spaces and lone
    surrogates are unprintable; letters of all scripts and combining marks are not.
    """
    if text.isprintable():
        return text
    return "".join([escape(c) for c in text])


def escape(character: str) -> str:
    """The escape of one character, as Python would write it in a string."""
    return character if character.isprintable() else repr(character)[1:-1]


def encodable(text: str, encoding: str) -> str:
    r"""`visible(text)` in characters that `encoding` has; others as `\u2202`."""
    shown = visible(text)
    if shown.isascii():
        return shown
    return shown.encode(encoding, "backslashreplace").decode(encoding)
