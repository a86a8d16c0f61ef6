"""The names that the computation of a target reads, from the text of a file.

Code that did not run, a condition and a name that hides another are causes only where they have to
do with one of these names.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from math import inf

from gradcli.engine.record.record import OUT
from gradcli.explain.missing.scene import Scene, place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.explain.missing.outline import Line, Outline
    from gradcli.explain.missing.scene import Subject
    from gradcli.lang.running.log import Unrun

    # The names of the target, those that it is computed with, and an id from when it was there.
    Names = tuple[set[str], set[str], float]

NAME = re.compile(r"[^\W\d]\w*")
CONTROL = re.compile(r"(if|elif|else|while|for)\b")
LEAVING = re.compile(r"\b(break|continue|return)\b")
# Bindings: `a, b = ..`, `a += ..`, `var a: float64 = ..`, `a.assign(..)`, `for a in ..`.
_NAMES = r"((?:[^\W\d]\w*)(?:\s*,\s*[^\W\d]\w*)*)"
BINDINGS = tuple([re.compile(pattern, re.MULTILINE) for pattern in (
    rf"(?:^|[:;])\s*(?:(?:var|const|input)\s+)?{_NAMES}\s*(?::[^=\n]*)?[-+*/%@^]*=(?!=)",
    rf"{_NAMES}\s*\.\s*assign", rf"\bfor\s+{_NAMES}\s+in\b")])


class FileScene(Scene):
    """The scene of a file. bodies: spans of its functions that ran, by name."""

    __slots__ = ("_known", "_outer", "bodies", "outline")

    def __init__(self, outline: Outline, bodies: dict[str, Span], *parts: Any) -> None:
        super().__init__(*parts)
        self.outline = outline
        self.bodies = bodies
        self._known: dict[tuple[str, frozenset[int]], Names] = {}
        self._outer = [(first, place) for first, place in self.calls if self.scope(place) is None]

    def decides(self, subject: Subject, above: set[int], unrun: Unrun) -> bool:
        """Return whether code that did not run binds names that could have changed the target."""
        if subject.asked is not None and unrun.time > subject.asked:
            return False
        place = self._outermost(unrun.time, unrun.span)
        own, read, made = self._names_for(subject, above)
        bound = unrun.binds if place is unrun.span and unrun.binds else self._bound_at(place)
        if bound is None:
            return True
        return not own.isdisjoint(bound) or (unrun.time <= made and not read.isdisjoint(bound))

    def hides(self, subject: Subject, above: set[int], place: Any) -> bool:
        """Return whether the target calls the function here, or reads names that the loop binds."""
        own, read, _ = self._names_for(subject, above)
        around = self.scope(place)
        names = self._bound_at(place) if around is None else {
            name for name, span in self.bodies.items() if span == around}
        return names is None or not names.isdisjoint(own | read)

    def _outermost(self, time: float, span: Span) -> Span:
        """Return the span where something ran; in a function, that of the call outside of all."""
        if self.scope(span) is None:
            return span
        k = bisect_right(self._outer, time, key=lambda call: call[0])
        return self._outer[k - 1][1] if k else span

    def _bound_at(self, place: Span) -> set[str] | None:
        """Return the names that a statement and its block bind; None for a bare expression."""
        line = self.outline.at(place[0])
        if line is None:
            return None
        if CONTROL.match(self._text(line)) is None:
            return bound_in(self._text(line)) or None
        whole = self._block(line)
        while LEAVING.search(whole) is not None and line.parent is not None:
            # It decides over the rest of the block around it.
            line = line.parent
            whole = self._block(line)
            if re.match(r"(for|while)\b", self._text(line)) is not None:
                break
        return bound_in(whole)

    def _block(self, line: Line) -> str:
        chain = self.outline.chain(line)
        return self.outline.text[chain[0].first:self.outline.whole(chain[-1])[1]]

    def _text(self, line: Line) -> str:
        return self.outline.text[line.first:line.last]

    def _names_for(self, subject: Subject, above: set[int]) -> Names:
        key = subject.target, frozenset(subject.targets)
        if key not in self._known:
            self._known[key] = self._find(subject, above)
        return self._known[key]

    def _find(self, subject: Subject, above: set[int]) -> Names:
        own = set(NAME.findall(subject.target)) if subject.target != "the target" else set()
        places = {self._outermost(entry[OUT], place) for entry in self.entries
                  if entry[OUT] in above for place in [place_of(entry)] if place is not None}
        lines = {self.outline.at(place[0]) for place in places}
        written = self.outline.text[slice(*subject.target_span)] if subject.target_span else ""
        read = {*own, *NAME.findall(written), *(name for line in lines if line is not None
                                                for name in NAME.findall(self._text(line)))}
        # Names of values without an operation of their own.
        namings = [n for n in self.namings if n.id in above and n.span is not None]
        todo = list(read)
        for name in todo:
            texts = [self.outline.text[slice(*self.bodies[name])]] if name in self.bodies else []
            for n in namings:
                line = self.outline.at(n.span[0]) if n.name == name and n.span else None
                texts += [self._text(line)] if line is not None else []
            more = dict.fromkeys(m for text in texts for m in NAME.findall(text))
            todo += [m for m in more if m not in read]
            read.update(more)
        times = [n.time for n in self.namings if n.name in own and n.id in subject.targets
                 and (subject.asked is None or n.time <= subject.asked)]
        return own, read, max([*times, *subject.targets]) if times else inf


def bound_in(text: str) -> set[str]:
    """Return the names that a text binds."""
    return {name for pattern in BINDINGS for found in pattern.findall(text)
            for name in NAME.findall(found)}
