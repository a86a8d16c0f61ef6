"""Programs drawn by a grammar that is data: the one generator, of which each test gives the forms.

A grammar says for each kind of part how it may be written: texts with holes for other parts.

    {s}    a part of the kind s, one level less deep     {s!}   a name of this kind in scope
    {s=}   as deep as this one                           {s+}   a new name, bound from then on
    {s?}   of any depth below                            {s*}   a new name of this form alone
    {s2}   two levels deep                               {s&}   a part in a scope of its own, with
    {s:3}  in brackets if it binds weaker than 3                the names of this form
    {1}    the first hole again                          {s@}   one that sees these names alone

What comes of it is a tree. An oracle reads its text (gradcli, Python, stock Lark), evaluates its
forms in numbers of its own (mpmath, jets), or has it made smaller until a fault is gone.
"""

from __future__ import annotations

import bisect
import itertools
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

HOLE = re.compile(r"\{(?:([1-9])|([A-Za-z]+)([=?!+*&@]?)([0-9]?)(?::([0-9]))?)\}")
ATOM = 9            # how strongly what needs no brackets binds


class Hole(NamedTuple):
    """A place for a part. again: which hole it repeats, from 1. margin: what its line begins with.
    """

    again: int
    kind: str
    flag: str
    depth: int | None
    strength: int
    margin: str


class Form:
    """One of the texts by which a kind may be written. weight: how often, beside the others of
    the kind; strength: how tightly the text binds, for holes that ask for it.
    """

    __slots__ = ("holes", "literals", "needs", "strength", "text", "weight")

    def __init__(self, text: str, weight: float = 1.0, strength: int = ATOM) -> None:
        self.text = text
        self.weight = weight
        self.strength = strength
        self.literals: list[str] = []
        self.holes: list[Hole] = []
        end = 0
        for match in HOLE.finditer(text):
            line = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
            again, kind, flag, depth, strong = match.groups()
            self.literals.append(text[end:match.start()])
            self.holes.append(Hole(
                int(again or 0), kind, flag or "", int(depth) if depth else None,
                int(strong or 0), line[:len(line) - len(line.lstrip())]))
            end = match.end()
        self.literals.append(text[end:])
        self.needs = [hole.kind for hole in self.holes if hole.flag == "!"]


class Tree:
    """A part as it was drawn: its kind, its form and the parts in the holes; the text of all."""

    __slots__ = ("form", "kind", "parts", "text")

    def __init__(self, kind: str, form: Form, parts: Sequence[Tree] = ()) -> None:
        self.kind = kind
        self.form = form
        self.parts = tuple(parts)
        texts, given = [form.literals[0]], iter(self.parts)
        for hole, literal in zip(form.holes, form.literals[1:], strict=True):
            part = self.parts[hole.again - 1] if hole.again else next(given)
            text = part.text if part.form.strength >= hole.strength else f"({part.text})"
            if hole.margin and "\n" in text:
                text = text.replace("\n", "\n" + hole.margin)
            texts += text, literal
        self.text = "".join(texts)

    def walk(self) -> Iterator[Tree]:
        """Yield this part and all in it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def features(self) -> set[str]:
        """Return the forms that are used."""
        return {tree.form.text for tree in self.walk()}

    def replaced(self, change: Callable[[Tree], Tree | None]) -> Tree:
        """Return the tree with what `change` returns for some of its parts."""
        return change(self) or Tree(
            self.kind, self.form, [part.replaced(change) for part in self.parts])

    def smaller(self, simpler: Callable[[Tree], Iterable[Tree]] = lambda tree: ()
                ) -> Iterator[Tree]:
        """Yield trees with one thing less: a part of the same kind in place of the whole, or what
        `simpler` makes of it; then the same inside of the parts.
        """
        for part in self.parts:
            yield from (inner for inner in part.walk() if inner.kind == self.kind)
        yield from simpler(self)
        for k, part in enumerate(self.parts):
            for other in part.smaller(simpler):
                yield Tree(self.kind, self.form, (*self.parts[:k], other, *self.parts[k + 1:]))


@cache
def name_of(kind: str, name: str) -> Tree:
    """Return a name as a part of a kind of its own."""
    return Tree(f"{kind} name", Form(name))


BRACKETS = Form("({any})")


class Grammar:
    """Forms by kind. ends: kinds with a part that goes no deeper where the depth is used up, and
    how often else. brackets: how often parts get some that they do not need. functions: kinds
    whose names are seen in other functions, too.
    """

    def __init__(self, forms: Mapping[str, Sequence[str | Form]],
                 ends: Mapping[str, float] | None = None, brackets: float = 0.0,
                 functions: Collection[str] = ()) -> None:
        self.ends = ends or {}
        self.brackets = brackets
        self.functions = frozenset(functions)
        self.forms = {kind: [Form(form) if isinstance(form, str) else form for form in some]
                      for kind, some in forms.items()}
        unknown = {hole.kind for some in self.forms.values() for form in some for hole in form.holes
                   if not hole.again and hole.flag not in ("!", "+", "*")} - set(self.forms)
        unknown |= {literal for some in self.forms.values() for form in some
                    for literal in form.literals if re.search(r"\{[A-Za-z1-9]", literal)}
        if unknown:
            raise ValueError(f"no holes for {unknown}")
        words: set[str] = set()     # kinds without depth
        while more := {kind for kind, some in self.forms.items() if kind not in words and all(
                self._shallow(form, words) for form in some)}:
            words |= more
        self._pools = {kind: _Pool(some) for kind, some in self.forms.items()}
        self._leaves = {kind: _Pool([form for form in self.forms[kind]
                                     if self._shallow(form, words)]) for kind in self.ends}
        self._deep = {kind: _Pool([form for form in self.forms[kind]
                                   if not self._shallow(form, words)]) for kind in self.ends}

    def _shallow(self, form: Form, words: set[str]) -> bool:
        """Whether no part of a form takes depth."""
        return all(hole.again or hole.flag in ("!", "+", "*") or hole.depth is not None
                   or hole.kind in words for hole in form.holes)

    def choose(self, kind: str, depth: int, draw: random.Random) -> Form:
        """Return a form for a part of a kind."""
        if kind not in self.ends:
            return self._pools[kind].choose(draw)
        deep = depth > 0 and draw.random() >= self.ends[kind]
        return (self._deep if deep else self._leaves)[kind].choose(draw)


class _Pool:
    """Forms to choose from."""

    def __init__(self, forms: Sequence[Form]) -> None:
        self.forms = forms
        self.weights = list(itertools.accumulate(form.weight for form in forms))

    def choose(self, draw: random.Random) -> Form:
        """Return one, by weight."""
        return self.forms[bisect.bisect(
            self.weights, draw.random() * self.weights[-1], 0, len(self.forms) - 1)]


class Draw:
    """Parts of a grammar from one stream of random numbers. names: what is in scope, by kind."""

    def __init__(self, grammar: Grammar, stream: random.Random,
                 names: Mapping[str, Sequence[str]] | None = None) -> None:
        self.grammar = grammar
        self.random = stream
        self.names = {kind: list(some) for kind, some in (names or {}).items()}
        self.count = 0

    def text(self, kind: str, depth: int) -> str:
        return self.tree(kind, depth).text

    def tree(self, kind: str, depth: int) -> Tree:
        """Return a part of a kind, at most so deep."""
        for _ in range(1000):
            form = self.grammar.choose(kind, depth, self.random)
            if not form.needs or all(self.names.get(need) for need in form.needs):
                return self._filled(kind, form, depth)
        raise LookupError(f"no form of {kind} has the names that it needs: {self.names}")

    def _filled(self, kind: str, form: Form, depth: int) -> Tree:
        own: dict[str, list[str]] = {}
        lasting: list[tuple[str, str]] = []
        parts = []
        for hole in form.holes:
            if hole.again:
                continue
            if hole.flag == "!":
                part = name_of(hole.kind, self._recent(self.names[hole.kind]))
            elif hole.flag in ("+", "*"):
                self.count += 1
                name = f"{hole.kind}{self.count}"
                if hole.kind not in self.grammar.functions:     # which would have no end
                    own.setdefault(hole.kind, []).append(name)
                if hole.flag == "+":
                    lasting.append((hole.kind, name))
                part = name_of(hole.kind, name)
            else:
                part = self._part(hole, depth, own)
            if hole.strength and self.random.random() < self.grammar.brackets:
                part = Tree(part.kind, BRACKETS, (part,))
            parts.append(part)
        for bound, name in lasting:
            self.names.setdefault(bound, []).append(name)
        return Tree(kind, form, parts)

    def _recent(self, names: Sequence[str]) -> str:
        """Return a name, recent ones more often than old ones, so that all is used."""
        return names[-1 - int(len(names) * self.random.random() ** 1.5)]

    def _part(self, hole: Hole, depth: int, own: Mapping[str, list[str]]) -> Tree:
        if hole.depth is not None:
            depth = hole.depth
        elif hole.flag == "?":
            depth = self.random.randrange(max(1, depth))
        elif hole.flag != "=":
            depth -= 1
        if hole.flag not in ("&", "@"):
            return self.tree(hole.kind, depth)
        kept = self.names
        seen = kept if hole.flag == "&" else {
            kind: some for kind, some in kept.items() if kind in self.grammar.functions}
        self.names = {kind: [*seen.get(kind, ()), *own.get(kind, ())] for kind in {**seen, **own}}
        part = self.tree(hole.kind, depth)
        self.names = kept
        return part

