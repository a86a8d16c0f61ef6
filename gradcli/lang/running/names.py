"""The names of a program before it runs: those that are read, bound, or have to be given.

One pass over the emitted code. Everything found here is found at once, so that a user sees all
unknown functions and all missing values together.
"""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.lang.syntax import code as c
from gradcli.lang.syntax.code import CONSTANTS, VERBS
from gradcli.ops import PUBLIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.lang.syntax.code import Code, Declaration, Function, Instruction, Statement


# Methods that only a tape has.
OF_TAPE = frozenset((
    "watch", "gradient", "jacobian", "batch_jacobian", "watched_variables", "reset"))
# Advice for a derivative of order 2, and of 3 and more.
DERIVED = {2: "write the function alone: `gradcli hess` gives its second derivative",
           3: "write the function alone: `gradcli derive --order {}` gives that derivative"}
# Instructions that name nothing.
PLAIN = (c.BINARY, c.PUSH, c.UNARY)


WITH_BASE = frozenset(("log", "ln", "sqrt"))
"""Functions that take one argument in the language, and on paper a second: log(x, 2)."""


def is_known(name: str) -> bool:
    """Return whether a name can be called in any program."""
    return name in PUBLIC or name in VERBS


class NameCheck:
    """The names that one pass over a program finds.

    order: variables, inputs and other names in order of first appearance.
    inputs: name to the span of its first reading, for names that are read and never bound.
    declared: name to its declaration.
    bound: name to the span of its first binding.
    functions: those of the file.
    tapes: the file opens tapes of its own.
    objects: offset at which a method's object begins to the name of the method.
    calls: name, span and scope of each.
    called: the names alone.
    empty: one of them has no arguments.
    accepted: the names that were given values when nothing was wrong.
    two_arguments: the places of calls of log and roots with two arguments.
    only_defines: the program has functions and nothing else.
    """

    __slots__ = ("accepted", "bound", "called", "calls", "declared", "early", "empty", "functions",
                 "inputs", "objects", "only_defines", "order", "reads", "tapes", "two_arguments")

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.order: dict[str, None] = {}
        self.reads: dict[str, Span] = {}
        self.bound: dict[str, Span] = {}
        self.declared: dict[str, Declaration] = {}
        self.functions: dict[str, Function] = {}
        self.calls: list[tuple[str, Span, frozenset[str] | None]] = []
        self.early: dict[str, Span] = {}
        self.objects: dict[int, str] = {}
        self.empty = self.tapes = False
        self.two_arguments: list[int] = []
        self.only_defines = bool(statements) and all(
            one.code and one.code[0][0] == c.DEFINE for one in statements)
        self.accepted: set[str] | None = None
        for statement in statements:
            self._scan(statement.code, None)
        self.called = {name for name, _, _ in self.calls}
        self.inputs = {
            name: span for name, span in self.reads.items()
            if name not in self.bound and name not in CONSTANTS
            and name not in self.functions and name not in VERBS}

    def _scan(self, code: Code, outer: frozenset[str] | None) -> None:
        """Collect the names of a piece of code. outer: in a function, the names around it."""
        local = None if outer is None else outer | {
            name for instruction in code for name in _bound(instruction)}
        loops: list[bool] = []
        for place, instruction in enumerate(code):
            opcode, arg, start, end = instruction
            if opcode == c.LOAD:
                if local is None or arg not in local:
                    self.order.setdefault(arg)
                    self.reads.setdefault(arg, (start, end))
                    if arg not in self.bound and local is None:
                        loops = loops or _loops(code)
                        if not loops[place]:
                            self.early.setdefault(arg, (start, end))
            elif opcode in PLAIN:
                continue
            elif opcode == c.BIND:
                if local is None:
                    self._bind(arg, (start, end))
            elif opcode == c.DECLARE and local is None:
                self._bind(arg.name, arg.spans["name"])
                self.declared.setdefault(arg.name, arg)
            elif opcode == c.METHOD:
                self.objects.setdefault(start, arg[0])
            elif opcode in (c.CALL, c.PRIME):
                self.calls.append((arg[0], (start, start + len(arg[0])), outer))
                self.empty = self.empty or (opcode == c.CALL and not any(arg[1:]))
                if arg[0] in WITH_BASE and arg[1] == 2 and opcode == c.CALL:
                    self.two_arguments.append(start)
            elif opcode == c.DEFINE:
                if local is None and not arg.decorator == "gradient_of":
                    self.functions[arg.name] = arg
                inner = {ins[1].name + "()" for ins in arg.code if ins[0] == c.DEFINE}
                self._scan(arg.code, frozenset((*(local or ()), *arg.parameters, *inner)))
            elif local is None:
                if opcode == c.ENTER:
                    self.tapes = self.tapes or arg.keyword == "tape"
                    for name in _bound(instruction):
                        self._bind(name, arg.spans["name"])
                for name in _bound(instruction):
                    self._bind(name, (start, end))
            elif opcode == c.ENTER and arg.keyword == "tape":
                self.tapes = True

    def _bind(self, name: str, span: Span) -> None:
        self.order.setdefault(name)
        self.bound.setdefault(name, span)

    def knows(self, name: str) -> bool:
        """Return whether the program can call a name; functions inside of functions count."""
        return is_known(name) or name in self.functions or any(
            local is not None and name + "()" in local
            for called, _, local in self.calls if called == name)

    def is_clear(self, known: Collection[str] | None) -> bool:
        """Return whether nothing in the program could be meant otherwise, as on paper: no call of
        an unknown function, no longer name that no line binds, and not only functions.

        known: names that the command line gives or asks for; None where they may be any.
        """
        return not (self.two_arguments or self.only_defines) and all(
            map(self.knows, self.called)) and (
            known is None or all(
                (len(name) == 1 and name < "\u2100") or name in known for name in self.inputs))

    def check(self, source: Source, given: Mapping[str, Any]) -> None:
        """Raise all name errors together.

        E0201 (unknown function), E0202 (read before bound), E0203 (no value), E0204 (a value for a
        name that cannot take one), E0206 (a value that is called), E0507 (a method of a missing
        tape).
        """
        if self.accepted is not None and given.keys() == self.accepted:
            return
        unknown = {name for name in self.called if name not in self.functions
                   and not is_known(name)}
        found = [
            self._unknown_function(name, span, source, given)
            for name, span, local in (self.calls if unknown else ())
            if name in unknown and not (local and name + "()" in local)]
        for name, span in self.early.items():
            if name in self.bound and name not in CONSTANTS and name not in given:
                line = source.position(self.bound[name][0])[0]
                found.append(Diagnostic(
                    "E0202", f"`{name}` is read before it is bound", span=span, source=source,
                    label="no value yet", related=[(self.bound[name], "bound here")],
                    help=f"move line {line} up, or give the value with --at {name}=..."))
        if self.order or not self.empty:    # else what is missing in the brackets is told
            found.extend(self._bad_values(source, given))
        signs = {one.span[0] for one in found if one.span and one.source is source}  # of dy/dx(..)
        missing = [name for name, (start, _) in self.inputs.items()
                   if name not in given and not (name[0] == "d" and start in signs)]
        for name in list(missing):
            method = self.objects.get(self.inputs[name][0])
            if method in OF_TAPE:
                missing.remove(name)
                found.append(Diagnostic(
                    "E0507", f"there is no tape `{name}`", span=self.inputs[name], source=source,
                    help=f"open it before the lines it shall record: tape {name}:"))
        apart = self.apart(missing, source, given)
        if apart:   # what is given may be meant for their pieces
            missing = [name for name in missing if name not in apart]
            found = [one for one in found if one.code != "E0204" or one.source is source]
            found += list(dict.fromkeys(apart.values()))
        missing += [name for name, d in self.declared.items()
                    if not d.has_value and name not in given and name not in missing]
        if missing:
            found.append(self._missing(missing, source))
        if found:
            found.sort(key=lambda d: (d.source is not source, d.span or (0, 0)))
            raise GradcliError(*found)
        self.accepted = set(given)

    def apart(self, names: Iterable[str], source: Source, given: Iterable[str]
               ) -> dict[str, Diagnostic]:
        """Return E0203 for these inputs that are products, calls or a derivative in one word."""
        wanted, values = [name for name in names if len(name) > 1], list(given)
        found: dict[str, Diagnostic] = {}
        if not wanted:
            return found
        from gradcli.lang.messages import unknown

        for name in wanted:
            start, end = self.inputs[name]
            text = source.text
            if start == end or name in found:
                continue
            pair = unknown.differentials(text, start) if name[0] == "d" else None
            if pair is not None and f"d{pair[1]}" in wanted:
                order = unknown.order_of(pair)
                found[name] = found[f"d{pair[1]}"] = Diagnostic(
                    "E0203", f"`d{pair[0]}` and `d{pair[1]}` are names here, and have no value",
                    span=(start, text.index(pair[1], start + len(name)) + len(pair[1])),
                    source=source, label="a formula cannot name its own derivative",
                    help=DERIVED[min(order, 3)].format(order) if order > 1 else
                    f"did you mean `grad({pair[0]}, {pair[1]})`?"
                    if pair[0] in self.bound and pair[1] in {*self.inputs, *self.declared} else
                    f"write the function alone and ask for it with --wrt {pair[1]}")
                continue
            others = {*self.order, *values} - {name, *self.functions}
            readings = unknown.readings(
                name, others, text[end:].lstrip().startswith(("^", "**")))
            if readings:
                grouped = text[:start].rstrip().endswith(("/", "^", "**"))
                shown = [f"`({one})`" if grouped and "*" in one else f"`{one}`"
                         for one in readings]
                found[name] = Diagnostic(
                    "E0203", f"`{name}` is one name here, and has no value", span=(start, end),
                    source=source, label="one name",
                    notes=[f"a name gets a value by --at {name}=..., or by a line"
                           f" `input {name} = ...`"],
                    help=f"did you mean {' or '.join(shown)}?")
        return found

    def _unknown_function(self, name: str, span: Span, source: Source, given: Mapping[str, Any]
                          ) -> Diagnostic:
        if name in self.bound or name in self.reads or name in CONSTANTS or name in given:
            return Diagnostic(
                "E0206", f"`{name}` is not a function", span=span, source=source,
                label="a value cannot be called",
                help=_product(name, source.text, span[1]))
        from gradcli.base.similar import nearest
        from gradcli.lang.messages.unknown import called, derivative_sign, equivalent, order_of

        above = derivative_sign(source.text, span)
        if above is not None and source.text[slice(*above)] not in {*given, *self.bound}:
            order = order_of((source.text[above[0] + 1:above[1]], name[1:]))
            return Diagnostic(
                "E0201", "a formula cannot name its own derivative", span=(above[0], span[1]),
                source=source, help=DERIVED[min(order, 3)].format(order) if order > 1 else
                "write the formula alone: `gradcli grad` gives its derivative")

        known, short = equivalent(name), len(name) <= 2
        product = _product(name, source.text, span[1]) if sum(map(str.isalpha, name)) == 1 else None
        near = None if known or short else called(
            name, {*self.functions, *PUBLIC}, {*self.order, *given}) or nearest(
                name, [*self.functions, *PUBLIC, *VERBS])
        return Diagnostic(
            "E0201", f"unknown function `{name}`", span=span, source=source,
            label="no operation or function has this name",
            help=f"write {known}" if known else f"did you mean `{near}`?" if near else
            f"{product + '; ' if product else ''}`gradcli ops` lists all operations")

    def _bad_values(self, source: Source, given: Mapping[str, Any]) -> list[Diagnostic]:
        found = []
        for name in given:
            if name in self.called and name not in self.functions:
                continue  # told where it is called
            if name in self.inputs or (name in self.bound and not self._constant(name)):
                continue
            if name in CONSTANTS and name not in self.bound:
                continue
            if self._constant(name):
                d = self.declared[name]
                found.append(Diagnostic(
                    "E0204", f"`{name}` is a const and takes no value from outside",
                    span=d.spans["name"], source=source, label="declared const here",
                    help=f"declare it a variable: var {name}"))
            else:
                from gradcli.base.similar import nearest

                near = nearest(name, list(self.order))
                found.append(Diagnostic(
                    "E0204", f"--at gives `{name}` a value, but `{source.name}` has no such name",
                    span=(0, len(name)), source=Source(f"{name}={_short(given[name])}", "--at"),
                    help=f"did you mean `{near}`?" if near else
                    f"its names are {', '.join(list(self.order)[:8])}" if self.order else
                    "it has no names that take values"))
        return found

    def _constant(self, name: str) -> bool:
        d = self.declared.get(name)
        return d is not None and d.keyword == "const"

    def _missing(self, missing: Sequence[str], source: Source) -> Diagnostic:
        from gradcli.base.similar import nearest

        names = [f"`{name}`" for name in missing]
        subject = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        near = {name: nearest(name, [one for one in (*self.bound, *CONSTANTS) if one != name])
                for name in missing if len(name) > 2}
        notes = [f"did you mean `{other}` for `{name}`?" for name, other in near.items() if other]

        def place(name: str) -> Span:
            d = self.declared.get(name)
            return d.spans["name"] if d is not None else self.inputs[name]

        from gradcli.lang.messages.unknown import of_module

        known = of_module(source.text, place("tf")[0]) if "tf" in missing else None
        return Diagnostic(
            "E0203", f"{subject} {'has' if len(names) == 1 else 'have'} no value",
            span=place(missing[0]), source=source, label="needs a value",
            related=[(place(name), "needs a value") for name in missing[1:6]],
            notes=notes,
            help=f"write {known}, without `tf.`" if known else
            f"give {'it' if len(names) == 1 else 'them'} with --at "
            + ",".join(f"{name}=..." for name in missing))


def _bound(instruction: Instruction) -> tuple[str, ...]:
    """Return the names that an instruction binds."""
    opcode, arg = instruction[0], instruction[1]
    if opcode == c.BIND:
        return (arg,)
    if opcode == c.UNPACK:
        return tuple(arg)
    if opcode == c.DECLARE or (opcode == c.ENTER and arg.keyword in ("tape", "forward")):
        return (arg.name,)
    return ()


def _loops(code: Code) -> list[bool]:
    """Return for each instruction whether a jump leads back over it, so that it is in a loop."""
    inside = [False] * len(code)
    outermost = len(code)
    for place in range(len(code) - 1, -1, -1):
        opcode, arg = code[place][0], code[place][1]
        back = arg if opcode == c.JUMP else arg[0] if opcode == c.LEAVE else 0
        if back < 0:
            outermost = min(outermost, place + 1 + back)
        inside[place] = outermost <= place
        if place <= outermost:
            outermost = len(code)
    return inside


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else "..."


def _product(name: str, text: str, start: int) -> str | None:
    """Return advice to multiply a name and the brackets behind it, if they hold one thing."""
    depth, commas, brackets = 0, 0, text[start:].lstrip()
    for k, sign in enumerate(brackets):
        depth += (sign in "([{") - (sign in ")]}")
        commas += sign == "," and depth == 1
        if depth == 0:
            one = not commas and brackets[1:k].strip()
            return f"to multiply, write {name}*(...)" if one else None
    return None
