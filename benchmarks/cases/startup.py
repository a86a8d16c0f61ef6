"""One answer from a cold start: whole processes, samples/expr.txt at x = 3.

The peers get the formula in their own language, which spares them reading a file; maxima and giac
differentiate symbolically and substitute, jax differentiates without compiling.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.harness.case import ROOT, WHEEL, Case, Command, Place, Ratio, numbers_in

SAMPLE = str(ROOT / "samples" / "expr.txt")
FORMULA = ["-e", "x^2*sin(y)+exp(x*y)", "--wrt", "x,y", "--at", "x=1.5,y=0.5"]
MAIN = "from gradcli.cli.main import main; main()"

MAXIMA = "fpprintprec: 17$ y: x^2*sin(x) + exp(-x)$ print(float(ev(diff(y, x), x = 3)))$"
GIAC = "evalf(subst(diff(x^2*sin(x) + exp(-x), x), x = 3), 17)"
SYMPY = """
from sympy import diff, exp, sin, symbols
x = symbols("x")
print(diff(x**2*sin(x) + exp(-x), x).subs(x, 3).evalf(17))
"""
JAX = """
import jax
import jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
print(float(jax.grad(lambda x: x**2*jnp.sin(x) + jnp.exp(-x))(3.0)))
"""


def last_number(text: str, folder: Path) -> list[float]:
    return numbers_in(text, folder)[-1:]


def nothing(place: Place) -> list[str]:
    return [place.program, "-c", "pass"]


def gradcli(*arguments: str, terminal: bool = False, name: str = "") -> Command:
    """The installed command; what a table shows is rounded, and not compared."""
    compared = not terminal and arguments[1:2] == (SAMPLE,)
    return Command(name or f"gradcli {arguments[0]}", WHEEL,
                   lambda place: [place.gradcli, *arguments], terminal,
                   last_number if compared else None)


BASELINE = Command("python -c pass", WHEEL, nothing, read=None)

CASES = [
    Case("startup-pipe", "start-up, `gradcli grad expr.txt --wrt x` in a pipe", [
        gradcli("grad", SAMPLE, "--wrt", "x", name="gradcli"),
        BASELINE,
        Command("gradcli, main() called directly", WHEEL, lambda place: [
            place.program, "-c", MAIN, "grad", SAMPLE, "--wrt", "x"], read=last_number),
        Command("gradcli, python -m", WHEEL, lambda place: [
            place.program, "-m", "gradcli", "grad", SAMPLE, "--wrt", "x"], read=last_number),
        Command("maxima", "maxima", lambda place: [
            place.program, "--very-quiet", f"--batch-string={MAXIMA}"], read=last_number),
        Command("giac", "giac", lambda place: [place.program, GIAC], read=last_number),
        Command("sympy", "sympy", lambda place: [place.program, "-c", SYMPY], read=last_number),
        Command("jax", "jax", lambda place: [place.program, "-c", JAX], read=last_number),
    ], [
        Ratio("gradcli", "python -c pass", 3), Ratio("gradcli", "maxima", 0.4),
        Ratio("gradcli", "sympy", 0.12), Ratio("gradcli", "jax", 0.05), Ratio("gradcli", "giac"),
    ], cores=2),
    Case("startup-terminal", "start-up, the same with a table on a terminal", [
        gradcli("grad", SAMPLE, "--wrt", "x", terminal=True, name="gradcli"),
        BASELINE,
    ], [Ratio("gradcli", "python -c pass", 7)], cores=2),
    Case("startup-others", "start-up of other commands", [
        gradcli("grad", *FORMULA, "--format", "json", name="gradcli grad -e ... (json)"),
        BASELINE,
        gradcli("hess", *FORMULA, "--format", "json", name="gradcli hess -e ... (json)"),
        gradcli("grad", "-e", "sum(x^2)", "--at", "x=[1,2]", name="gradcli grad (NumPy)"),
        gradcli("--version"),
        gradcli("--help"),
    ], [], cores=2),
]
