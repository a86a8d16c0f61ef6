"""Calculus with a program: each command a few lines over gradients, Jacobians and Hessians.

Each function takes an `Ask` and returns plain data in the shape of `gradcli/schemas/NAME.schema.json`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.answers.ask import Answer, Ask


def answered(command: str, ask: Ask, options: dict[str, Any]) -> Answer:
    """The answer of one command. Raises E0831 to E0836 for what it cannot be asked."""
    if command == "taylor":
        from gradcli.analysis import taylor as module
    elif command in ("tangent", "directional"):
        from gradcli.analysis import tangents as module  # type: ignore[no-redef]
    elif command in ("divergence", "curl", "laplacian"):
        from gradcli.analysis import fields as module  # type: ignore[no-redef]
    elif command == "implicit":
        from gradcli.analysis import implicit as module  # type: ignore[no-redef]
    elif command == "newton":
        from gradcli.analysis import newton as module  # type: ignore[no-redef]
    else:
        from gradcli.analysis import propagate as module  # type: ignore[no-redef]
    found: Answer = getattr(module, command)(ask, options)
    return found


def failed(found: Answer) -> bool:
    """Whether a method did not get there: exit status 1."""
    return any(result.get("converged") is False for result in found["results"])
