"""gradcli's side of questions that are asked again and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

POINTS_TO_LEARN = 20   # more than any prepared question asks before it compiles


def prepared(text: str, at: Mapping[str, Any], wrt: str | None = None, what: str = "gradient",
             **how: Any) -> Callable[[], Any]:
    """The derivatives at a point, from a question that has compiled what it can without llvmlite.
    how: options of `Program.prepare`.
    """
    from gradcli.engine.compiled import jit

    jit.available = lambda: False   # type: ignore[assignment]
    return _learned(text, at, POINTS_TO_LEARN, wrt=wrt, what=what, **how)


def machine_code(text: str, at: Mapping[str, Any]) -> Callable[[], Any]:
    """The gradient at a point, from a question that llvmlite has compiled."""
    from gradcli.engine.compiled import jit

    jit.CALLS, jit.LOADING = 1, 0
    return _learned(text, at, POINTS_TO_LEARN + 1)


def _learned(text: str, at: Mapping[str, Any], calls: int, **how: Any) -> Callable[[], Any]:
    import gradcli

    question = gradcli.loads(text).prepare(**how)
    for _ in range(calls):
        question(at)
    return lambda: question(at)[1]
