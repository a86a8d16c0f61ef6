"""What a tape of Python code recorded, in the form of the run of a file, as explanations read it.

Entries have spans in one text of all files that they came from, and values that the tape did not
keep are found again.
"""

from __future__ import annotations

import ast
from os.path import basename

from gradcli.base.errors import Source
from gradcli.base.lazy import np
from gradcli.engine.record.provenance import bytes_of, span_in
from gradcli.engine.record.record import ANS, IDS, OP, OUT, PLACE, VALUES, Record
from gradcli.engine.record.saved import is_hollow
from gradcli.engine.record.tensor import Tensor
from gradcli.explain import path
from gradcli.explain.elements import finite
from gradcli.explain.python import text as python_text
from gradcli.lang.running.run import Binding
from gradcli.lang.syntax import code as c
from gradcli.ops.kinds import LINEAR
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.engine.record.provenance import Position
    from gradcli.engine.record.record import Entry
    from gradcli.explain.missing.scene import Naming
    from gradcli.explain.python.text import PythonFile, PythonFiles

# Their operands are not kept either.
SUMS = ("add", "subtract")


class PythonText(Source):
    """The files of a program, that of the first place first, one behind the other as one text.

    Offsets are those of the whole; lines and columns those of the file.
    """

    __slots__ = ("_ends", "_files", "texts")

    def __init__(self, texts: PythonFiles, places: Iterable[Any]) -> None:
        self.texts = texts
        self._files: dict[PythonFile, int] = {}
        found = list(dict.fromkeys([texts.of(place) for place in places]))
        start = 0
        for file in found:
            self._files[file] = start
            start += sum(map(len, file.lines)) + 1
        super().__init__("\n".join(["".join(file.lines) for file in found]))

    def span(self, position: Position | None) -> Span | None:
        """Return the span of a position; None where the text has none."""
        file = self.texts.of(position) if position is not None else None
        if position is None or file not in self._files or not file.lines:
            return None
        start, end = span_in(file.lines, position)
        return self._files[file] + start, self._files[file] + end

    def _file(self, offset: int) -> tuple[PythonFile, int]:
        return next((file, start) for file, start in reversed(self._files.items())
                    if start <= offset)

    def position(self, offset: int) -> tuple[int, int]:
        """Return (line, column) of an offset in its file, both from 1."""
        _, start = self._file(offset)
        before = self.text[start:offset]
        return before.count("\n") + 1, len(before) - before.rfind("\n")

    def where(self, offset: int) -> str:
        """Return the line and column of an offset in words, with the name of any other file than
        the first.
        """
        file, start = self._file(offset)
        return super().where(offset) + (f" of {basename(file.path)}" if start else "")

    def located(self, span: Span | None) -> Position | None:
        """Return the position of a span."""
        return None if span is None else (
            self._file(span[0])[0].path, *self.position(span[0]), *self.position(span[1]))

    def instruction(self, place: Any, entries: Sequence[Entry]) -> Any:
        """Return what stands at a location in the form of a file's instruction: what it is, of a
        call the operation that it calls, and the span. entries: all that have the location.
        """
        span = self.span(self.texts.located(place))
        if span is None:
            return None
        node: Any = self.texts.around(place)[-1:]
        if not node or python_text.range_of(node[0]) != bytes_of(place):
            return c.UNARY, None, *span
        if isinstance(node[0], ast.BinOp):
            return c.BINARY, None, *span
        if isinstance(node[0], ast.Call) and any(
                len(node[0].args) == len(entry[IDS]) for entry in entries):
            names = {entry[OP].name for entry in entries}
            return c.CALL, names.pop() if len(names) == 1 else None, *span
        return c.UNARY, None, *span


def filled(entries: Sequence[Entry], known: Iterable[Tensor]
           ) -> tuple[list[Entry], dict[int, Any]]:
    """Return entries with the values that a tape did not keep, and all values by id; those that
    nobody knows stay hollow.

    known: tensors whose values are known. Where a target is not finite, a constant that is lost is
    NaN unless something else can have made it so.
    """
    sure = {t.id: t.value for t in known if t.id is not None}
    values = path.filled(path.values_by_id(entries), entries, sure)
    lost = {i for i, v in values.items() if path.unknown(v)}
    spoiled = lost and not all(finite(v) for v in sure.values())
    for entry in entries:       # back to what the tape has
        for i, v in (*zip(entry[IDS], entry[VALUES], strict=True), (entry[OUT], entry[ANS])):
            if i in lost:
                values[i] = v
    found: list[Entry] = []
    for entry in entries:
        kept = [v if i is None else values[i]
                for i, v in zip(entry[IDS], entry[VALUES], strict=True)]
        ans = values[entry[OUT]]
        if spoiled and (entry[OUT] in lost or not finite(ans)) and all(map(finite, kept)) and (
                entry[OP].kind == LINEAR or entry[OP].name in SUMS):
            kept = [np.full(shape_of(v), np.nan) if is_hollow(v) else v for v in kept]
            if not all(map(finite, kept)) and entry[OUT] in lost:
                ans = values[entry[OUT]] = np.full(shape_of(ans), np.nan)
        found.append((*entry[:VALUES], tuple(kept), ans, *entry[ANS + 1:]))
    return found, values


class TapeRun:
    """What a tape recorded, in the form of the run of a file, as explanations read it. codes: id of
    an answer to the code object of its function. ruled: ids of what belongs to derivatives.
    """

    __slots__ = ("bindings", "codes", "log", "record", "ruled", "variables")

    def __init__(self, entries: Sequence[Entry], known: Iterable[Tensor],
                 derived: Mapping[int, tuple[int, int]], namings: Iterable[Naming],
                 requests: Iterable[Sequence[Any]], text: PythonText) -> None:
        whole, values = filled(entries, known)
        at: dict[Any, list[Entry]] = {}
        for entry in whole:
            if entry[PLACE] is not None:
                at.setdefault(entry[PLACE], []).append(entry)
        places = {place: text.instruction(place, some) for place, some in at.items()}
        self.record = Record()
        self.record.entries.extend([
            (*e[:PLACE], places.get(e[PLACE]), *e[PLACE + 1:]) for e in whole])
        self.record.entries.scalar = False
        self.record.derived = dict(derived)
        self.codes = {e[OUT]: e[PLACE][0] for e in entries if e[PLACE] is not None}
        asked = [(first, last) for first, last, *_ in requests]
        self.ruled = {e[OUT] for e in entries if any(a < e[OUT] < b for a, b in asked)}
        self.log = None
        self.variables: dict[str, Any] = {}
        self.bindings: dict[str, list[Binding]] = {}
        for n in namings:
            span: Any = text.span(text.texts.located(n.span))
            # A text stands for a value that nobody knows, as it has no slope either.
            self.bindings.setdefault(n.name, []).append(
                Binding(n.name, Tensor(values.get(n.id, ""), n.id), span, n.kind))
