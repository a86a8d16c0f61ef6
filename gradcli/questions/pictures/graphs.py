"""From a run to a graph as plain data: what went into the targets, where it came from, which tape
saw it, and where the way of a derivative is cut.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.engine.record.record import ANS, ATTRIBUTES, IDS, OP, OUT, VALUES, span_of
from gradcli.explain.missing import file_scene
from gradcli.ops.graph import reached
from gradcli.ops.values import SCALAR_TYPES, shape_of
from gradcli.questions.path import bound_at, text_at
from gradcli.questions.plain_data import heading
from gradcli.questions.question import tensors_of
from gradcli.questions.why import explained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.lang.running.run import Binding, Run
    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

    Key = Any

MAX_NODES = 200


def graph(question: Question, most: int = MAX_NODES) -> Answer:
    """Return the graph of what a question is about, of at most so many operations: loops and lines
    are one node where there are more. Raises what `why` raises.
    """
    found = explained(question)
    told, logged = found.answer, found.logged
    with logged.record:
        made = made_by(logged)
        targets = _targets(question, logged)
    kept = ancestors(made, targets)
    nodes, notes = Nodes(question, logged, told), []
    grouping = keys(question, kept, most)
    if grouping.note:
        notes.append({"code": "collapsed", "message": grouping.note})
    nodes.add(kept, targets, grouping)
    reasons = [(source["wrt"], reason) for result in told["results"]
               for source in result["sources"] for reason in source["reasons"]]
    mark(nodes, reasons)
    for text in dict.fromkeys(reason["message"] for _, reason in reasons):
        notes.append({"code": "cut", "message": text})
    return {**heading(question.program.source, "graph"),
            "nodes": list(nodes.nodes.values()), "edges": list(nodes.edges.values()),
            "tapes": list(logged.tapes), "notes": notes}


def _targets(question: Question, logged: Run) -> dict[int, str]:
    """Return a dict from the ids of the targets to their names."""
    log = logged.log
    assert log is not None
    found: dict[int, str] = {}
    requests = [] if question.of else log.requests
    for request in requests:
        for id in request.made:
            found[id] = logged.named[id].name if id in logged.named else ""
    try:
        for target in question.program.targets(logged, question.of, derived=False):
            for tensor in tensors_of(target):
                if tensor.id is not None:
                    found[tensor.id] = target.name
    except GradcliError:
        if not found:
            raise
    return found


# --------------------------------------------------------------------------------------------------
# Where the way of a derivative is cut: the nodes that a reason is about, and the edges there.

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
    """Return the ids of the nodes of the source and of all that depends on it."""
    after: dict[str, list[str]] = {}
    for edge in drawn.edges.values():
        after.setdefault(edge["from"], []).append(edge["to"])
    return reached([node["id"] for node in drawn.nodes.values() if node["name"] == wrt],
                   lambda id: after.get(id, ()))


def _at(drawn: Nodes, wrt: str, reason: Answer) -> list[Answer]:
    """Return the nodes that a reason is about: those that stand exactly there, else within, else
    the smallest around it, else the source.
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


# --------------------------------------------------------------------------------------------------
# Which values of a large record are drawn as one node.

class Grouping:
    """The choice of what is one node of a graph. key: of an entry's result, or None where it is
    left out. note: what a reader has to know, or "".
    """

    __slots__ = ("key", "level", "note")

    def __init__(self, key: Callable[[Made], Key], level: int, note: str) -> None:
        self.key = key
        self.level = level
        self.note = note


def keys(question: Question, kept: Sequence[Made], most: int) -> Grouping:
    """Return the finest way to put values together that gives at most so many nodes."""
    def each(one: Made) -> Key:
        return one.id if one.request is None else ("question", one.request)

    def place(one: Made) -> Key:
        if one.request is not None:
            return ("question", one.span)
        return (one.operation, one.span) if one.span is not None else one.operation

    def line(one: Made) -> Key:
        return None if one.span is None else question.program.source.position(one.span[0])[0]

    count = len(kept)
    for level, (key, what) in enumerate((
            (each, ""), (place, "what ran in one place is one node"),
            (line, "each line is one node"))):
        nodes = len({key(one) for one in kept})
        if nodes <= most:
            return Grouping(key, level, f"{count:,} operations are {nodes:,} nodes: {what}"
                           if what else "")
    last = sorted({line(one) for one in kept} - {None})[-most:]
    shown = set(last)

    def near(one: Made) -> Key:
        found = line(one)
        return found if found in shown else ("before", 0)

    return Grouping(near, 3, f"{count:,} operations are drawn as their last {most:,} lines; raise"
                   " --max-nodes for more")


# --------------------------------------------------------------------------------------------------
# What ran, by id: operations, and variables that took a value.

class Made:
    """A value that was made. id: its own. inputs: (id or None, value, whether a derivative passes)
    of its operands. operation: what made it, in a word. span: where. question: number of the
    question of the file that made it, or None.
    """

    __slots__ = ("attributes", "id", "inputs", "kind", "operation", "request", "span", "value")

    def __init__(self, id: int, kind: str, operation: str, inputs: Sequence[tuple[Any, Any, bool]],
                 value: Any, span: Span | None, attributes: Any = None) -> None:
        self.id = id
        self.kind = kind
        self.operation = operation
        self.inputs = list(inputs)
        self.value = value
        self.span = span
        self.attributes = dict(attributes or {})
        self.request: int | None = None


def made_by(logged: Run) -> dict[int, Made]:
    """Return everything that ran, by id: operations, and variables that took a value."""
    log = logged.log
    assert log is not None
    found: dict[int, Made] = {}
    for entry in logged.record.history():
        op, ids = entry[OP], entry[IDS]
        found[entry[OUT]] = Made(
            entry[OUT], "operation", op.name,
            [(i, v, op.edge(k)) for k, (i, v) in enumerate(zip(ids, entry[VALUES], strict=True))],
            entry[ANS], span_of(entry), entry[ATTRIBUTES])
    for state in log.states:
        before = state.before if state.how in ("assign_add", "assign_sub") else None
        inputs = [(i, None, False) for i in (state.taken, before) if i is not None]
        if inputs or state.how.startswith("assign"):
            found[state.after] = Made(state.after, "state", state.how, inputs, state.value,
                                      state.span)
    for number, request in enumerate(log.requests):
        for id in range(request.first + 1, request.last):
            # Of questions within questions the outer one counts, which came last.
            if id in found:
                found[id].request = number
    return found


def ancestors(made: dict[int, Made], targets: Iterable[int]) -> list[Made]:
    """Return what leads to the targets, in the order in which it ran."""
    found = reached(targets, lambda id: [
        i for i, _, _ in made[id].inputs if i is not None] if id in made else ())
    return [made[id] for id in sorted(found & made.keys())]


# --------------------------------------------------------------------------------------------------
# Nodes and edges as plain data: formulas and values as the file writes them.

# Characters of a formula in a node.
LONG = 40
KINDS = {"variable": "variable", "nontrainable": "variable", "input": "input",
         "constant": "constant", "literal": "constant"}


class Nodes:
    """nodes: key to node. edges: (from, to) to edge."""

    def __init__(self, question: Question, logged: Run, told: Answer) -> None:
        self.question = question
        self.logged = logged
        self.nodes: dict[Key, Answer] = {}
        self.edges: dict[tuple[str, str], Answer] = {}
        self._windows = [(name, file_scene.window_of(tape)) for name, tape in logged.tapes.items()]
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

    def add(self, kept: Sequence[Made], targets: dict[int, str], grouping: Grouping) -> None:
        """Add all nodes and edges."""
        named = self.logged.named
        keys = {one.id: grouping.key(one) for one in kept}
        alike: dict[Any, set[str]] = {}
        for one in [one for one in kept if one.request is None]:
            alike.setdefault(one.span, set()).add(one.operation)
        for one in kept:
            key = ("made", keys[one.id])
            node = self.nodes.get(key)
            if node is None:
                text = self._text(one, len(alike.get(one.span, ())) == 1, grouping.level)
                node = self.nodes[key] = self._node(one, text, grouping.level)
            node["count"] += 1
            if one.id in named and grouping.level == 0 and one.request is None:
                node["name"] = named[one.id].name
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
                    source = self._number(value) if grouping.level == 0 and (
                        one.request is None) else None
                if source is not None and source is not node:
                    self._edge(source, node, passes)
        for id, name in targets.items():
            if id not in keys and id in self._leaves:
                leaf = self._leaf(id, None)
                leaf["target"], leaf["name"] = True, leaf["name"] or name or None

    def _node(self, one: Made, text: str, level: int) -> Answer:
        line, column = self._position(one.span)
        end = self._end(one.span)
        request = one.request is not None
        return {"id": f"n{len(self.nodes)}", "kind": "question" if request else one.kind,
                "name": None, "text": text,
                "operation": None if request or level > 1 else one.operation,
                "line": line, "column": column, "end_line": end[0], "end_column": end[1],
                "shape": None if request else list(shape_of(one.value)),
                "value": _scalar(one.value) if not request else None, "count": 0,
                "watched": None, "target": False, "cut": None, "tapes": []}

    def _position(self, span: Span | None) -> tuple[int | None, int | None]:
        return (None, None) if span is None else self.question.program.source.position(span[0])

    def _end(self, span: Span | None) -> tuple[int | None, int | None]:
        return (None, None) if span is None else self.question.program.source.position(span[1])

    def _text(self, one: Made, alone: bool, level: int) -> str:
        """Return what stands in the node: the formula where it is one operation, else what is done.
        """
        log = self.logged.log
        assert log is not None
        if level > 1:
            line = self._position(one.span)[0]
            return "" if line is None else _short(self.question.program.source.line(line).strip())
        if one.request is not None:
            return _short(text_at(self.question, log.requests[one.request].span))
        if one.span is None or not alone:
            given = ", ".join([f"{k}={v}" for k, v in one.attributes.items()
                               if isinstance(v, (int, float, str, bool)) or (
                                   isinstance(v, tuple) and not any(
                                       isinstance(part, slice) for part in v))])
            return _short(f"{one.operation}({given})" if given else one.operation)
        return _short(text_at(self.question, one.span))

    def _leaf(self, id: int, value: Any) -> Answer:
        """Return what no operation made."""
        key = ("leaf", id)
        if key not in self.nodes:
            name, binding = self._leaves.get(id, (None, None))
            if binding is None and id in self.logged.named:
                binding = self.logged.named[id]
                name = binding.name
            span = None if binding is None else bound_at(self.question, binding)
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
        """Return the node of a source that nothing leads from; a new one if there is none."""
        for id, (other, _) in self._leaves.items():
            if other == name:
                return self._leaf(id, None)
        node = self._number(None)
        node["kind"], node["name"], node["shape"] = "constant", name, None
        return node

    def _number(self, value: Any) -> Answer:
        """Add a node for a plain number or array in the text, one for each time."""
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
