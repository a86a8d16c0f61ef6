"""Constants that are typed into options: 2*pi, and as on paper 2π/3, 30°."""

from __future__ import annotations

from gradcli.base.errors import GradcliError
from gradcli.lang.running import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def constant(text: str, where: str) -> Any:
    """Return the value of a constant expression of an option, as on paper where the language
    refuses it. Raises what `gradcli.lang.running.program.constant` does.
    """
    try:
        return program.constant(text, where)
    except GradcliError as refused:
        from gradcli.lang.typed.program import constant_on_paper

        return constant_on_paper(text, where, refused)
