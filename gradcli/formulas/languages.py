"""Writers by the name of their language."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.formulas.algebra import Algebra
    from gradcli.formulas.writing import Writer


def writer_of(language: str, a: Algebra) -> Writer:
    """What writes a language: "gradcli", "python", "c", "latex" or "sympy"."""
    if language == "python":
        from gradcli.formulas.python_text import Python

        return Python(a)
    if language == "c":
        from gradcli.formulas.c_text import C

        return C(a)
    if language == "latex":
        from gradcli.formulas.latex_text import Latex

        return Latex(a)
    if language == "sympy":
        from gradcli.formulas.sympy_text import Sympy

        return Sympy(a)
    from gradcli.formulas.gradcli_text import Gradcli

    return Gradcli(a)
