"""How an explanation names an operation: as it is written in the file, not as the engine calls it.
"""

from __future__ import annotations

from gradcli.engine.record.record import OP, span_of
from gradcli.explain.written import called as head_of
from gradcli.ops import lookup
from gradcli.ops.rows import INTERNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Source
    from gradcli.engine.record.record import Entry

# Longer texts are not quoted in full.
LONGEST = 40


def written(entry: Entry, source: Source) -> str:
    """The text of the operation in one line, long ones in part; empty without a place."""
    span = span_of(entry)
    text = " ".join(source.text[span[0]:span[1]].split()) if span is not None else ""
    return text if len(text) <= LONGEST else f"{text[:LONGEST - 3].rstrip()}..."


def called(entry: Entry, source: Source) -> str:
    """The name in the call; of what is written without one, an operator, the text, and so of a
    row that no file can name.
    """
    span = span_of(entry)
    head = head_of(source.text, span) if span is not None else ""
    name = head.rpartition(".")[2]
    call = head.replace(".", "").isidentifier()
    if call and lookup(name) is not None:
        return name
    own = entry[OP].name
    return own if call and own not in INTERNAL else written(entry, source) or own


def number(value: float) -> str:
    """A number in a sentence: six significant digits."""
    return f"{value:.6g}"


def element(index: tuple[int, ...]) -> str:
    """An element in a sentence; empty for that of a scalar."""
    return f"element [{', '.join([str(int(k)) for k in index])}]" if index else ""
