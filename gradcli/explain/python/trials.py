"""Trials of rewrites in Python code before they are offered.

Python code cannot be run once more as a file can, but what the tape recorded can: its entries are
computed again, with the rewritten expression in place of the one that stands there, at the point
and around it.
"""

from __future__ import annotations

import ast
import operator
from types import ModuleType

from gradcli import ops
from gradcli.base.errors import error
from gradcli.base.lazy import np, quiet
from gradcli.engine import calculus
from gradcli.engine.record.record import (
    ANS,
    ATTRIBUTES,
    BATCH,
    IDS,
    OP,
    OUT,
    PLACE,
    VALUES,
    Record,
    fresh_id,
)
from gradcli.engine.record.tensor import Tensor, record_operation
from gradcli.explain.numbers import nonfinite
from gradcli.explain.numbers.trials import MOST_STEPS, Trials
from gradcli.explain.numbers.words import Wording
from gradcli.explain.python.advice import spelled
from gradcli.lang.syntax import code as c
from gradcli.ops.kinds import EDGE, Op
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.engine.record.record import Entry
    from gradcli.explain.catalogue import Note
    from gradcli.explain.python.run import PythonText, TapeRun

OPERATORS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.USub: operator.neg, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne}
# So many elements take about as long as an operation.
PER_STEP = 20
# A longer tape is not computed again.
MOST_ENTRIES = 5_000
# So many entries before an expression are searched for the values of its parts.
NEIGHBOURS = 500

class TapeTrials(Trials):
    """The runs of a tape's entries that try rewrites for one gradient."""

    __slots__ = ("_edits", "_heads", "_leaves", "_names", "_run", "_tensorflow", "_text",
                 "_written", "targets", "words")

    def __init__(self, run: TapeRun, text: PythonText, targets: Sequence[Tensor], source: int,
                 names: Mapping[str, Any], tensorflow: bool) -> None:
        entries = run.record.history()
        made = {entry[OUT] for entry in entries}
        leaves = {i: v for entry in entries for i, v in zip(
            entry[IDS], entry[VALUES], strict=True) if i is not None and i not in made}
        at = {str(source): leaves[source]} if source in leaves else {}
        elements = sum([calculus.size(shape_of(entry[ANS])) for entry in entries])
        steps = len(entries) + elements//PER_STEP
        super().__init__(text, self._again, at, steps if len(entries) <= MOST_ENTRIES else
                         MOST_STEPS + 1, str(source))
        self._run = run
        self._leaves = leaves
        self._text = text
        self._names = names
        self._tensorflow = tensorflow
        self.targets = targets
        self.words = Wording(text)
        self.words.ruled = run.ruled
        self._written: list[tuple[Any, list[tuple[str, int | None, Any]]]] = []
        self._edits: dict[str, tuple[Span, Span, ast.AST]] = {}
        self._heads: dict[str, Op] = {
            (self.words.of(entry) or "").partition("(")[0]: entry[OP]
            for entry in entries if entry[PLACE] is not None and entry[PLACE][0] == c.CALL}

    def changed(self, span: Span, new: str) -> tuple[str, Span]:
        """Return the text with a change, which is kept as a formula, and the span of the change."""
        changed, place = super().changed(span, new)
        try:
            self._edits[changed] = span, place, parsed(new)
        except SyntaxError:
            self._edits.pop(changed, None)
        return changed, place

    def _again(self, text: str, moved: Mapping[str, Any]) -> Any:
        """Return the targets' values, the gradient and what makes its notes, with a change."""
        try:
            return self._asked(text, moved)
        except (ValueError, TypeError, IndexError, AttributeError) as problem:
            raise error("E0401", f"the rewrite cannot be computed: {problem}") from None

    def _asked(self, text: str, moved: Mapping[str, Any]) -> Any:
        if text != self.source.text and text not in self._edits:
            raise error("E0401", "the rewrite cannot be read")
        edit = self._edits.get(text)
        record = Record()
        i = int(self.wrt or 0)
        with record, quiet():
            made = self._computed(record, edit, moved)
            targets = [made.get(t.id or 0, t) for t in self.targets]
            source = made[i] if i in made else Tensor(0.0, i)
            (g,) = calculus.gradient(targets, [source], tensorflow=self._tensorflow)

        def notes() -> list[Note]:
            run: Any = _Replayed(record)
            with record:
                return [] if g is None else nonfinite.NonfiniteGradients(
                    run, targets, [], [i], self._text, tensorflow=self._tensorflow).why(i, g)

        return [t.value for t in targets], g, notes

    def _computed(self, record: Record, edit: tuple[Span, Span, ast.AST] | None,
                  moved: Mapping[str, Any]) -> dict[int, Tensor]:
        """Compute all entries again, and return the tensors by the ids of those that they were.

        At another point in 64 bits: only at the point itself the rounding and range of 32 count.
        """
        entries = self._run.record.history()
        made = {i: Tensor(_in_64_bits(moved.get(str(i), value)) if moved else value, i)
                for i, value in self._leaves.items()}
        ends = _ends(entries, edit[0]) if edit is not None else set()
        for k, entry in enumerate(entries):
            place = entry[PLACE]
            if edit is not None and place is not None:
                span, put, _ = edit
                shift = put[1] - span[1]
                place = (c.UNARY, None, *put) if place[2:4] == span else (
                    *place[:2], *[at + shift if at >= span[1] else at for at in place[2:4]])
            record.place = place
            if edit is not None and entry[OUT] in ends:
                made[entry[OUT]] = self._value(edit[2], self._known(k, made))
            else:
                made[entry[OUT]] = _applied(record, entry, made, place)
        return made

    def _known(self, k: int, made: Mapping[int, Tensor]) -> dict[str, Any]:
        """Return the values of the expressions in the function of entry number k, up to it."""
        if not self._written:
            self._written = [self._texts_of(entry) for entry in self._run.record.history()]
        scope, out = self._written[k][0], self._run.record.entries[k][OUT]
        found: dict[str, Any] = {
            name: value for name, value in self._names.items() if type(value) in (int, float)}
        for name, bindings in self._run.bindings.items():
            ids = [b.value.id for b in bindings if b.value.id in made and b.value.id < out]
            if ids:
                found[name] = made[max(ids)]
        for one, parts in self._written[max(0, k - NEIGHBOURS):k + 1]:
            if one is scope:
                found.update([(text, value if i is None else made[i])
                              for text, i, value in parts if i is None or i in made])
        return found

    def _texts_of(self, entry: Entry) -> tuple[Any, list[tuple[str, int | None, Any]]]:
        """Return the function in which an entry stands, and (text, id, value) of its operands and
        of itself.
        """
        texts = self.words.operands(entry) or []
        operands = [] if len(texts) != len(entry[IDS]) else [*zip(
            map(_normal, texts), entry[IDS], entry[VALUES], strict=True)]
        whole = (_normal(self.words.of(entry) or ""), entry[OUT], None)
        return self._run.codes.get(entry[OUT]), [*operands, whole]

    def _value(self, node: Any, known: Mapping[str, Any]) -> Any:
        """Return the value of a formula. known: those of its parts that the program has."""
        text = ast.unparse(node)
        if text in known:
            return known[text]
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return float(node.value)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](
                self._value(node.left, known), self._value(node.right, known))
        if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](self._value(node.operand, known))
        if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS and (
                len(node.ops) == 1):
            return OPERATORS[type(node.ops[0])](
                self._value(node.left, known), self._value(node.comparators[0], known))
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            op = self._heads.get(name) or ops.lookup(name)
            if op is not None:
                return op(*[self._value(a, known) for a in node.args],
                          **{k.arg or "": ast.literal_eval(k.value) for k in node.keywords})
        if isinstance(node, ast.Subscript):
            return self._value(node.value, known)[ast.literal_eval(node.slice)]
        raise error("E0401", f"the value of `{text}` is not known")

    def spelled(self, new: str, old: Entry) -> str:
        """Return a rewrite in Python: with `**`, and functions named as in the program."""
        text = new.replace("^", "**")
        module = self._module(old)
        for node in sorted(ast.walk(parsed(new)), key=lambda n: -getattr(n, "col_offset", 0)):
            function: Any = getattr(node, "func", None)
            if isinstance(function, ast.Name) and self._names.get(function.id) is not ops.lookup(
                    function.id):   # a function of the program may have an operation's name
                at = len(text.encode()[:function.col_offset].decode())
                text = f"{text[:at]}{spelled(module, self._names, function.id)}" \
                    f"{text[at + len(function.id):]}"
        return text

    def _module(self, old: Entry) -> str:
        """Return the name of the module of operations at an entry; else one that the code has."""
        text = self.words.of(old) or ""
        modules = [name for name, value in self._names.items() if isinstance(value, ModuleType)]
        here = [node.id for node in ast.walk(parsed(text)) if isinstance(node, ast.Name)
                and node.id in modules] if text else []
        named = [name for name in ("ops", "tf") if name in modules]
        return next(iter([*here, *named]), "gradcli.ops")


class _Replayed:
    """A run of which only the record is known."""

    __slots__ = ("bindings", "log", "record")

    def __init__(self, record: Record) -> None:
        self.record = record
        self.bindings: dict[str, list[Any]] = {}
        self.log = None


def _in_64_bits(value: Any) -> Any:
    return np.float64(value) if getattr(value, "dtype", None) == "float32" else value


def parsed(text: str) -> ast.AST:
    """Return the node of a formula. Raises SyntaxError."""
    return ast.parse(text.replace("^", "**"), mode="eval").body


def _normal(text: str) -> str:
    try:
        return ast.unparse(parsed(text))
    except SyntaxError:
        return text


def _ends(entries: Sequence[Entry], span: Span) -> set[int]:
    """Return the ids of the values of the expression at a span: those used outside of it."""
    inside = {entry[OUT] for entry in entries
              if entry[PLACE] is not None and entry[PLACE][2:4] == span}
    used = {i for entry in entries if entry[OUT] in inside for i in entry[IDS]}
    return inside - used


def _applied(record: Record, entry: Entry, made: Mapping[int, Tensor], place: Any) -> Tensor:
    """Compute an entry of other operands. Raises GradcliError where it cannot be."""
    op = entry[OP]
    if type(op) is not Op or entry[BATCH] or not entry[IDS]:
        raise error("E0401", f"`{op.name}` cannot be computed again")
    values = [v if i is None else made[i].value
              for i, v in zip(entry[IDS], entry[VALUES], strict=True)]
    ids = tuple([None if i is None else made[i].id for i in entry[IDS]])
    try:
        out = Tensor(op.compute(values, entry[ATTRIBUTES], [
            len(shape_of(v)) for v in values]), fresh_id())
    except EDGE as problem:
        raise error("E0401", str(problem)) from None
    record_operation(record, op, out, ids, values, entry[ATTRIBUTES], (), place, True)
    return out
