"""Newton's method: roots of as many equations as unknowns, minima of one function.

Steps that do not reduce what they are to reduce are halved (Dennis and Schnabel, Numerical Methods
for Unconstrained Optimization and Nonlinear Equations (1996), chapter 6). For a minimum the
Hessian gets what it lacks to be positive definite. Where steps shrink by one ratio r, as at a root
of multiplicity m with r = (m - 1)/m, the step times 1/(1 - r) is tried (E. Schröder (1870)), and
taken if Newton's own step is short there: on the way down a steep slope it leads beyond the root.
"""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.base.lazy import np, quiet
from gradcli.engine.sweeps.series import AtKink, Expansion, NoSeries, polynomial
from gradcli.ops.values import shape_of
from gradcli.questions.calculus.point import Point, order, remark
from gradcli.questions.plain_data import data
from gradcli.questions.question import answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.questions.plain_data import Answer
    from gradcli.questions.question import Question

STEPS, TOLERANCE, HALVINGS = 50, 1e-12, 40
# On a plateau a step may be of any length: one of the size of x counts if it leaves so much.
LEFT = 0.9
EPSILON = 2.0 ** -52
# Ratios of steps that are told from quadratic convergence and from none, and how near two of them
# have to be.
LINEAR, STABLE = (0.3, 0.995), 0.02
# A minimum is judged in steps of so much of x, up to so high an order, in so many directions; a
# derivative counts from so much of the value on.
NEARBY, ORDERS, DIRECTIONS, NOISE = 1e-6, 8, 16, 1e-13
SADDLE = "it is a saddle point or a maximum: a second derivative is negative"


class Iterate:
    """One point of the way. merit: what has to become smaller."""

    __slots__ = ("merit", "point", "residual", "value", "x")

    def __init__(self, point: Point, minimum: bool) -> None:
        self.point = point
        self.x = np.array(point.values)
        if minimum:
            self.value = point.scalar("a minimum")
            self.residual = point.jacobian()[0]
            self.merit = self.value
        else:
            self.value = point.value
            self.residual = np.asarray(self.value, float).ravel()
            self.merit = float(np.hypot.reduce(self.residual))


def newton(question: Question, minimum: bool = False, iterations: int | None = None,
           tolerance: float | None = None) -> Answer:
    """Return the iterates, whether they converged, and if not, why."""
    run = question.run()
    with run.record:
        order(question, run, "newton")
        names = [t.name for t in question.program.targets(run, question.of)]
        results = [_result(question, k, minimum, iterations or STEPS, tolerance or TOLERANCE)
                   for k in range(len(names))]
    return answer(question, "newton", results)


def _result(question: Question, which: int, minimum: bool, most: int, tolerance: float) -> Answer:
    here = _at(question, which, {}, minimum)
    if not minimum and len(here.residual) != len(here.x):
        raise here.point.error(
            "E0831", f"a root needs as many equations as unknowns, and `{here.point.target.name}`"
            f" has {len(here.residual)} for {', '.join(here.point.names)}",
            "name the unknowns with --wrt, or ask for --minimum")
    start = here
    told = [_row(0, here, None)]
    reason, converged = f"no convergence in {most} steps", False
    seen = float(np.abs(here.x).max())
    lengths: list[float] = []
    for k in range(1, most + 1):
        if not minimum and here.merit == 0:
            reason, converged = "the value is 0", True
            break
        step, why = _step(here, minimum)
        if step is None:
            reason = why
            break
        length = float(np.abs(step).max())
        size = max(1e-300, float(np.abs(here.x).max()), 1.0 if minimum else 0.0)
        following, why, factor = _searched(question, which, here, step, minimum, tolerance)
        if following is None:
            # No nearer point exists in floating point numbers: it is here, if anywhere.
            near = length <= 1e4 * max(tolerance, EPSILON) * max(size, 1.0)
            reason, converged = ("the step no longer changes the value" if near else why), near
            break
        lengths = [*lengths[-2:], length] if factor == 1 else []
        if len(lengths) == 3:
            following, factor = _stretched(question, which, here, step, minimum, following, lengths)
        told.append(_row(k, following, following.x - here.x, factor))
        moved = float(np.abs(following.x - here.x).max())
        slow = len(told) > 2 and moved > 0.1 * float(told[-2]["length"])
        here = following
        seen = max(seen, float(np.abs(here.x).max()))
        # Near a root at 0 no step is short against x: then against where x has been.
        if moved <= tolerance * max(size, float(np.abs(here.x).max()), seen if slow else 0.0):
            reason, converged = "the step is within the tolerance", True
            break
    found = start.point.head()
    if converged and minimum:
        converged, reason = _judged(here, seen or 1.0, reason, found["notes"])
    point = here.point
    # What is left of the value at a root is rounding by nature.
    found["notes"] += [note for note in point.head()["notes"] if note not in found["notes"]
                       and note["code"] != "digits-cancelled"]
    return {
        **found, "goal": "minimum" if minimum else "root", "converged": converged,
        "reason": reason, "steps": len(told) - 1,
        "solution": dict(zip(point.names, here.x.tolist(), strict=True)),
        "found": data(here.value), "iterates": told}


def _at(question: Question, which: int, changed: dict[str, Any], minimum: bool) -> Iterate:
    run = question.run(changed)
    with run.record:
        point = Point(question, run, question.program.targets(run, question.of)[which])
        point.free_to_move("`newton`")
        return Iterate(point, minimum)


def _moved(here: Iterate, x: Any) -> dict[str, Any]:
    """Return the variables with these values for all elements."""
    found, start = {}, 0
    for binding in here.point.bindings:
        shape = shape_of(binding.value.value)
        n = int(np.prod(shape)) if shape else 1
        piece = x[start:start + n]
        found[binding.name] = piece.reshape(shape) if shape else float(piece[0])
        start += n
    return found


def _step(here: Iterate, minimum: bool) -> tuple[Any, str]:
    """Return (the step, "") or (None, why there is none)."""
    with here.point.run.record, quiet():
        matrix = here.point.hessian() if minimum else here.point.jacobian()
    if not (np.isfinite(matrix).all() and np.isfinite(here.residual).all()):
        return None, "a value or derivative is not finite there"
    if minimum:
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        largest = float(np.abs(values).max(initial=0.0))
        if largest == 0:
            return (None, "the second derivatives are all 0 there") if np.abs(
                here.residual).max() > 0 else (np.zeros_like(here.x), "")
        values = np.maximum(np.abs(values), EPSILON * largest)
        return -vectors @ ((vectors.T @ here.residual) / values), ""
    try:
        step = np.linalg.solve(matrix, -here.residual)
    except np.linalg.LinAlgError:
        step = np.array([np.inf])
    if not np.isfinite(step).all():
        return None, ("the derivative is 0 there" if len(matrix) == 1 else
                      "the Jacobian is singular there")
    return step, ""


def _searched(question: Question, which: int, here: Iterate, step: Any, minimum: bool,
              tolerance: float) -> tuple[Iterate | None, str, float]:
    """Return the first point on the way, halved again and again, that is better than here; why
    there is none; the share of the step.
    """
    size = max(1.0, float(np.abs(here.x).max()))
    whole = float(np.abs(step).max())
    factors = [0.5 ** k for k in range(HALVINGS)]
    if not minimum and whole > size:
        factors += [0.5 ** k * size / whole for k in range(HALVINGS)]
    for k, factor in enumerate(factors):
        x = here.x + factor * step
        if (x == here.x).all():
            break
        try:
            there = _at(question, which, _moved(here, x), minimum)
        except GradcliError as problem:
            if problem.code not in ("E0404", "E0405"):
                raise
            there = None
        if there is not None and np.isfinite(there.merit):
            slope = float(here.residual @ step) if minimum else -here.merit
            most = LEFT * here.merit if k >= HALVINGS else here.merit + 1e-4 * factor * slope
            if there.merit <= most:
                return there, "", factor
            near = factor * whole <= tolerance * max(1e-300, float(np.abs(here.x).max()))
            if near and k < HALVINGS and there.merit <= here.merit:
                return there, "", factor
    if minimum:
        return None, "no step leads to a smaller value", 0.0
    return None, ("no step leads nearer to 0: |f| is smallest without a root near there, or so flat"
                  " that steps lead far beyond one; try another start"), 0.0


def _stretched(question: Question, which: int, here: Iterate, step: Any, minimum: bool,
               usual: Iterate, lengths: list[float]) -> tuple[Iterate, float]:
    """Return where a longer step leads if steps shrink by one ratio and it leads nearer than the
    usual one; the share of the step.
    """
    before, ratio = lengths[1] / lengths[0], lengths[2] / lengths[1]
    if LINEAR[0] < ratio < LINEAR[1] and abs(ratio - before) < STABLE:
        share = 1 / (1 - ratio)
        share = round(share) if abs(share - round(share)) < 0.1 else share
        try:
            there = _at(question, which, _moved(here, here.x + share * step), minimum)
        except GradcliError as problem:
            if problem.code not in ("E0404", "E0405"):
                raise
            return usual, 1.0
        if float(np.hypot.reduce(there.residual)) < float(np.hypot.reduce(usual.residual)) and (
                there.merit <= here.merit if minimum else _is_near(there, lengths[2])):
            return there, float(share)
    return usual, 1.0


def _is_near(here: Iterate, length: float) -> bool:
    """Return whether it is a root, or Newton's step from here is not longer than this."""
    if here.merit == 0:
        return True
    step, _ = _step(here, minimum=False)
    return step is not None and float(np.abs(step).max()) <= length


def _judged(here: Iterate, seen: float, reason: str, notes: list[Answer]) -> tuple[bool, str]:
    """Return whether it is a minimum where the first derivatives are 0, and why not; what is not
    sure goes to the notes.
    """
    with here.point.run.record, quiet():
        matrix = here.point.hessian()
        if not np.isfinite(matrix).all():
            notes.append(remark("degenerate", "whether it is a minimum is not decided: a second"
                                " derivative is not finite there"))
            return True, reason
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        largest = float(np.abs(values).max(initial=0.0))
        if values.size and float(values[0]) < -1e-8 * largest and len(values) > DIRECTIONS:
            return False, SADDLE
        for k in range(min(DIRECTIONS, len(values))):
            found = _leading(here, vectors[:, k], seen, largest)
            along = "" if len(values) == 1 else f" along {_direction(here, vectors[:, k])}"
            if found is None:
                if float(values[k]) < -1e-8 * largest:
                    return False, SADDLE
                if abs(float(values[k])) <= 1e-8 * largest:
                    notes.append(remark(
                        "degenerate", f"whether it is a minimum{along} is not decided: the second"
                        " derivative is 0 there, and there are no higher ones"))
                continue
            order, negative = found
            if order % 2:
                return False, (f"it is an inflection{along}: the first derivative there that is not"
                               f" 0 is of order {order}")
            if order and negative:
                return False, SADDLE if order == 2 else (
                    f"it is a saddle point or a maximum: the derivative of order {order}{along} is"
                    " negative")
            if order != 2:
                notes.append(remark("degenerate", (
                    f"the second derivative{along} is 0 there: the one of order {order} decides"
                    if order and len(values) == 1 else
                    f"the second derivative{along} is 0 there: the one of order {order} says that"
                    " it is a minimum on this line, which does not decide beside it" if order else
                    f"the value does not change{along}: the minimum is not a single point")))
    return True, reason


def _leading(here: Iterate, direction: Any, seen: float, largest: float
             ) -> tuple[int, bool] | None:
    """Return the order of the derivative that decides near the point along a direction, 0 where
    there is none, and whether it is negative; None where there is no power series.
    """
    point, start, seeds = here.point, 0, {}
    for source in point.sources:
        n = int(np.prod(source.shape)) if source.shape else 1
        piece = direction[start:start + n]
        seeds[source.id] = polynomial(source.value, piece.reshape(source.shape) if source.shape
                                      else float(piece[0]))
        start += n
    if point.tensor.id is None or None in seeds:
        return 0, False
    try:
        c = Expansion(
            point.run.record.history(), seeds, [point.tensor.id]).of(  # type: ignore[arg-type]
            point.tensor.id, ORDERS)
    except (AtKink, NoSeries, GradcliError):
        return None
    c = [float(v) for v in c or [0.0] * (ORDERS + 1)]
    if not np.isfinite(c).all():
        return None
    least = NOISE * max(abs(c[0]), largest * seen * seen)
    far = np.float64(seen)      # whose powers are infinite where those of a float raise
    terms = {k: float(c[k] * (NEARBY * far) ** k) for k in range(2, ORDERS + 1)
             if abs(c[k]) * far ** k > least}
    if not terms:
        return 0, False
    order = max(terms, key=lambda k: abs(terms[k]))
    return order, terms[order] < 0


def _direction(here: Iterate, direction: Any) -> str:
    """Return a direction as text: `x` or `[0.6, 0.8]`."""
    size = np.abs(direction)
    k = int(size.argmax())
    if size[k] > 1 - 1e-6:
        return here.point.names[k]
    return f"[{', '.join([f'{v:.3g}' for v in (direction + 0.0).tolist()])}]"


def _row(k: int, here: Iterate, step: Any, factor: float = 1.0) -> Answer:
    return {"step": k, "at": dict(zip(here.point.names, here.x.tolist(), strict=True)),
            "value": data(here.value), "residual": float(np.hypot.reduce(here.residual)),
            "length": None if step is None else float(np.hypot.reduce(step)), "share": factor}
