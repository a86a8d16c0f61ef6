"""The walks over a graph of numbered operations, and those over a record, against definitions that
follow every way one by one.
"""

from __future__ import annotations

import random

import pytest
from conftest import folded

import gradcli
from gradcli.engine.record.record import IDS, OUT, ancestry, descendants, leading
from gradcli.ops.graph import Graph, reached


def drawn(seed: int) -> Graph:
    """Return a graph of 3 leaves and 12 operations on one to three earlier ones each."""
    draw = random.Random(seed)
    graph = Graph(3)
    for k in range(12):
        n = len(graph.args)
        graph.node((seed, k), tuple(draw.randrange(n) for _ in range(draw.randint(1, 3))))
    return graph


def spelled(graph: Graph, k: int, once: frozenset[int]) -> list[int]:
    """Return all that stands in the text of a node; what is written once is left out inside."""
    found = [k]
    for a in graph.args[k]:
        found += [a] if a in once else spelled(graph, a, once)
    return found


@folded
@pytest.mark.parametrize("seed", range(40))
def test_walks_find_what_following_every_way_finds(seed: int) -> None:
    graph = drawn(seed)
    asked = random.Random(-seed).sample(range(15), 2)
    assert graph.needed(asked) == sorted({
        m for k in asked for m in spelled(graph, k, frozenset())})
    readers: dict[int, list[int]] = {}
    for k, args in enumerate(graph.args):
        for a in args:
            readers.setdefault(a, []).append(k)
    assert graph.last_uses() == {a: max(ks) for a, ks in readers.items()}
    assert reached([0], lambda a: readers.get(a, ())) == {
        k for k in range(15) if 0 in graph.needed([k])}


@folded
@pytest.mark.parametrize("seed", range(40))
def test_uses_count_places_in_texts_and_what_is_written_once_counts_its_operands_once(
        seed: int) -> None:
    graph = drawn(seed)
    once = frozenset(random.Random(seed).sample(range(3, 13), 4))
    found = graph.uses([14, 13], lambda k, n: k in once)
    texts = spelled(graph, 14, once) + spelled(graph, 13, once)
    written: set[int] = set()
    while new := once & set(texts) - written:
        for k in new:
            texts += spelled(graph, k, once)[1:]
        written |= new
    assert found == [texts.count(k) for k in range(15)]


def test_a_key_stands_for_one_operation() -> None:
    graph = Graph(1)
    assert [graph.node("a", (0,)), graph.node("b", (1,)), graph.node("a", (0,))] == [1, 2, 1]
    assert graph.args == [(), (0,), (1,)]


def test_ancestry_and_descendants_of_a_record_mirror_each_other() -> None:
    program = gradcli.loads(
        "x = 2.0\ny = 3.0\na = sin(x)*y\nb = where(x > y, exp(a), a^2)\nc = floor(b) + a\n")
    entries = list(program.run().record.history())
    ids = sorted({i for e in entries for i in (e[OUT], *e[IDS]) if i is not None})
    assert len(entries) > 5
    for top in ids:
        above = ancestry(entries, top)
        assert above == {i for i in ids if top in descendants(entries, [i])}
        assert leading(entries, [top]) <= above
