"""Questions of the command line, answered as plain data in the shape that CLI.md promises.

An `Ask` holds what was asked. `grad`, `jac`, `hess`, `evaluate` return one dict each: floats,
strings, None, nested lists; nothing of NumPy or of the engine. Renderers print them, `--format
json` dumps them.
"""

from __future__ import annotations

from gradcli import calculus
from gradcli.errors import Diagnostic, GradcliError
from gradcli.explain import none, notes
from gradcli.finite import difference, slope
from gradcli.lang.interpreter import MAX_STEPS
from gradcli.ops.values import SCALAR_TYPES, is_float, shape_of
from gradcli.program import Program, Target, parts, plain_structure, tensor_of
from gradcli.tape.tensor import Tensor, leaf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradcli.errors import Span
    from gradcli.explain.none import Reason
    from gradcli.explain.notes import Note
    from gradcli.lang.interpreter import Binding, Run

    Answer = dict[str, Any]

# Relative difference to the finite differences above which --verify calls a derivative wrong:
# they are good for about ten digits on smooth functions.
VERIFY_TOLERANCE = 1e-5


class Ask:
    """What was asked of a program; names as on the command line.

    at: values by name. of: targets, a comma list being a sum. mode: "reverse", "forward" or
    "finite". output_gradient: weights of the target. watch: constants to watch. tf: TensorFlow's
    rule that only trainable variables and watched names count.
    """

    __slots__ = ("at", "eig", "max_bytes", "max_steps", "mode", "of", "output_gradient", "program",
                 "tf", "unconnected", "verify", "watch", "wrt")

    def __init__(self, program: Program, *, at: Mapping[str, Any] | None = None,
                 of: Sequence[str] = (), wrt: Sequence[str] = (), mode: str = "reverse",
                 unconnected: str = "none", output_gradient: Any = None,
                 watch: Sequence[str] = (), tf: bool = False, verify: bool = False,
                 eig: bool = False, max_steps: int = MAX_STEPS,
                 max_bytes: float | None = None) -> None:
        self.program = program
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
        self.max_steps = max_steps
        self.max_bytes = max_bytes

    def run(self, at: Mapping[str, Any] | None = None) -> Run:
        return self.program.run(self.at if at is None else at, max_steps=self.max_steps,
                                max_bytes=self.max_bytes)


# --- the four questions -----------------------------------------------------------------------


def evaluate(ask: Ask) -> Answer:
    """Values of the targets."""
    run = ask.run()
    results = []
    with run.record:
        for target in ask.program.targets(run, ask.of):
            value = plain_structure(target.tensor)
            found = notes.not_finite(run, _tensors(target), len(run.record.entries))
            results.append({
                "of": target.name, "shape": _shape(value), "value": _data(value),
                "notes": [_note(ask, n) for n in found]})
    return _answer(ask, "eval", results)


def grad(ask: Ask) -> Answer:
    """Gradients of the targets; of one with several elements, that of their sum."""
    return _first_order(ask, "grad", "gradient", _gradients)


def jac(ask: Ask) -> Answer:
    """Jacobians: target shape + source shape."""
    return _first_order(ask, "jac", "jacobian", _jacobians)


def hess(ask: Ask) -> Answer:
    """Hessians: a block for each pair of sources, and with `eig` the eigenvalues of the whole."""
    run = ask.run()
    results = []
    with run.record:
        own = len(run.record.entries)
        bindings = ask.program.sources(run, ask.wrt)
        for target in ask.program.targets(run, ask.of):
            results.append(_hessian(ask, run, target, bindings, own))
    return _answer(ask, "hess", results)


def _answer(ask: Ask, command: str, results: list[Answer]) -> Answer:
    return {"schema": 1, "command": command, "file": ask.program.source.name, "mode": ask.mode,
            "results": results}


def _first_order(ask: Ask, command: str, field: str,
                 question: Callable[[Ask, Run, Target, list[Binding]], list[Any]]) -> Answer:
    run = ask.run()
    results = []
    with run.record:
        own = len(run.record.entries)
        bindings = ask.program.sources(run, ask.wrt)
        for target in ask.program.targets(run, ask.of):
            tensors = _tensors(target)
            value = plain_structure(target.tensor)
            several = command == "grad" and (len(tensors) > 1 or any(t.shape for t in tensors))
            found = question(ask, run, target, bindings)
            common = notes.not_finite(run, tensors, own)
            if several:
                common.append(notes.summed(
                    target.name, sum(calculus.size(t.shape) for t in tensors), target.span))
            sources = []
            for binding, g in zip(bindings, found, strict=True):
                sources.append(_source(ask, run, target, binding, g, field, own))
            if ask.verify:
                _verify(ask, target, bindings, sources, field)
            results.append({
                "of": target.name, "shape": _shape(value), "value": _data(value),
                "summed": several, "sources": sources,
                "notes": [_note(ask, n) for n in common]})
    return _answer(ask, command, results)


def _source(ask: Ask, run: Run, target: Target, binding: Binding, g: Any, field: str, own: int
            ) -> Answer:
    value = binding.value.value
    why: list[Reason] = []
    found: list[Note] = []
    if g is None:
        why = none.reasons(none.Question(
            ask.program, ask.at, run, target, binding, not _watched(ask, binding)))
        if ask.unconnected == "zero":
            shape = shape_of(value)
            if field == "jacobian":
                shape = shape_of(plain_structure(target.tensor)) + shape
            g = _zeros(shape)
            found.append(notes.Note("zero-requested", f"no path: 0 because --unconnected zero asks"
                                    f" for it ({why[0].message})", why[0].span))
    elif ask.mode != "finite":
        found = notes.kinks(run, _tensors(target), binding.value, own)
    found += notes.rebound(run, binding)
    return {
        "wrt": binding.name, "shape": list(shape_of(value)), "at": _data(value), field: _data(g),
        "reasons": [_reason(ask, r) for r in why], "notes": [_note(ask, n) for n in found]}


def _tensors(target: Target) -> list[Tensor]:
    """The tensors of a target; a plain number or text has one without a past."""
    value = target.tensor
    if isinstance(value, list):
        return [t for item in value for t in _tensors(Target(target.name, item, target.span))]
    if isinstance(value, Tensor):
        return [value]
    return [leaf(0.0 if isinstance(value, (str, dict)) or value is None
                 or not (type(value) in SCALAR_TYPES or hasattr(value, "ndim")) else value)]


def _watched(ask: Ask, binding: Binding) -> bool:
    """The command line watches what --wrt names, but not a const or trainable=false."""
    if binding.name in ask.watch or binding.kind == "variable":
        return True
    return not ask.tf and binding.kind not in ("constant", "nontrainable")


# --- derivatives by mode ----------------------------------------------------------------------


def _gradients(ask: Ask, run: Run, target: Target, bindings: list[Binding]) -> list[Any]:
    if ask.mode == "finite":
        return _finite(ask, target, bindings, summed=True)
    tensors = parts(target)
    seeds = _seeds(ask, tensors)
    sources = [b.value if _watched(ask, b) else leaf(b.value.value) for b in bindings]
    if ask.mode == "reverse":
        return calculus.gradient(tensors, sources, seeds=seeds)
    return [_forward(tensors, seeds, s) for s in sources]


def _seeds(ask: Ask, tensors: Sequence[Tensor]) -> list[Any]:
    if ask.output_gradient is None:
        return []
    weights = ask.output_gradient
    if len(tensors) == 1:
        return [weights]
    given = list(weights) if shape_of(weights) else [weights] * len(tensors)
    if len(given) != len(tensors):
        raise GradcliError(Diagnostic(
            "E0313", f"--output-gradient has {len(given)} weights for {len(tensors)} targets",
            help="give one for each target, or one number for all"))
    return [float(w) if shape_of(w) == () else w for w in given]


def _forward(tensors: Sequence[Tensor], seeds: Sequence[Any], source: Tensor) -> Any:
    """The gradient of the weighted sum from tangents in all directions of one source."""
    total: Any = None
    for k, t in enumerate(tensors):
        rows = calculus.jacobian(t, [source], mode="forward")[0] if shape_of(
            source.value) or t.shape else calculus.jvp(t, [source], [1.0])
        if rows is None:
            continue
        weight = seeds[k] if seeds else 1.0
        for _ in t.shape:
            rows = (rows.T * (weight.T if shape_of(weight) else weight)).T.sum(axis=0)
            weight = 1.0
        part = rows * weight
        total = part if total is None else total + part
    return float(total) if total is not None and shape_of(total) == () else total


def _jacobians(ask: Ask, run: Run, target: Target, bindings: list[Binding]) -> list[Any]:
    if ask.mode == "finite":
        return _finite(ask, target, bindings, summed=False)
    sources = [b.value if _watched(ask, b) else leaf(b.value.value) for b in bindings]
    mode = "auto" if ask.mode == "reverse" else "forward"
    return calculus.jacobian(tensor_of(target), sources, mode=mode)


def _finite(ask: Ask, target: Target, bindings: list[Binding], summed: bool) -> list[Any]:
    """Difference quotients of the whole program in every element of every source."""
    return [_finite_one(ask, target, b, summed) for b in bindings]


def _finite_one(ask: Ask, target: Target, binding: Binding, summed: bool) -> Any:
    if binding.kind == "computed":
        raise GradcliError(Diagnostic(
            "E0212", f"differences need a value that can be changed; `{binding.name}` is computed",
            span=binding.span, source=ask.program.source,
            help="name a variable or an input with --wrt"))
    if not _watched(ask, binding) or not is_float(binding.value.value):
        return None
    value = binding.value.value
    shape = shape_of(value)
    if not shape:
        out = slope(lambda x: _value_at(ask, target, binding, x, summed), value)
        return float(out) if shape_of(out) == () else out
    from gradcli.ops.lazy import np

    columns = []
    for k in np.ndindex(shape):
        def moved(x: float, k: tuple[int, ...] = k) -> Any:
            changed = np.array(value)
            changed[k] = x
            return _value_at(ask, target, binding, changed, summed)

        columns.append(slope(moved, float(value[k])))
    stacked = np.stack([np.asarray(c) for c in columns], axis=-1)
    return stacked.reshape(stacked.shape[:-1] + shape)


def _value_at(ask: Ask, target: Target, binding: Binding, x: Any, summed: bool) -> Any:
    run = ask.run({**ask.at, binding.name: x})
    with run.record:
        unnamed = target.name == ask.program.unnamed() and target.name not in run.bindings
        again = ask.program.targets(run, [] if unnamed else [target.name])[0]
        value = plain_structure(again.tensor)
        if not summed:
            return value if shape_of(value) else float(value)
        weights = _seeds(ask, parts(again))
        values = [t.value for t in parts(again)]
    total = 0.0
    for k, v in enumerate(values):
        part = v * weights[k] if weights else v
        total += float(part) if shape_of(part) == () else float(part.sum())
    return total


def _verify(ask: Ask, target: Target, bindings: list[Binding], sources: list[Answer], field: str
            ) -> None:
    for binding, source in zip(bindings, sources, strict=True):
        if source[field] is None or binding.kind == "computed":
            continue
        check = _finite_one(ask, target, binding, field == "gradient")
        if check is None:
            continue
        apart = difference(_undata(source[field]), check)
        source["verify"] = {"method": "finite", field: _data(check), "difference": apart}


def _undata(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    from gradcli.ops.lazy import np

    return np.array(value)


def failed(answer: Answer, strict: bool) -> bool:
    """Whether something checked is wrong: exit status 1."""
    for result in answer["results"]:
        for part in (*result.get("sources", ()), *result.get("blocks", ())):
            if strict and part.get("reasons"):
                return True
            check = part.get("verify")
            if check is not None and not check["difference"] <= VERIFY_TOLERANCE:
                return True
    return False


# --- Hessians ---------------------------------------------------------------------------------


def _hessian(ask: Ask, run: Run, target: Target, bindings: list[Binding], own: int) -> Answer:
    tensor = tensor_of(target) if not isinstance(target.tensor, list) else _total(target)
    value = plain_structure(target.tensor)
    sources = [b.value if _watched(ask, b) else leaf(b.value.value) for b in bindings]
    if ask.mode == "finite":
        found = _finite_hessian(ask, target, bindings)
    else:
        found = calculus.hessian(tensor, sources,
                                 mode="forward" if ask.mode == "reverse" else "reverse")
    why: dict[str, list[Reason]] = {}
    blocks = []
    for i, row in enumerate(bindings):
        for j, column in enumerate(bindings):
            block = found[i, j]
            reasons: list[Reason] = []
            if block is None:
                for b in (row, column):
                    if found[i, i] is None and b is row or found[j, j] is None and b is column:
                        if b.name not in why:
                            why[b.name] = none.reasons(none.Question(
                                ask.program, ask.at, run, target, b, not _watched(ask, b)))
                        reasons.extend(r for r in why[b.name] if r not in reasons)
            shape = shape_of(row.value.value) + shape_of(column.value.value)
            if block is None and ask.unconnected == "zero":
                block = _zeros(shape)
            blocks.append({
                "row": row.name, "col": column.name, "shape": list(shape),
                "hessian": _data(block), "reasons": [_reason(ask, r) for r in reasons],
                "notes": []})
    common = notes.not_finite(run, _tensors(target), own)
    for binding in bindings:
        common += notes.rebound(run, binding)
        common += [n for n in notes.kinks(run, _tensors(target), binding.value, own)
                   if n.message not in [m.message for m in common]]
    result: Answer = {
        "of": target.name, "shape": _shape(value), "value": _data(value), "summed": bool(
            shape_of(value)), "at": {b.name: _data(b.value.value) for b in bindings},
        "blocks": blocks, "notes": [_note(ask, n) for n in common]}
    if ask.eig:
        result.update(_eigenvalues(bindings, found))
    return result


def _total(target: Target) -> Tensor:
    """The sum of a list of targets, as one tensor."""
    from gradcli.ops import NAMES

    total = NAMES["sum"](tensor_of(target))
    return total if isinstance(total, Tensor) else leaf(total)


def _finite_hessian(ask: Ask, target: Target, bindings: list[Binding]) -> dict[tuple[int, int], Any]:
    """Differences of exact gradients, an independent check of the second order alone."""
    out: dict[tuple[int, int], Any] = {}
    for i, row in enumerate(bindings):
        for j, column in enumerate(bindings):
            out[i, j] = _gradient_slope(ask, target, row, column)
    return out


def _gradient_slope(ask: Ask, target: Target, row: Binding, column: Binding) -> Any:
    from gradcli.ops.lazy import np

    value = column.value.value
    shape = shape_of(value)
    if not _watched(ask, row) or not _watched(ask, column):
        return None

    def gradient_at(x: Any) -> Any:
        run = ask.run({**ask.at, column.name: x})
        with run.record:
            unnamed = target.name == ask.program.unnamed() and target.name not in run.bindings
            again = ask.program.targets(run, [] if unnamed else [target.name])[0]
            source = ask.program.sources(run, [row.name])[0]
            g = calculus.gradient(parts(again), [source.value])[0]
        return _zeros(shape_of(row.value.value)) if g is None else g

    if not shape:
        return slope(gradient_at, value)
    columns = []
    for k in np.ndindex(shape):
        def moved(x: float, k: tuple[int, ...] = k) -> Any:
            changed = np.array(value)
            changed[k] = x
            return gradient_at(changed)

        columns.append(np.asarray(slope(moved, float(value[k]))))
    stacked = np.stack(columns, axis=-1)
    return stacked.reshape(stacked.shape[:-1] + shape)


def _eigenvalues(bindings: list[Binding], blocks: Mapping[tuple[int, int], Any]) -> Answer:
    """Of the Hessian over all elements of all sources, ascending; definite by their signs."""
    from gradcli.ops.lazy import np

    if any(block is None for block in blocks.values()):
        return {"eigenvalues": None, "definiteness": None}
    sizes = [calculus.size(shape_of(b.value.value)) for b in bindings]
    matrix = np.block([
        [np.reshape(blocks[i, j], (m, n)) for j, n in enumerate(sizes)]
        for i, m in enumerate(sizes)])
    if not np.isfinite(matrix).all():
        return {"eigenvalues": None, "definiteness": None}
    values = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    # An eigenvalue below the rounding of the largest one has no sign to speak of.
    zero = 1e-12 * max(1e-300, float(np.abs(values).max(initial=0.0)))
    above, below = bool((values > zero).any()), bool((values < -zero).any())
    flat = bool((np.abs(values) <= zero).any())
    if above and below:
        kind = "indefinite"
    elif above:
        kind = "positive semidefinite" if flat else "positive definite"
    elif below:
        kind = "negative semidefinite" if flat else "negative definite"
    else:
        kind = "zero"
    return {"eigenvalues": values.tolist(), "definiteness": kind}


# --- plain data -------------------------------------------------------------------------------


def _zeros(shape: Sequence[int]) -> Any:
    if not shape:
        return 0.0
    from gradcli.ops.lazy import np

    return np.zeros(shape)


def _data(value: Any) -> Any:
    if value is None or type(value) in SCALAR_TYPES:
        return value
    if isinstance(value, dict):
        return {k: _data(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_data(v) for v in value]
    return value.tolist()


def _shape(value: Any) -> list[int] | None:
    if value is None or isinstance(value, (dict, list)):
        return None
    return list(shape_of(value))


def _place(ask: Ask, span: Span | None) -> Answer:
    if span is None:
        return {"line": None, "column": None, "end_line": None, "end_column": None}
    line, column = ask.program.source.position(span[0])
    end_line, end_column = ask.program.source.position(span[1])
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column}


def _reason(ask: Ask, reason: Reason) -> Answer:
    related = []
    for span, message in reason.related:
        line, column = ask.program.source.position(span[0])
        related.append({"line": line, "column": column, "message": message})
    return {"code": reason.code, "message": reason.message, **_place(ask, reason.span),
            "related": related, "fix": reason.fix, "fix_works": reason.fix_works}


def _note(ask: Ask, note: Note) -> Answer:
    place = _place(ask, note.span)
    return {"code": note.code, "message": note.message, "line": place["line"],
            "column": place["column"]}
