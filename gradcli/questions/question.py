"""A question to a program, and the parts that every kind of answer needs."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.engine.calculus import NUMBER
from gradcli.engine.record.record import IDS, OUT
from gradcli.engine.record.tensor import Tensor, flatten, leaf
from gradcli.engine.sweeps.derivatives import seed_of
from gradcli.lang.running.calls import MissingGradients, is_number
from gradcli.lang.running.program import Program
from gradcli.lang.running.run import MAX_STEPS, Target
from gradcli.ops.values import shape_of
from gradcli.questions.plain_data import NUMBER_BYTES, data, heading, lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.explain.catalogue import Note, Reason
    from gradcli.lang.running.run import Binding, Options, Run
    from gradcli.questions.plain_data import Answer


class Question:
    """A question about a program; names as on the command line.

    at: values by name. of: targets, a comma list being a sum. mode: "reverse", "forward" or
    "finite". output_gradient: weights of the target. watch: constants to watch. tf: TensorFlow's
    rule that only trainable variables and watched names count. tape: which of the file's. verbose:
    with notes on operations that a function of the file hides. sparse: Jacobians and Hessians as
    triples. as_data: the answer is plain data with notes, which tell where a 0 stands for a None
    and that `watch` made a source of a constant; Python code, which gets no notes, gets None in
    both cases.
    """

    __slots__ = (
        "as_data", "at", "eig", "max_bytes", "max_steps", "mode", "of", "output_gradient",
        "program", "sparse", "tape", "tf", "unconnected", "verbose", "verify", "watch", "wrt")

    def __init__(self, program: Program, *, at: Mapping[str, Any] | None = None,
                 of: Sequence[str] = (), wrt: Sequence[str] = (), mode: str = "reverse",
                 unconnected: str = "none", output_gradient: Any = None,
                 watch: Sequence[str] = (), tf: bool = False, verify: bool = False,
                 eig: bool = False, sparse: bool = False, verbose: bool = False,
                 max_steps: int = MAX_STEPS, max_bytes: float | None = None,
                 tape: str | None = None, as_data: bool = True) -> None:
        self.program = program
        self.tape = tape
        self.as_data = as_data
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

    def replaced(self, **fields: Any) -> Question:
        """Return a copy with these fields replaced."""
        other = object.__new__(Question)
        for name in Question.__slots__:
            setattr(other, name, fields[name] if name in fields else getattr(self, name))
        return other

    @property
    def element_bytes(self) -> float:
        """What an element of a derivative takes with all that is made of it."""
        return NUMBER_BYTES if self.as_data else NUMBER

    def options(self) -> Options:
        """Return how the program is to be run."""
        return {"max_steps": self.max_steps, "max_bytes": self.max_bytes, "tf": self.tf}

    def run(self, changed: Mapping[str, Any] | None = None, explain: bool = True) -> Run:
        """Run the program at the point, with some values changed. explain: tell why a gradient is
        None that the program calculates with.
        """
        at = {**self.at, **(changed or {})}
        try:
            run = self.program.run(at, tape=self.tape, **self.options())
        except MissingGradients as problem:
            if explain:
                from gradcli.explain.missing.file import complete

                complete(problem, self.program, at, **self.options())
            raise
        if self.tf and run.watched and run.on_tape is None:
            self._only_later_uses(run)
        return run

    def _only_later_uses(self, run: Run) -> None:
        """Remove entries that TensorFlow's tape lacks: uses of a name before its `watch(x)`, unless
        it was on the tape already.
        """
        from gradcli.engine.record.record import expanded, on_tape

        always = {b.value.id for bindings in run.bindings.values() for b in bindings
                  if b.value.id is not None and (b.name in self.watch or b.kind == "variable")}
        late = {i: when for i, (when, _) in run.watched.items() if i not in always}
        window = expanded(run.record.entries)
        if not any(late.get(i, 0) > entry[OUT] for entry in window
                   for i in entry[IDS] if i is not None):
            return
        _, made = on_tape(window, {*always, *late}, late)
        run.record.entries[:] = [entry for entry in window if entry[OUT] in made]

    def logged(self, run: Run) -> Run:
        """Return a run that keeps everything, for explanations of another: the same one for all."""
        made = run.cache("logged")
        if not made:
            made["run"] = self.program.logged_run(self.at, **self.options())
        found: Run = made["run"]
        return found

    def same_target(self, run: Run, target: Target) -> Target:
        """Return the target of another run of the same program."""
        unnamed = target.name == self.program.unnamed and target.name not in run.bindings
        return self.program.targets(run, [] if unnamed else [target.name])[0]

    def watched(self, run: Run, binding: Binding) -> bool:
        """Return whether a name is a source: the command line watches what --wrt names, but not a
        const or trainable=false.
        """
        if run.on_tape is not None:
            return binding.value.id in run.on_tape
        if binding.name in self.watch or binding.kind == "variable":
            return True
        if self.as_data and binding.value.id in run.watched:
            return True
        return not self.tf and binding.kind not in ("constant", "nontrainable")

    def source(self, run: Run, binding: Binding) -> Tensor:
        """Return the tensor to differentiate with respect to: one that nothing reaches if
        unwatched.
        """
        tensor: Tensor = binding.value
        return tensor if self.watched(run, binding) else leaf(tensor.value)


def answer(question: Question, command: str, results: list[Answer]) -> Answer:
    """Return the outermost object. `lines`, the text where the reasons point, is for people only:
    JSON leaves it out.
    """
    whole = {**heading(question.program.source, command), "mode": question.mode,
             "results": results}
    found = [r for result in results
             for part in (result, *result.get("sources", ()), *result.get("blocks", ()))
             for r in part.get("reasons", ())]
    if found:
        whole["lines"] = lines(question.program.source, found)
    return whole


def each_target(question: Question, work: Callable[[Run, Target, list[Binding]], Answer]
                ) -> list[Answer]:
    """Run the program; what `work` says of each target, given the sources, in its record."""
    run = question.run()
    with run.record:
        targets = question.program.targets(run, question.of)
        bindings = question.program.sources(run, question.wrt)
        return [work(run, target, bindings) for target in targets]


def tensors_of(target: Target) -> list[Tensor]:
    """Return the tensors of a target; a plain value has one without a past."""
    value = target.tensor
    if isinstance(value, list):
        return [t for item in value for t in tensors_of(Target(target.name, item, target.span))]
    if isinstance(value, Tensor):
        return [value]
    return [leaf(value if is_number(value) else 0.0)]


def seeds_of(question: Question, tensors: Sequence[Tensor]) -> list[Any]:
    """Return --output-gradient as one weight per target; empty if it is not given. Raises E0301 for
    one that does not fit its target.
    """
    found = _weights(question, tensors)
    for t, weight in zip(tensors, found, strict=False):
        seed_of(t, weight)
    return found


def _weights(question: Question, tensors: Sequence[Tensor]) -> list[Any]:
    weights = question.output_gradient
    if weights is None:
        return []
    if len(tensors) == 1:
        return [float(weights) if shape_of(weights) == () else weights]
    given = list(weights) if shape_of(weights) else [weights] * len(tensors)
    if len(given) != len(tensors):
        raise GradcliError(Diagnostic(
            "E0313", f"{len(given)} output gradients for {len(tensors)} targets",
            span=(0, len(str(data(weights)))),
            source=Source(str(data(weights)), "--output-gradient"),
            help="give one for each target, or one number for all"))
    return [float(w) if shape_of(w) == () else w for w in given]


def place(question: Question, span: Span | None) -> Answer:
    """Return lines and columns from 1, ends exclusive; None without a place."""
    if span is None:
        return {"line": None, "column": None, "end_line": None, "end_column": None}
    line, column = question.program.source.position(span[0])
    end_line, end_column = question.program.source.position(span[1])
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column}


def reason(question: Question, why: Reason) -> Answer:
    """Return a cause of None as data."""
    related = []
    for span, message in why.related:
        line, column = question.program.source.position(span[0])
        related.append({"line": line, "column": column, "message": message})
    return {"code": why.code, "message": why.message, **place(question, why.span),
            "related": related, "fix": why.fix, "fix_works": why.fix_works}


def note(question: Question, what: Note) -> Answer:
    """Return a note as data."""
    at = place(question, what.span)
    return {"code": what.code, "message": what.message, "line": at["line"],
            "column": at["column"]}


def tensors(value: Any) -> list[Tensor]:
    """Return the tensors in what was printed."""
    return [v for v in flatten(value) if isinstance(v, Tensor)]
