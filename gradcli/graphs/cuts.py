"""Where the way of a derivative is cut: the nodes that a reason is about, and the edges there."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcli.answers.ask import Answer
    from gradcli.graphs.nodes import Nodes


def mark(drawn: Nodes, reasons: Iterable[tuple[str, Answer]]) -> None:
    """Mark where the ways of derivatives end, and the edges there: out of a source, else into a
    node by the ways from the source.

    reasons: (source, why there is no derivative in it).
    """
    leaves = {node["id"] for key, node in drawn.nodes.items() if key[0] == "leaf"}
    for wrt, reason in reasons:
        found = _at(drawn, wrt, reason) or [drawn.source(wrt)]
        for node in found:
            node["cut"] = node["cut"] or reason["message"]
        below = _below(drawn, wrt)
        for node in found:
            if node["id"] in leaves:
                ends = [e for e in drawn.edges.values() if e["from"] == node["id"]]
            else:
                into = [e for e in drawn.edges.values()
                        if e["to"] == node["id"] and e["from"] in below]
                # An operation that would let a derivative pass is cut for what happened around it.
                ends = [e for e in into if not e["passes"]] or into
            for edge in ends:
                edge["cut"] = True


def _below(drawn: Nodes, wrt: str) -> set[str]:
    """Ids of the source and of all that is made of it."""
    after: dict[str, list[str]] = {}
    for edge in drawn.edges.values():
        after.setdefault(edge["from"], []).append(edge["to"])
    found: set[str] = set()
    pending = [node["id"] for node in drawn.nodes.values() if node["name"] == wrt]
    while pending:
        id = pending.pop()
        if id not in found:
            found.add(id)
            pending += after.get(id, ())
    return found


def _at(drawn: Nodes, wrt: str, reason: Answer) -> list[Answer]:
    """The nodes that a reason is about: those that stand exactly there, else within, else the
    smallest around it, else the source.
    """
    start = reason["line"], reason["column"]
    stop = reason["end_line"], reason["end_column"]
    placed = [node for node in drawn.nodes.values() if node["line"] is not None]
    if reason["line"] is not None:
        same = [n for n in placed if (_start(n), _stop(n)) == (start, stop)]
        within = [n for n in placed if start <= _start(n) and _stop(n) <= stop]
        around = [n for n in placed if _start(n) <= start and stop <= _stop(n)]
        lines = [n for n in placed if n["count"] > 1 and n["line"] == reason["line"]]
        found = same or within or lines or sorted(
            around, key=lambda n: (_stop(n)[0] - _start(n)[0], _stop(n)[1] - _start(n)[1]))[:1]
        if found:
            # What a function is made of stands where it is called; the source itself is meant.
            return [n for n in found if n["name"] == wrt] or found
    return [n for n in drawn.nodes.values() if n["name"] == wrt and n["kind"] in (
        "variable", "input", "constant")]


def _start(node: Answer) -> tuple[int, int]:
    return node["line"], node["column"]


def _stop(node: Answer) -> tuple[int, int]:
    return node["end_line"], node["end_column"]
