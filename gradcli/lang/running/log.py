"""The log of a run for explanations, beside its record: on request, in a second run.

The record knows what was computed. It does not know which code did not run, what a name meant
before, which state took its value from where, and which questions were asked: that is here. All
lists grow with the run, so a program that only wants answers has no log.
"""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.engine.record.record import fresh_id
from gradcli.engine.record.tensor import Tensor, flatten, like
from gradcli.engine.record.variable import Variable
from gradcli.lang.syntax import code as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.lang.syntax.code import Block, Code, Function, Instruction

# A loop notes its branches in every turn; explanations need not have them all.
MAX_BRANCHES = 10_000
# Jumps and the endings of blocks belong to the grammar, not to the author.
OF_GRAMMAR = (c.JUMP, c.LEAVE, c.EXIT, c.POP)


class Unrun:
    """Code that did not run. what: "branch" (a condition said no), "leave" (it may end a loop),
    "loop" (zero turns), "end" (behind a return or break) or "turn" (what the head of a loop let
    run).

    span: of the condition, the head of the loop, what a `for` goes over, or the code.
    condition: id of the value that decided; None: nothing, or what was computed at `span`.
    unread: ids of the values that it would have read.
    binds: the names that it or its alternative binds; None: it decides over a value itself.
    skipped: its span.
    holds: the condition, if known.
    time: an id from then, 0: unknown.
    read: ids of the values that the head of a loop read.
    """

    __slots__ = ("binds", "condition", "holds", "read", "skipped", "span", "time", "unread", "what")

    def __init__(self, what: str, span: Any, condition: int | None, unread: set[int],
                 binds: frozenset[str] | None = None, skipped: Any = None,
                 holds: bool | None = None, time: int = 0, read: Iterable[int] = ()) -> None:
        self.holds = holds
        self.read = set(read)
        self.time = time
        self.what = what
        self.span = span
        self.condition = condition
        self.unread = unread
        self.binds = binds
        self.skipped = skipped


class Assignment:
    """The assignment of a value to a variable. how: "assign", "assign_add", "assign_sub", "var", or
    "const" or "input" for a declaration with a computed value.

    taken: id of the tensor it came from, if it did.
    before, after: ids of the states.
    value: that of the new one.
    """

    __slots__ = ("after", "before", "how", "name", "span", "taken", "value")

    def __init__(self, how: str, name: str, taken: int | None, before: int | None, after: int,
                 span: Span, value: Any) -> None:
        self.value = value
        self.how = how
        self.name = name
        self.taken = taken
        self.before = before
        self.after = after
        self.span = span


class LoggedRequest:
    """A request of the file for a derivative: the instruction, the tape or accumulator (None: the
    implicit tape), targets, sources and answers as given, and the ids between which it worked.
    made: ids and values of the targets then, since a variable changes.
    """

    __slots__ = ("at", "first", "found", "kind", "last", "made", "sources", "span", "tape",
                 "targets")

    def __init__(self, kind: str, at: Instruction, tape: Any, targets: Any, sources: Any,
                 found: Any, first: int, last: int) -> None:
        self.kind = kind
        self.at = at
        self.span: Span = at[2:]
        self.tape = tape
        self.targets = targets
        self.made = {t.id: t.value for t in flatten(targets)
                     if isinstance(t, Tensor) and t.id is not None}
        self.sources = sources
        self.found = found
        self.first = first
        self.last = last

    def arguments(self) -> tuple[int, tuple[str, ...]]:
        """Return the number of positional arguments and the names of the others."""
        opcode, arg, _, _ = self.at
        return (arg[1], arg[2]) if opcode in (c.CALL, c.METHOD) else (1, ())


class Choice:
    """The choice of one of several values, as by Python's max. by: id of the value that decided."""

    __slots__ = ("by", "chosen", "rejected", "span")

    def __init__(self, span: Any, chosen: set[int], rejected: set[int], by: int | None) -> None:
        self.span = span
        self.chosen = chosen
        self.rejected = rejected
        self.by = by


class Log:
    """The notes of a run beside its record. scope, functions: those of the file, as they are bound.

    given: answers that the file gets in place of its own, by the numbers of the question and of the
        answer.
    ended: it came to its end.
    called: functions of the file that ran.
    calls: (id from before, span) of each time.
    until: the question after which the run may end.
    windows: (accumulator, block, id before, id after).
    locals: (name, id, span, kind) of names in functions.
    counters: variables of loops, and the span of each.
    made: results of explanations, kept for the next one.
    """

    __slots__ = (
        "_functions", "_scope", "_turned", "branches", "called", "calls", "counters", "ended",
        "given", "locals", "made", "picks", "requests", "states", "until", "windows")

    def __init__(self, scope: Mapping[str, Any], functions: Mapping[str, Function]) -> None:
        self._scope = scope
        self._functions = functions
        self.branches: list[Unrun] = []
        self.calls: list[tuple[int, Span]] = []
        self.locals: list[tuple[str, int, Span, str]] = []
        self.until: int | None = None
        self.given: Mapping[int, Mapping[int, Any]] = {}
        self.ended = False
        self.made: dict[str, Any] = {}
        self.states: list[Assignment] = []
        self.requests: list[LoggedRequest] = []
        self.picks: list[Choice] = []
        self.called: dict[str, Function] = {}
        self.counters: dict[str, Span] = {}
        self.windows: list[tuple[Any, Block, int, int]] = []
        self._turned: set[int] = set()

    def request(self, number: int, kind: str, at: Instruction, tape: Any, targets: Any,
                sources: Any, found: Any, first: int) -> Any:
        """Note a question; return its answers, or those that the file gets in their place. Raises
        E0401 behind the last question that is wanted. Arguments: see `LoggedRequest`.
        """
        self.requests.append(
            LoggedRequest(kind, at, tape, targets, sources, found, first, fresh_id()))
        if number == self.until:
            raise error("E0401", "all that was wanted has run")
        given = self.given.get(number, {})
        return like(found, [given.get(k, g) for k, g in enumerate(flatten(found))]
                    ) if given else found

    def condition(self, ins: Instruction, value: Any, holds: bool, code: Code, pc: int,
                  local: Mapping[str, Any] | None) -> None:
        """Note that a JUMP_IF_FALSE, AND or OR decided."""
        note = self._branch if ins[0] == c.JUMP_IF_FALSE else self._short_circuit
        note(ins, value, holds, code, pc, local)

    def _short_circuit(self, ins: Instruction, value: Any, holds: bool, code: Code, pc: int,
                       local: Mapping[str, Any] | None) -> None:
        """Note an AND or OR and what it jumps over."""
        jumps = holds == (ins[0] == c.OR)
        skipped = code[pc:pc + ins[1]] if jumps else []
        end = max([ins[3], *[i[3] for i in skipped]])
        what = "turn" if _in_head_of_loop(code, pc + ins[1]) else "branch"
        self._add(what, (ins[2], end), value, skipped, None, local, holds)

    def _branch(self, ins: Instruction, value: Any, holds: bool, code: Code, pc: int,
                local: Mapping[str, Any] | None) -> None:
        """Note the condition of an `if`, a `while` or a conditional expression."""
        then = code[pc:pc + ins[1]]
        last = then[-1] if then else None
        other: Code = []
        if last is not None and last[0] == c.JUMP:
            if last[1] < 0:
                if id(ins) not in self._turned or not holds:
                    what = "turn" if holds or id(ins) in self._turned else "loop"
                    skipped = then if what == "loop" else []
                    self._add(what, (ins[2], ins[3]), value, skipped, _bound(then), local,
                              holds)
                if holds:
                    self._turned.add(id(ins))
                return
            other = code[pc + ins[1]:pc + ins[1] + last[1]]
        arms = _bound([*then, *other])
        ends = pc + ins[1], pc + ins[1] + len(other)
        what = "leave" if any(_leaves_loop(code, pc, end) for end in ends) else "branch"
        self._add(what, (ins[2], ins[3]), value, other if holds else then, arms, local, holds)

    def turn(self, ins: Instruction, ended: bool, code: Code, pc: int,
             local: Mapping[str, Any] | None) -> None:
        """Note a NEXT: another turn of a `for`, or its end."""
        if id(ins) in self._turned:
            return
        if not ended:
            self._turned.add(id(ins))
            over, body = code[pc - 2], code[pc:pc + ins[1]]
            self._add("turn", (over[2], over[3]), None, [], _bound(body), local, True,
                      _counts(code[:pc - 1], over))
            if code[pc][0] == c.BIND:
                self.counters.setdefault(code[pc][1], (ins[2], ins[3]))
        else:
            body = code[pc:pc + ins[1]]
            self._add("loop", (ins[2], ins[3]), None, body, _bound(body), local,
                      head=_counts(code[:pc - 1], code[pc - 2]))

    def bound(self, name: str, value: Any, span: Span, kind: str = "computed") -> None:
        """Note that a name of a function, or a parameter, was bound."""
        if isinstance(value, Variable):
            value = value.origin()
        if isinstance(value, Tensor) and value.id is not None:
            self.locals.append((name, value.id, span, kind))

    def call(self, function: Function, place: Span, local: Mapping[str, Any]) -> None:
        """Note that a function of the file runs, called at a span."""
        self.calls.append((fresh_id(), place))
        for name in function.parameters:
            self.bound(name, local.get(name), (function.start, function.start + len(name)),
                       "parameter")
        if function.name in self.called:
            return
        self.called[function.name] = function
        dead = _unreachable(function.code)
        if dead:
            self._add("end", (dead[0][2], max(i[3] for i in dead)), None, dead, None, local)

    def _add(self, what: str, span: Span, condition: Any, skipped: Code,
             binds: frozenset[str] | None, local: Mapping[str, Any] | None,
             holds: bool = False, head: Sequence[Instruction] = ()) -> None:
        if len(self.branches) >= MAX_BRANCHES:
            return
        unread, read = [{
            item.id for ins in part if ins[0] == c.LOAD
            for item in flatten((local or {}).get(ins[1], self._scope.get(ins[1])))
            if isinstance(item, Tensor) and item.id is not None}
            for part in (_with_calls(skipped, self._functions), head)]
        own = [i for i in skipped if i[0] not in OF_GRAMMAR]
        place = (min(i[2] for i in own), max(i[3] for i in own)) if own else None
        self.branches.append(Unrun(
            what, span, condition.id if isinstance(condition, Tensor) else None, unread, binds,
            place, holds, fresh_id(), read))

    def pick(self, span: Span, items: Any, chosen: Any, by: Sequence[Any]) -> None:
        """Note that an item was taken out of a list or dictionary. by: the values of the index."""
        def ids(value: Any) -> set[int]:
            return {t.id for t in flatten(value) if isinstance(t, Tensor) and t.id is not None}

        index = next((i.id for i in by if isinstance(i, Tensor)), None)
        self.picks.append(Choice(span, ids(chosen), ids(items) - ids(chosen), index))


def _bound(code: Code) -> frozenset[str] | None:
    """Return the names that code binds; None where it has a value, returns, or changes a state."""
    names: set[str] = set()
    for ins in code:
        if ins[0] == c.BIND:
            names.add(ins[1])
        elif ins[0] == c.UNPACK:
            names.update(ins[1])
        elif ins[0] == c.DECLARE:
            names.add(ins[1].name)
        elif ins[0] == c.RETURN or (ins[0] == c.METHOD and ins[1][0].startswith("assign")):
            return None
    return frozenset(names) if names else None


def _counts(code: Code, over: Instruction) -> Code:
    """Return the instructions in the head of a loop over a range, whose numbers say how often it
    runs; empty for another loop.
    """
    head = [ins for ins in code if over[2] <= ins[2] and ins[3] <= over[3]]
    ranged = any(ins[0] == c.CALL and ins[1][0] == "range" and ins[2:] == over[2:] for ins in head)
    return head if ranged else []


def _in_head_of_loop(code: Code, at: int) -> bool:
    """Return whether the AND or OR that ends at an index is in the condition of a `while`."""
    while at < len(code) and code[at][0] in (c.AND, c.OR):
        at += 1 + code[at][1]
    if at >= len(code) or code[at][0] != c.JUMP_IF_FALSE:
        return False
    last = code[at + code[at][1]]
    return bool(last[0] == c.JUMP and last[1] < 0)


def _leaves_loop(code: Code, start: int, end: int) -> bool:
    """Return whether the arm of a condition leaves a loop: it ends in a jump behind the jump back
    of a loop that began before, or in a `return` before such a jump.
    """
    last = code[end - 1]
    if end > start and last[0] == c.RETURN:
        return any(ins[0] == c.JUMP and k + ins[1] < start for k, ins in enumerate(code[end:], end))
    if end <= start or last[0] not in (c.JUMP, c.LEAVE):
        return False
    to = end + (last[1] if last[0] == c.JUMP else last[1][0])
    back = code[to - 1]
    return bool(to > end and back[0] == c.JUMP and to + back[1] < start)


def _with_calls(code: Code, functions: Mapping[str, Function]) -> Code:
    """Return code and, once, the code of the file's functions that it calls."""
    out = list(code)
    for ins in code:
        if ins[0] == c.CALL and ins[1][0] in functions:
            function = functions[ins[1][0]]
            out += [i for i in function.code
                    if i[0] == c.LOAD and i[1] not in function.parameters]
    return out


def _unreachable(code: Code) -> Code:
    """Return the instructions that no path through the code leads to."""
    seen: set[int] = set()
    todo = [0]
    while todo:
        pc = todo.pop()
        if pc in seen or pc >= len(code):
            continue
        seen.add(pc)
        opcode, arg = code[pc][0], code[pc][1]
        if opcode == c.RETURN:
            continue
        if opcode in (c.JUMP, c.LEAVE):
            todo.append(pc + 1 + (arg if opcode == c.JUMP else arg[0]))
            continue
        if opcode in (c.JUMP_IF_FALSE, c.AND, c.OR, c.NEXT):
            todo.append(pc + 1 + arg)
        todo.append(pc + 1)
    return [ins for pc, ins in enumerate(code) if pc not in seen and ins[0] not in OF_GRAMMAR]
