"""TensorFlow's names with tapes that ask themselves why an answer is None."""

from __future__ import annotations

from typing import Any, NamedTuple

import gradcli
import gradcli.tf
from gradcli.engine.record import provenance
from gradcli.engine.record.tensor import flatten

# What `why` tells of are the places of the programs, not those of this module.
provenance.skip(__file__)


class Asked(NamedTuple):
    """A question to a tape: the answer, and why `None` where it is, by the path in the answer."""

    answer: Any
    reasons: dict[str, list[Any]]


class Names:
    """`gradcli.tf` with asking tapes: TensorFlow's, or gradcli's own."""

    def __init__(self, tensorflow_semantics: bool) -> None:
        asked: list[Asked] = []
        of = gradcli.tf if tensorflow_semantics else gradcli

        class GradientTape(of.GradientTape):
            __slots__ = ()

            def gradient(self, target: Any, sources: Any, *options: Any, **named: Any) -> Any:
                return self._ask_why(
                    target, sources, super().gradient(target, sources, *options, **named))

            def jacobian(self, target: Any, sources: Any, *options: Any, **named: Any) -> Any:
                return self._ask_why(
                    target, sources, super().jacobian(target, sources, *options, **named))

            def _ask_why(self, target: Any, sources: Any, answer: Any) -> Any:
                reasons = {
                    path: self.why(target, source) for (path, source), found in zip(
                        _paths(sources), flatten(answer), strict=True)
                    if found is None or self.past is not None or self.persistent}
                asked.append(Asked(answer, reasons))
                return answer

        class ForwardAccumulator(of.ForwardAccumulator):
            __slots__ = ()

            def jvp(self, primals: Any, unconnected_gradients: Any = "none") -> Any:
                answer = super().jvp(primals, unconnected_gradients)
                asked.append(Asked(answer, {} if answer is not None else {
                    "": self.why(primals)}))
                return answer

        self.asked = asked
        self.GradientTape = GradientTape
        self.ForwardAccumulator = ForwardAccumulator
        self.autodiff = type("autodiff", (), {
            "ForwardAccumulator": ForwardAccumulator, "GradientTape": GradientTape})

    def __getattr__(self, name: str) -> Any:
        return getattr(gradcli.tf, name)


def _paths(structure: Any) -> list[tuple[str, Any]]:
    """The leaves of a flat structure, by how they are reached."""
    if isinstance(structure, dict):
        return [(f"['{key}']", structure[key]) for key in structure]
    if isinstance(structure, (list, tuple)):
        return [(f"[{k}]", item) for k, item in enumerate(structure)]
    return [("", structure)]
