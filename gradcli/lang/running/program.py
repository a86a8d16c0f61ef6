"""A program: parsed once, run at any point; its names are targets and sources of questions."""

from __future__ import annotations

from math import inf

from gradcli.base.errors import Diagnostic, GradcliError, Source, split
from gradcli.engine.record.record import Record
from gradcli.engine.record.tensor import Tensor, flatten, leaf
from gradcli.lang.running.calls import NoGradient, is_number, own, plain_structure
from gradcli.lang.running.machine import execute, run_code
from gradcli.lang.running.names import NameCheck
from gradcli.lang.running.run import MAX_STEPS, Running, Target, of_tape
from gradcli.lang.syntax.code import CONSTANTS, DEFINE, PUSH
from gradcli.lang.syntax.parser import parse
from gradcli.ops.values import is_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Unpack

    from gradcli.base.errors import Span
    from gradcli.lang.running.lines import LoweredLines
    from gradcli.lang.running.run import Binding, Options, Printed, Run

    Progress = Callable[[Iterable[Any], int | None], Iterable[Any]]


# Instructions from which on lines of numbers are run together: loading what does it costs as much
# as it saves in a first gradient of 500 operations.
LONG = 1_000


class Program:
    """A parsed expression file. Bad input raises `GradcliError` with `.code`, `.span` and
    `.help`.

    unnamed: the name for a result without one. default_sources: the names of variables and inputs,
    in order of appearance.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.statements = parse(source)
        self.lines: Mapping[int, LoweredLines] = {}
        if sum([len(statement.code) for statement in self.statements]) > LONG:
            from gradcli.lang.running.lines import lower

            self.lines = lower(self.statements)
        names = self.names = NameCheck(self.statements)
        self.unnamed = "result" if any(
            "f" in known for known in (names.bound, names.functions, names.reads)) else "f"
        self.default_sources = tuple([name for name in names.order if _is_source(names, name)])

    def add_inputs(self, names: Iterable[str]) -> None:
        """Take names that the text does not mention as inputs, after all others."""
        for name in names:
            self.names.order.setdefault(name)
            self.names.inputs[name] = (0, 0)
            self.default_sources += (name,)

    # --- running ------------------------------------------------------------------------------

    def run(self, at: Mapping[str, Any] | None = None, *, tape: str | None = None,
            output: Callable[[Printed], None] | None = None, progress: Progress | None = None,
            weigh: bool = False, **options: Unpack[Options]) -> Run:
        """Run with the given values of inputs and variables (floats, lists or arrays).

        tape: the name of the file's tape that answers questions, by default the last to close.
        output: called with each `print`, which is not kept then.
        progress: wraps the items of a loop at the top level, given with their number.
        weigh: count the values that each tape holds at its end.
        options: max_steps: budget of steps. max_bytes: limit for one array, by default half of the
            machine's memory; derivatives that are asked within the record are under it as well.
            tf: None where TensorFlow says None.

        Raises E0505 for a tape that does not exist, `MissingGradients` where the program calculates
        with a gradient that is None.
        """
        running = self._running(at, options)
        running.output, running.progress, running.weigh = output, progress, weigh
        run = execute(running, self.statements, self.lines)
        self._check_given(run, running.given)
        self.choose(run, tape)
        return run

    def recording_constants(self) -> Program:
        """Return a copy of the program in which each number of the text is a tensor, so that
        operations on numbers alone are recorded too.
        """
        other = Program(self.source)
        other.lines = {}
        for code, k in other._numbers():
            code[k] = (PUSH, leaf(code[k][1]), *code[k][2:])
        return other

    def numbers(self) -> set[float]:
        """Return the numbers of the text that are floats."""
        return {code[k][1] for code, k in self._numbers()}

    def lost_numbers(self) -> list[tuple[str, Span]]:
        """Return (sentence, span) of numbers of the text too small or too large for a float."""
        found = []
        for code, k in self._numbers():
            _, value, start, end = code[k]
            text = self.source.text[start:end]
            if value == inf:
                found.append((f"`{text}` is too large for a float: it counts as inf", (start, end)))
            elif value == 0 and text.lower().split("e")[0].strip("0."):
                found.append((f"`{text}` is too small for a float: it counts as 0", (start, end)))
        return found

    def _numbers(self) -> list[tuple[Any, int]]:
        """Return the positions of the text's numbers: code and index."""
        found, waiting = [], [statement.code for statement in self.statements]
        while waiting:
            code = waiting.pop()
            for k, ins in enumerate(code):
                if ins[0] == PUSH and type(ins[1]) is float:
                    found.append((code, k))
                elif ins[0] == DEFINE:
                    waiting.append(ins[1].code)
        return found

    def choose(self, run: Run, name: str | None) -> None:
        """Set the run's record to the part that a tape of the file recorded, by default the last to
        close. Raises E0505 for a tape that does not exist.
        """
        if name is not None and name not in run.tapes:
            from gradcli.lang.messages.unanswerable import no_such_tape

            raise no_such_tape(self.source, run, name)
        if not run.record.everything:
            tapes = list(run.tapes.values())
            budget = run.record.max_bytes
            if tapes:
                tape = tapes[-1] if name is None else run.tapes[name]
                run.record, run.on_tape, run.asked_tape = tape.view(), tape.sources(), tape
            else:
                run.record, run.on_tape = Record(), set()
            run.record.max_bytes = budget

    def logged_run(self, at: Mapping[str, Any], output: Callable[[Printed], None] | None = None,
                   until: int | None = None, given: Mapping[int, Mapping[int, Any]] | None = None,
                   **options: Unpack[Options]) -> Run:
        """Run a second time with a log and a record of everything, for explanations; a run that
        fails is kept as far as it came.

        until: the number of the file's question after which it may end. given: answers that the
            file gets in place of its own. options: as for `run`.
        """
        running = self._running(at, options, log=True)
        running.output = output or (lambda printed: None)
        run = running.run
        assert run.log is not None
        run.log.until = until
        run.log.given = given or {}
        run.record.sizes = True
        try:
            execute(running, self.statements, self.lines)
            run.log.ended = True
        except GradcliError:
            pass
        return run

    def traced_run(self, at: Mapping[str, Any], **options: Unpack[Options]) -> Run:
        """Run with a record of everything and of the values that decided its course,
        `run.record.guards`: the record is valid at every point where these decide the same.
        """
        running = self._running(at, options)
        running.output = lambda printed: None
        running.run.record.guards = []
        running.run.record.absorbing = False
        run = execute(running, self.statements, self.lines)
        self._check_given(run, running.given)
        return run

    def _running(self, at: Mapping[str, Any] | None, options: Options, log: bool = False
                 ) -> Running:
        """Return a `Running` whose inputs have their values."""
        if at is not None and not hasattr(at, "items"):
            raise TypeError(f"values are given by name, not as {at!r}")
        given = {name: plain_value(name, value) for name, value in (at or {}).items()}
        if given and not self.statements:
            from gradcli.lang.messages.unanswerable import nothing_to_evaluate

            raise nothing_to_evaluate(self.source, self.names.functions)
        self.names.check(self.source, given)
        undeclared = {
            name: value for name, value in given.items()
            if name in self.names.inputs or name in self.names.early
            or (name in CONSTANTS and name not in self.names.bound)}
        running = Running(run_code, self.source, undeclared, given,
                          options.get("max_steps", MAX_STEPS), self.names.tapes, log)
        running.tf, running.run.options = options.get("tf", False), options
        budget = options.get("max_bytes")
        running.run.record.max_bytes = HALF_OF_MEMORY if budget is None else budget
        return running

    def _check_given(self, run: Run, given: Mapping[str, Any]) -> None:
        """Raise E0204 for a value for a name that is computed, as it would be ignored."""
        for name in given:
            bindings = run.bindings.get(name)
            if bindings and bindings[0].kind in ("computed", "tape", "accumulator"):
                from gradcli.lang.messages.unanswerable import takes_no_value

                raise takes_no_value(self.source, bindings[0])

    def targets(self, run: Run, of: Sequence[str] = (), *, derived: bool = True) -> list[Target]:
        """Return the targets by name; by default the last expression that stands alone, else the
        last bound name. A name with commas is one target, the sum of several.

        derived: derivatives are asked for, so that the default is the target of the file's own
            tape.
        """
        found = [self._named_target(run, name) for name in of] or [
            (of_tape(run, self.unnamed, self.source) if derived else None)
            or self._default_target(run)]
        for target in found:
            for item in flatten(target.tensor):
                if not (item is None or isinstance(item, (NoGradient, str, range))
                        or is_number(item)):
                    from gradcli.lang.messages.unanswerable import no_number

                    raise no_number(self.source, target.name, item, target.span)
        return found

    def _default_target(self, run: Run) -> Target:
        if run.results:
            span, value = list(run.results.items())[-1]
            return Target(self.unnamed, value, span, self.source)
        if run.last is not None:
            binding = run.bindings[run.last][-1]
            return Target(run.last, _state(run, binding), binding.span, self.source)
        from gradcli.lang.messages.unanswerable import nothing_to_evaluate

        raise nothing_to_evaluate(self.source, self.names.functions)

    def _named_target(self, run: Run, names: str) -> Target:
        parts = []
        if not isinstance(names, str):
            raise TypeError(f"a target is a name, not {names!r}")
        for name in names_of(names):
            bindings = run.bindings.get(name)
            if bindings and bindings[-1].kind in ("tape", "accumulator"):
                from gradcli.lang.messages.unanswerable import no_value

                raise no_value(self.source, bindings[-1])
            if bindings:
                parts.append(Target(
                    name, _state(run, bindings[-1]), bindings[-1].span, self.source))
            elif name == self.unnamed and (
                    asked := of_tape(run, name, self.source)) is not None and asked.name == name:
                parts.append(asked)
            elif name == self.unnamed and run.results:
                span, value = list(run.results.items())[-1]
                parts.append(Target(name, value, span, self.source))
            else:
                from gradcli.lang.messages.unanswerable import no_such_name

                raise no_such_name(self.source, self.names, name, "--of")
        if not parts:
            raise TypeError(f"a target is a name, not {names!r}")
        if len(parts) == 1:
            return parts[0]
        return Target(names, [p.tensor for p in parts], parts[-1].span, self.source)

    def differentiable(self, run: Run) -> list[str]:
        """Return the default sources that are trainable and real in a run."""
        return [n for n in self.default_sources
                if n in run.bindings and run.bindings[n][0].kind in ("variable", "input")
                and is_float(run.bindings[n][0].value.value)]

    def asked_alone(self, run: Run) -> list[str]:
        """Return the names that a question without names is about: the default sources, else what
        the tape that is asked watches.
        """
        names = self.differentiable(run)
        if names:
            return names
        tape = run.tape()
        ids = run.watched if tape is None else tape.remembered()[1]
        return [name for name, bindings in run.bindings.items()
                if isinstance(bindings[0].value, Tensor) and bindings[0].value.id in ids
                and is_float(bindings[0].value.value)]

    def sources(self, run: Run, wrt: Sequence[str] = ()) -> list[Binding]:
        """Return the bindings that the names mean: the first value of a variable, input or plain
        constant; the last of a name that is computed.
        """
        names = list(wrt)
        if not names:
            names = self.asked_alone(run)
            if not names:
                from gradcli.lang.messages.unanswerable import nothing_to_differentiate

                raise nothing_to_differentiate(
                    self.source, run, self.default_sources, self.names.functions)
        found = []
        for name in names:
            bindings = run.bindings.get(name)
            if not bindings:
                from gradcli.lang.messages.unanswerable import no_such_name

                raise no_such_name(self.source, self.names, name, "--wrt")
            first = bindings[0]
            found.append(bindings[-1] if first.kind == "computed" else first)
            if not isinstance(found[-1].value, Tensor):
                from gradcli.lang.messages.unanswerable import no_tensor

                raise no_tensor(self.source, found[-1])
        return found


def _is_source(names: NameCheck, name: str) -> bool:
    """Return whether a name is that of a variable or input."""
    declared = names.declared.get(name)
    if declared is not None:
        return declared.keyword in ("var", "input")
    return name in names.inputs or (name in names.early and name not in names.functions and (
        name not in CONSTANTS or name in names.bound))


def doubted(run: Run) -> None:
    """Warn Python code, which gets no notes, of a derivative that may be wrong."""
    if run.record.lost:
        from gradcli.engine.sweeps.wide import warn

        warn()


def names_of(wrt: str | Sequence[str] | None) -> list[str]:
    """Return the names in a comma list or a list of names. Raises TypeError for anything else."""
    if wrt is None:
        return []
    if isinstance(wrt, str):
        return split(wrt)
    names = list(wrt)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a name is a text, not {name!r}")
    return names


def _state(run: Run, binding: Binding) -> Any:
    """Return the value of a name at the end: of a variable its last state."""
    variable = run.variables.get(binding.name)
    if variable is not None and binding.value is variable.origin():
        return variable.read()
    return binding.value


def plain_value(name: str, value: Any) -> Any:
    """Return a value from outside as the engine holds it: numbers are float64, arrays are copied.

    Raises E0306 for anything but numbers, truth values and texts, TypeError for a name that is no
    text.
    """
    if not isinstance(name, str):
        raise TypeError(f"a name is a text, not {name!r}")
    if type(value) is float or isinstance(value, (bool, str)):
        return value
    try:
        if isinstance(value, int):
            return float(value)
        from gradcli.base.lazy import np
        from gradcli.ops.values import plain

        array = np.array(value)
        if array.dtype.kind == "O":  # Fraction and its like; None is not a number
            array = np.array([float(x) for x in array.ravel()]).reshape(array.shape)
        if array.dtype.kind not in "fiub":
            raise TypeError
        return plain(array if array.dtype.kind == "b" else array.astype(float))
    except GradcliError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise GradcliError(Diagnostic(
            "E0306", f"the value of `{name}` is neither a number nor an array of numbers",
            span=(0, len(name)), source=Source(name, "at"),
            help="give a number or a list of rows of equal length")) from None


def _half_of_memory() -> float | None:
    import os

    try:
        return 0.5 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


HALF_OF_MEMORY = _half_of_memory()


def constant(text: str, where: str) -> Any:
    """Return the value of a constant expression, such as `2*pi` or `[1, 2]`, given in an option.

    Raises E0214 if it reads a name, E01xx if it is no expression.
    """
    if text and not text.strip("0123456789.eE+-"):
        try:
            return float(text)
        except ValueError:
            pass
    program = Program(Source(text, where))
    for name, span in program.names.inputs.items():
        raise GradcliError(Diagnostic(
            "E0214", f"`{name}` has no value in {where}", span=span, source=program.source,
            help="give a constant expression, such as 2*pi or [1, 2]"))
    if len(program.statements) != 1 or program.names.bound or program.names.functions:
        raise GradcliError(Diagnostic(
            "E0214", f"{where} takes one constant expression, not `{text}`", span=(0, len(text)),
            source=program.source, help="such as 3, 2*pi or [1, 2]"))
    run = program.run()
    return own(plain_structure(program.targets(run, derived=False)[0].tensor))
