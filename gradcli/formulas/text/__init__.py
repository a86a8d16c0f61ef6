"""The languages that formulas are written in, each a row here and a module of its name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.formulas.text.languages import Language

LANGUAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "gradcli": ("a file that gradcli reads back", ()),
    "python": ("NumPy", ("py",)),
    "c": ("", ("c", "h")),
    "latex": ("", ("tex",)),
    "sympy": ("", ())}
"""Name for --format to what help says of it, and the ends of names of its files."""


def language_of(name: str) -> type[Language]:
    """Load a language: the class of its name, which begins with a capital, in the module of it."""
    found: type[Language] = getattr(
        __import__(f"{__name__}.{name}", fromlist=["_"]), name.capitalize())
    return found
