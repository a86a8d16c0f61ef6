"""What was asked of a program, and what every kind of answer needs of it."""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np
from gradcli.engine.record.record import ANS, IDS, OUT, VALUES
from gradcli.engine.record.tensor import Tensor, leaf
from gradcli.engine.sweeps.extremes import extreme
from gradcli.lang.running.calls import MissingGradients
from gradcli.lang.running.interpreter import MAX_STEPS
from gradcli.lang.running.program import Program
from gradcli.lang.running.run import Target, is_number
from gradcli.questions import digits
from gradcli.questions.plain_data import data, lines, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from gradcli.explain.catalogue import Note
    from gradcli.explain.numbers.trials import Trials
    from gradcli.lang.running.run import Binding, Run

    Answer = dict[str, Any]


# Longer programs are not run again for the sake of a note.
FEW_STEPS = 1_000
FEW_NUMBERS = 100_000


class Ask:
    """What was asked; names as on the command line.

    at: values by name. of: targets, a comma list being a sum. mode: "reverse", "forward" or
    "finite". output_gradient: weights of the target. watch: constants to watch. tf: TensorFlow's
    rule that only trainable variables and watched names count. tape: which of the file's. verbose:
    with notes on operations that a function of the file hides. sparse: Jacobians and Hessians as
    triples. on_tape, said: of the last run, what a tape of the file saw and what `watch(x)` named.
    explained: the last targets, and what explains them. trials: those of rewrites for first
    derivatives, by target and source. changed: the program with the last of these rewrites. nearby:
    values of targets at other points, or why there is none, by target and point. rough: of
    differences that are in doubt why they are, by target and sources.
    """

    __slots__ = (
        "_logged", "at", "changed", "eig", "explained", "max_bytes", "max_steps", "mode", "nearby",
        "of", "on_tape", "output_gradient", "program", "rough", "said", "sparse", "tape", "tf",
        "trials", "unconnected", "verbose", "verify", "watch", "wrt")

    def __init__(self, program: Program, *, at: Mapping[str, Any] | None = None,
                 of: Sequence[str] = (), wrt: Sequence[str] = (), mode: str = "reverse",
                 unconnected: str = "none", output_gradient: Any = None,
                 watch: Sequence[str] = (), tf: bool = False, verify: bool = False,
                 eig: bool = False, sparse: bool = False, verbose: bool = False,
                 max_steps: int = MAX_STEPS, max_bytes: float | None = None,
                 tape: str | None = None) -> None:
        self.program = program
        self._logged: Run | None = None
        self.explained: list[tuple[Target, dict[Any, Any]]] = []
        self.trials: dict[tuple[str, str], Trials] = {}
        self.changed: Program | None = None
        self.nearby: dict[Any, Any] = {}
        self.rough: dict[tuple[str, ...], str] = {}
        self.tape = tape
        self.on_tape: set[int] | None = None
        self.said: Collection[int] = ()
        self.at = dict(at or {})
        self.of = list(of)
        self.wrt = list(wrt)
        self.mode = mode
        self.unconnected = unconnected
        self.output_gradient = output_gradient
        self.watch = list(watch)
        self.tf = tf
        self.verify = verify
        self.eig = eig
        self.sparse = sparse
        self.verbose = verbose
        self.max_steps = max_steps
        self.max_bytes = max_bytes

    def run(self, changed: Mapping[str, Any] | None = None, explain: bool = True) -> Run:
        """Run the program at the point, with some values changed. explain: tell why a gradient is
        None that the program calculates with.
        """
        at = {**self.at, **(changed or {})}
        try:
            run = self.program.run(at, max_steps=self.max_steps, max_bytes=self.max_bytes,
                                   tape=self.tape, tf=self.tf)
        except MissingGradients as problem:
            if explain:
                from gradcli.explain.missing.file import complete

                complete(problem, self.program, at)
            raise
        self.on_tape, self.said = run.on_tape, run.watched
        if self.tf and run.watched and self.on_tape is None:
            self._only_later_uses(run)
        return run

    def _only_later_uses(self, run: Run) -> None:
        """Leave in the record what TensorFlow's tape has: of what `watch(x)` names its later uses,
        unless it was on the tape before.
        """
        from gradcli.engine.record.record import IDS, OUT, expanded
        from gradcli.engine.sweeps.reach import on_tape

        always = {b.value.id for bindings in run.bindings.values() for b in bindings
                  if b.value.id is not None and (b.name in self.watch or b.kind == "variable")}
        late = {i: when for i, (when, _) in run.watched.items() if i not in always}
        window = expanded(run.record.entries)
        if not any(late.get(i, 0) > entry[OUT] for entry in window
                   for i in entry[IDS] if i is not None):
            return
        _, made = on_tape(window, {*always, *late}, late)
        run.record.entries[:] = [entry for entry in window if entry[OUT] in made]

    def logged(self) -> Run:
        """A run that keeps everything, for explanations; the same one for all of them."""
        if self._logged is None:
            self._logged = self.program.logged_run(self.at)
        return self._logged

    def made(self, target: Target) -> dict[Any, Any]:
        """What explanations of a target have made so far."""
        for one, made in self.explained:
            if one is target:
                return made
        self.explained = [*self.explained[-1:], (target, {})]
        return self.explained[-1][1]

    def same_target(self, run: Run, target: Target) -> Target:
        """The target of another run of the same program."""
        unnamed = target.name == self.program.unnamed() and target.name not in run.bindings
        return self.program.targets(run, [] if unnamed else [target.name])[0]

    def watched(self, binding: Binding) -> bool:
        """The command line watches what --wrt names, but not a const or trainable=false."""
        if self.on_tape is not None:
            return binding.value.id in self.on_tape
        if binding.name in self.watch or binding.kind == "variable":
            return True
        if binding.value.id in self.said:
            return True
        return not self.tf and binding.kind not in ("constant", "nontrainable")

    def source(self, binding: Binding) -> Tensor:
        """The tensor to differentiate with respect to: one that nothing reaches if unwatched."""
        tensor: Tensor = binding.value
        return tensor if self.watched(binding) else leaf(tensor.value)


def answer(ask: Ask, command: str, results: list[Answer]) -> Answer:
    """The outermost object. `lines`, the text where the reasons point, is for people only: JSON
    leaves it out.
    """
    whole = {"schema": 1, "command": command, "file": ask.program.source.name, "mode": ask.mode,
             "results": results}
    found = [r for result in results
             for part in (result, *result.get("sources", ()), *result.get("blocks", ()))
             for r in part.get("reasons", ())]
    if found:
        whole["lines"] = lines(ask.program.source, found)
    return whole


def point(ask: Ask, run: Run, target: Target, binding: Binding) -> Answer:
    """The fields of a source that say where it is; see `gradcli.questions.states.point`."""
    if not run.assigned(binding):
        return {"at": data(binding.value.value)}
    from gradcli.questions import states

    return states.point(ask, run, target, binding)


def moved(ask: Ask, run: Run, target: Target, bindings: Sequence[Binding]) -> list[Answer]:
    """Notes on sources that were assigned before the target read them."""
    if not any(run.assigned(b) for b in bindings):
        return []
    from gradcli.questions import states

    return states.remarks(ask, run, target, bindings)


def tensors_of(target: Target) -> list[Tensor]:
    """The tensors of a target; a plain value has one without a past."""
    value = target.tensor
    if isinstance(value, list):
        return [t for item in value for t in tensors_of(Target(target.name, item, target.span))]
    if isinstance(value, Tensor):
        return [value]
    return [leaf(value if is_number(value) else 0.0)]


def troubles(ask: Ask, run: Run, target: Target) -> list[Answer]:
    """Notes on names that hide others and on a target that is NaN or infinite; nothing is loaded
    where there is nothing to say.
    """
    tensors = tensors_of(target)
    finite = all(type(t.value) is float and t.value - t.value == 0.0 for t in tensors)
    hidden = run.shadows() if ask.verbose else []
    large = extreme(run.record.compact(), [
        b[0].value for b in run.bindings.values() if isinstance(b[0].value, Tensor)],
        [t.value for t in tensors])
    whole = with_numbers(ask, run, target)
    rounded = worded(lambda there: digits.of_value(ask, *there), (run, target), whole)
    lost = _lost_constants(ask, *whole) if whole is not None else []
    if finite and not run.notes and not hidden and not large and not rounded and not lost:
        return []
    from gradcli.explain.catalogue import Note
    from gradcli.explain.notes import flushed, out_of_range
    from gradcli.explain.numbers import nonfinite
    from gradcli.questions import retrying

    said = [Note(*told) for told in (*run.notes, *hidden)]
    said += rounded
    if large and out_of_range(run, tensors):
        said.append(flushed(target.name, target.span))
    else:
        said += [Note("range-value", *told) for told in lost]
    bad = worded(lambda there: nonfinite.of_value(
        there[0], tensors_of(there[1]), ask.program.source, retrying.of_value(ask, *there)),
        (run, target), whole)
    return [note(ask, n) for n in (*said, *bad)]


def worded(explain: Callable[[Any], list[Note]], plain: Any, whole: Any) -> list[Note]:
    """What is said of a run. whole: the same with what is made of numbers alone recorded, which
    decides whether anything is, and names what is no variable; None: there is nothing of that kind.
    """
    decided = explain(plain if whole is None else whole)
    if whole is None or not decided:
        return decided
    found = explain(plain)
    spread = any(n.code == "nan-spread" and n.message.startswith("a constant") for n in found)
    return decided if spread or not found else found


def with_numbers(ask: Ask, run: Run, target: Target) -> tuple[Run, Target] | None:
    """A run that records what is made of numbers alone, and its target; None where nothing that the
    target meets is.
    """
    made = ask.made(target)
    if with_numbers not in made:
        made[with_numbers] = _with_numbers(ask, run, target)
    found: tuple[Run, Target] | None = made[with_numbers]
    return found


def _with_numbers(ask: Ask, run: Run, target: Target) -> tuple[Run, Target] | None:
    if run.steps > FEW_STEPS:
        return None
    entries = run.record.compact()
    if not entries.scalar and sum([np.size(entry[ANS]) for entry in entries]) > FEW_NUMBERS:
        return None
    known = {entry[OUT] for entry in entries} | {
        getattr(run.bindings[name][0].value, "id", None) for name in ask.at if name in run.bindings}
    met = [v for entry in entries for i, v in zip(entry[IDS], entry[VALUES], strict=False)
           if i not in known]
    met += [t.value for t in tensors_of(target) if t.id not in known]
    written = ask.program.numbers()
    if all(type(v) is not float or abs(v) in written for v in met) and not (
            ask.program.lost_numbers()):
        return None
    try:
        again = ask.program.recording_constants().run(
            ask.at, max_steps=ask.max_steps, max_bytes=ask.max_bytes, tape=ask.tape, tf=ask.tf,
            output=lambda printed: None)
        return again, ask.same_target(again, target)
    except GradcliError:    # an operation wants a number that is no tensor
        return None


def _lost_constants(ask: Ask, run: Run, target: Target) -> list[tuple[str, Any]]:
    """What is said of a target that meets a constant which is 0 or infinite only because floats
    end: as it is written, or on its way. run: one that records constants.
    """
    found = ask.program.lost_numbers()
    tensors = tensors_of(target)
    if found or not extreme(run.record.compact(), (), [t.value for t in tensors]):
        return found
    from gradcli.explain.notes import flushed, out_of_range

    told = flushed(target.name, target.span)
    return [(told.message, told.span)] if out_of_range(run, tensors) else []
