"""Nodes and edges as plain data: formulas and values as the file writes them."""

from __future__ import annotations

from gradcli.answers.way import bound_at, text_at
from gradcli.explain.missing import file_scene
from gradcli.ops.values import SCALAR_TYPES, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gradcli.answers.ask import Answer, Ask
    from gradcli.errors import Span
    from gradcli.graphs.grouping import Chosen, Key
    from gradcli.graphs.made import Made
    from gradcli.lang.run import Binding, Run

# Characters of a formula in a node.
LONG = 40
KINDS = {"variable": "variable", "nontrainable": "variable", "input": "input",
         "constant": "constant", "literal": "constant"}


class Nodes:
    """nodes: key to node. edges: (from, to) to edge."""

    def __init__(self, ask: Ask, logged: Run, told: Answer) -> None:
        self.ask = ask
        self.logged = logged
        self.nodes: dict[Key, Answer] = {}
        self.edges: dict[tuple[str, str], Answer] = {}
        self._windows = [(name, file_scene.window(tape)) for name, tape in logged.tapes.items()]
        self._watched: dict[str, bool] = {}
        for name in [n for r in told["results"] for n in r["names"]]:
            # By one tape is by any.
            self._watched[name["name"]] = name["watched"] or self._watched.get(
                name["name"], name["watched"])
        self._leaves: dict[int, tuple[str, Binding]] = {}
        for name, bindings in logged.bindings.items():
            for b in bindings[:1]:
                id = getattr(b.value, "id", None)
                if id is not None:
                    self._leaves.setdefault(id, (name, b))

    def add(self, kept: Sequence[Made], targets: dict[int, str], chosen: Chosen) -> None:
        """All nodes and edges."""
        log = self.logged.log
        assert log is not None
        keys = {one.id: chosen.key(one) for one in kept}
        alike: dict[Any, set[str]] = {}
        for one in [one for one in kept if one.question is None]:
            alike.setdefault(one.span, set()).add(one.operation)
        for one in kept:
            key = ("made", keys[one.id])
            node = self.nodes.get(key)
            if node is None:
                text = self._text(one, len(alike.get(one.span, ())) == 1, chosen.level)
                node = self.nodes[key] = self._node(one, text, chosen.level)
            node["count"] += 1
            if one.id in log.named and chosen.level == 0 and one.question is None:
                node["name"] = log.named[one.id].name
            if node["count"] > 1:
                node["value"], node["shape"] = None, None
            if one.id in targets:
                node["target"] = True
                node["name"] = node["name"] or targets[one.id] or None
            node["tapes"] += [name for name, window in self._windows
                              if name not in node["tapes"] and window.state(one.id) is None]
            for id, value, passes in one.inputs:
                if id in keys:
                    source: Answer | None = self.nodes[("made", keys[id])]
                elif id is not None:
                    source = self._leaf(id, value)
                else:
                    source = self._number(value) if chosen.level == 0 and (
                        one.question is None) else None
                if source is not None and source is not node:
                    self._edge(source, node, passes)
        for id, name in targets.items():
            if id not in keys and id in self._leaves:
                leaf = self._leaf(id, None)
                leaf["target"], leaf["name"] = True, leaf["name"] or name or None

    def _node(self, one: Made, text: str, level: int) -> Answer:
        line, column = self._position(one.span)
        end = self._end(one.span)
        question = one.question is not None
        return {"id": f"n{len(self.nodes)}", "kind": "question" if question else one.kind,
                "name": None, "text": text,
                "operation": None if question or level > 1 else one.operation,
                "line": line, "column": column, "end_line": end[0], "end_column": end[1],
                "shape": None if question else list(shape_of(one.value)),
                "value": _scalar(one.value) if not question else None, "count": 0,
                "watched": None, "target": False, "cut": None, "tapes": []}

    def _position(self, span: Span | None) -> tuple[int | None, int | None]:
        return (None, None) if span is None else self.ask.program.source.position(span[0])

    def _end(self, span: Span | None) -> tuple[int | None, int | None]:
        return (None, None) if span is None else self.ask.program.source.position(span[1])

    def _text(self, one: Made, alone: bool, level: int) -> str:
        """What stands in the node: the formula where it is one operation, else what is done."""
        log = self.logged.log
        assert log is not None
        if level > 1:
            line = self._position(one.span)[0]
            return "" if line is None else _short(self.ask.program.source.line(line).strip())
        if one.question is not None:
            return _short(text_at(self.ask, log.questions[one.question].span))
        if one.span is None or not alone:
            given = ", ".join([f"{k}={v}" for k, v in one.attributes.items()
                               if isinstance(v, (int, float, str, bool)) or (
                                   isinstance(v, tuple) and not any(
                                       isinstance(part, slice) for part in v))])
            return _short(f"{one.operation}({given})" if given else one.operation)
        return _short(text_at(self.ask, one.span))

    def _leaf(self, id: int, value: Any) -> Answer:
        """What no operation made."""
        key = ("leaf", id)
        if key not in self.nodes:
            log = self.logged.log
            assert log is not None
            name, binding = self._leaves.get(id, (None, None))
            if binding is None and id in log.named:
                name, binding = log.named[id].name, log.named[id]
            span = None if binding is None else bound_at(self.ask, binding)
            if value is None and binding is not None:
                value = getattr(binding.value, "value", None)
            line, column = self._position(span)
            end = self._end(span)
            self.nodes[key] = {
                "id": f"n{len(self.nodes)}",
                "kind": KINDS.get(binding.kind, "constant") if binding is not None else "constant",
                "name": name, "text": "", "operation": None, "line": line, "column": column,
                "end_line": end[0], "end_column": end[1],
                "shape": None if value is None else list(shape_of(value)),
                "value": _scalar(value), "count": 1,
                "watched": self._watched.get(name or ""), "target": False, "cut": None,
                "tapes": []}
        return self.nodes[key]

    def source(self, name: str) -> Answer:
        """A source that nothing leads from."""
        for id, (other, _) in self._leaves.items():
            if other == name:
                return self._leaf(id, None)
        node = self._number(None)
        node["kind"], node["name"], node["shape"] = "constant", name, None
        return node

    def _number(self, value: Any) -> Answer:
        """A plain number or array in the text: a node for each time."""
        node = {"id": f"n{len(self.nodes)}", "kind": "number", "name": None, "text": "",
                "operation": None, "line": None, "column": None, "end_line": None,
                "end_column": None, "shape": list(shape_of(value)), "value": _scalar(value),
                "count": 1, "watched": None, "target": False, "cut": None, "tapes": []}
        self.nodes[("number", node["id"])] = node
        return node

    def _edge(self, source: Answer, to: Answer, passes: bool) -> None:
        known = self.edges.setdefault((source["id"], to["id"]), {
            "from": source["id"], "to": to["id"], "passes": False, "cut": False})
        known["passes"] = known["passes"] or passes


def _short(text: str) -> str:
    return text if len(text) <= LONG else text[:LONG - 3] + "..."


def _scalar(value: Any) -> Any:
    return value if type(value) in SCALAR_TYPES else None
