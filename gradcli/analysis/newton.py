"""Newton's method: roots of as many equations as unknowns, minima of one function.

Steps that do not reduce what they are to reduce are halved (Dennis and Schnabel, Numerical Methods
for Unconstrained Optimization and Nonlinear Equations (1996), chapter 6). For a minimum the
Hessian gets what it lacks to be positive definite.
"""

from __future__ import annotations

from gradcli.analysis.point import Point
from gradcli.answers.ask import answer
from gradcli.answers.plain_data import data
from gradcli.errors import GradcliError
from gradcli.ops.lazy import np, quiet
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.answers.ask import Answer, Ask

STEPS, TOLERANCE, HALVINGS = 50, 1e-12, 40
EPSILON = 2.0 ** -52


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


def newton(ask: Ask, options: dict[str, Any]) -> Answer:
    """The iterates, whether they converged, and if not, why."""
    minimum = bool(options.get("minimum"))
    run = ask.run()
    with run.record:
        names = [t.name for t in ask.program.targets(run, ask.of)]
        results = [_result(ask, k, minimum, options) for k in range(len(names))]
    return answer(ask, "newton", results)


def _result(ask: Ask, which: int, minimum: bool, options: dict[str, Any]) -> Answer:
    here = _at(ask, which, {}, minimum)
    if not minimum and len(here.residual) != len(here.x):
        raise here.point.error(
            "E0831", f"a root needs as many equations as unknowns, and `{here.point.target.name}`"
            f" has {len(here.residual)} for {', '.join(here.point.names)}",
            "name the unknowns with --wrt, or ask for --minimum")
    start = here
    tolerance = float(options.get("tolerance") or TOLERANCE)
    most = options.get("iterations") or STEPS
    told = [_row(0, here, None)]
    reason, converged = f"no convergence in {most} steps", False
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
        following, why, factor = _searched(ask, which, here, step, minimum, tolerance)
        if following is None:
            # No nearer point exists in floating point numbers: it is here, if anywhere.
            near = length <= 1e4 * max(tolerance, EPSILON) * max(size, 1.0)
            reason, converged = ("the step no longer changes the value" if near else why), near
            break
        told.append(_row(k, following, following.x - here.x, factor))
        moved = float(np.abs(following.x - here.x).max())
        here = following
        if moved <= tolerance * max(size, float(np.abs(here.x).max())):
            reason, converged = "the step is within the tolerance", True
            break
    if converged and minimum:
        converged, reason = _is_minimum(here, reason)
    point = here.point
    return {
        **start.point.told(), "goal": "minimum" if minimum else "root", "converged": converged,
        "reason": reason, "steps": len(told) - 1,
        "solution": dict(zip(point.names, here.x.tolist(), strict=True)),
        "found": data(here.value), "iterates": told}


def _at(ask: Ask, which: int, changed: dict[str, Any], minimum: bool) -> Iterate:
    run = ask.run(changed)
    with run.record:
        point = Point(ask, run, ask.program.targets(run, ask.of)[which])
        return Iterate(point, minimum)


def _moved(here: Iterate, x: Any) -> dict[str, Any]:
    """The variables with these values for all elements."""
    found, start = {}, 0
    for binding in here.point.bindings:
        shape = shape_of(binding.value.value)
        n = int(np.prod(shape)) if shape else 1
        piece = x[start:start + n]
        found[binding.name] = piece.reshape(shape) if shape else float(piece[0])
        start += n
    return found


def _step(here: Iterate, minimum: bool) -> tuple[Any, str]:
    """(the step, "") or (None, why there is none)."""
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


def _searched(ask: Ask, which: int, here: Iterate, step: Any, minimum: bool, tolerance: float
              ) -> tuple[Iterate | None, str, float]:
    """The first point on the way, halved again and again, that is better than here; why there is
    none; the share of the step.
    """
    factor = 1.0
    for _ in range(HALVINGS):
        x = here.x + factor * step
        if (x == here.x).all():
            break
        try:
            there = _at(ask, which, _moved(here, x), minimum)
        except GradcliError as problem:
            if problem.code not in ("E0404", "E0405"):
                raise
            there = None
        if there is not None and np.isfinite(there.merit):
            slope = float(here.residual @ step) if minimum else -here.merit
            if there.merit <= here.merit + 1e-4 * factor * slope:
                return there, "", factor
            near = float(np.abs(factor * step).max()) <= tolerance * max(
                1e-300, float(np.abs(here.x).max()))
            if near and there.merit <= here.merit:
                return there, "", factor
        factor /= 2
    why = ("no step leads to a smaller value" if minimum else
           "no step leads nearer to 0; where |f| is smallest without a root, there is none")
    return None, why, 0.0


def _is_minimum(here: Iterate, reason: str) -> tuple[bool, str]:
    """Whether the second derivatives are of a minimum where the first ones are 0."""
    with here.point.run.record:
        values = np.linalg.eigvalsh(here.point.hessian())
    if values.size and float(values.min()) < -1e-8 * max(1e-300, float(np.abs(values).max())):
        return False, "it is a saddle point or a maximum: a second derivative is negative"
    return True, reason


def _row(k: int, here: Iterate, step: Any, factor: float = 1.0) -> Answer:
    return {"step": k, "at": dict(zip(here.point.names, here.x.tolist(), strict=True)),
            "value": data(here.value), "residual": float(np.hypot.reduce(here.residual)),
            "length": None if step is None else float(np.hypot.reduce(step)), "share": factor}
