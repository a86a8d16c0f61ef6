"""Names of a file as LaTeX shows them."""

from __future__ import annotations

# Letters whose names are commands of LaTeX.
GREEK = dict(zip(
    "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ",
    ("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau"
     " upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
     ).split(), strict=True))


def latex_name(name: str) -> str:
    """x, \\theta, x_{1}, \\mathrm{rate}_{\\mathrm{max}}."""
    stem, _, index = name.partition("_")
    if not stem:
        return rf"\mathrm{{{name}}}".replace("_", r"\_")
    if not index and stem.rstrip("0123456789") != stem and stem[:1].isalpha():
        bare = stem.rstrip("0123456789")
        stem, index = bare, stem[len(bare):]
    if stem in GREEK.values():
        shown = "\\" + stem
    elif len(stem) == 1:
        shown = stem
    else:
        shown = rf"\mathrm{{{stem}}}"
    if not index:
        return shown
    inner = index if index.isdigit() or len(index) == 1 else rf"\mathrm{{{index}}}".replace(
        "_", r"\_")
    return f"{shown}_{{{inner}}}"
