"""Calculus with a program: each command a few lines over gradients, Jacobians and Hessians.

Each function takes an `Ask` and returns plain data in the shape of `gradcli/schemas`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.questions.ask import Ask
    from gradcli.questions.plain_data import Answer


def answered(command: str, ask: Ask, options: dict[str, Any]) -> Answer:
    """The answer of one command. Raises E0831 to E0835 for what it cannot be asked."""
    if command == "taylor":
        from gradcli.questions.calculus.taylor import taylor

        return taylor(ask, options)
    if command in ("tangent", "directional"):
        from gradcli.questions.calculus import tangents

        return (tangents.tangent if command == "tangent" else tangents.directional)(ask, options)
    if command in ("divergence", "curl", "laplacian"):
        from gradcli.questions.calculus import taylor as fields

        return {"divergence": fields.divergence, "curl": fields.curl,
                "laplacian": fields.laplacian}[command](ask, options)
    if command == "implicit":
        from gradcli.questions.calculus.implicit import implicit

        return implicit(ask, options)
    if command == "newton":
        from gradcli.questions.calculus.newton import newton

        return newton(ask, options)
    from gradcli.questions.calculus.tangents import propagate

    return propagate(ask, options)


def failed(found: Answer) -> bool:
    """Whether a method did not get there: exit status 1."""
    return any(result.get("converged") is False for result in found["results"])
