r"""--latex: formulas in LaTeX against mpmath, the places of errors, what other commands load."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from asked import gradients, loaded, ok
from commands import run
from conftest import folded
from folders import ROOT
from mpmath import mp, mpf
from transcripts import in_process

from gradcli.base.errors import GradcliError, Source
from gradcli.lang.paper.documents import program

# LaTeX, the function by mpmath, the point; names in the order of the function's arguments.
CASES: list[tuple[str, Callable[..., Any], dict[str, float]]] = [
    (r"\frac{x^2}{1+e^{-x}}", lambda x: x**2 / (1 + mp.exp(-x)), {"x": 2.0}),
    (r"\dfrac{1}{x}", lambda x: 1 / x, {"x": 2.5}),
    (r"\frac12 x", lambda x: x / 2, {"x": 2.5}),
    (r"\frac{\frac{1}{x}}{y}", lambda x, y: 1 / (x * y), {"x": 2.5, "y": 0.5}),
    (r"\frac{1}{\frac{x}{y}}", lambda x, y: y / x, {"x": 2.5, "y": 0.5}),
    (r"\sqrt{x+1}", lambda x: mp.sqrt(x + 1), {"x": 2.0}),
    (r"\sqrt[3]{x}", lambda x: mp.cbrt(x), {"x": 2.0}),
    (r"\sqrt[5]{x}", lambda x: x ** (mpf(1) / 5), {"x": 2.0}),
    (r"\sqrt{\frac{x}{y}}", lambda x, y: mp.sqrt(x / y), {"x": 2.0, "y": 3.0}),
    (r"\left(x+1\right)^{2}", lambda x: (x + 1) ** 2, {"x": 2.0}),
    (r"\left[\left(x+1\right)x\right]^{3}", lambda x: ((x + 1) * x) ** 3, {"x": 2.0}),
    (r"2 \cdot x \times y", lambda x, y: 2 * x * y, {"x": 2.0, "y": 3.0}),
    (r"xy + 2x\,y^{2}", lambda x, y: x * y + 2 * x * y**2, {"x": 2.0, "y": 3.0}),
    (r"\ln x \cdot \ln(x)", lambda x: mp.log(x) ** 2, {"x": 2.0}),
    (r"\log_{2} x + \log_{10}{x}", lambda x: mp.log(x, 2) + mp.log10(x), {"x": 2.0}),
    (r"\log_3 x", lambda x: mp.log(x, 3), {"x": 2.0}),
    (r"\sin^{2} x + \cos^3(x)", lambda x: mp.sin(x) ** 2 + mp.cos(x) ** 3, {"x": 2.0}),
    (r"\sin^{-1} x", lambda x: mp.asin(x), {"x": 0.5}),
    (r"\arcsin x \arctan(2x)", lambda x: mp.asin(x) * mp.atan(2 * x), {"x": 0.5}),
    (r"\sin 2x \cos x", lambda x: mp.sin(2 * x) * mp.cos(x), {"x": 0.5}),
    (r"\sin\frac{x}{2}", lambda x: mp.sin(x / 2), {"x": 0.5}),
    (r"\sinh\left(\frac{x}{2}\right) - \tanh x", lambda x: mp.sinh(x / 2) - mp.tanh(x),
     {"x": 0.5}),
    (r"\sec x", lambda x: 1 / mp.cos(x), {"x": 0.5}),
    (r"\pi x^{2}", lambda x: mp.pi * x**2, {"x": 0.5}),
    (r"\alpha\beta + \gamma", lambda alpha, beta, gamma: alpha * beta + gamma,
     {"alpha": 2.0, "beta": 3.0, "gamma": 0.5}),
    (r"e^{-\lambda t}", lambda lam, t: mp.exp(-lam * t), {"lambda": 2.0, "t": 0.75}),
    (r"\frac{1}{\sqrt{2\pi}\,\sigma} e^{-\frac{(x-\mu)^2}{2\sigma^2}}",
     lambda x, mu, sigma: mp.npdf(x, mu, sigma), {"x": 1.0, "mu": 0.25, "sigma": 2.0}),
    (r"|x| + \left|x-3\right|", lambda x: abs(x) + abs(x - 3), {"x": -2.0}),
    (r"\lvert x \rvert", lambda x: abs(x), {"x": -2.0}),
    (r"x^{\frac12} + x^\frac{1}{3}", lambda x: mp.sqrt(x) + mp.cbrt(x), {"x": 2.0}),
    (r"x^{y^{2}}", lambda x, y: x ** (y**2), {"x": 2.0, "y": 1.5}),
    (r"{x}^{2}", lambda x: x**2, {"x": 2.0}),
    (r"-x^2", lambda x: -(x**2), {"x": 2.0}),
    (r"x_1^2 + x_{2}x_{10}", lambda a, b, c: a**2 + b * c, {"x_1": 2.0, "x_2": 3.0, "x_10": 4.0}),
    (r"\exp(x) + \exp\left(-x\right)", lambda x: 2 * mp.cosh(x), {"x": 2.0}),
    (r"\mathrm{e}^{x}", lambda x: mp.exp(x), {"x": 2.0}),
    (r"\operatorname{erf}\left(x\right)", lambda x: mp.erf(x), {"x": 0.5}),
    (r"\operatorname{erf} \left( x \right)", lambda x: mp.erf(x), {"x": 0.5}),
    (r"\max \left( x, y \right) - \min(x, 2y)", lambda x, y: max(x, y) - min(x, 2 * y),
     {"x": 2.0, "y": 0.5}),
    (r"\max\left\{x, y\right\}", lambda x, y: max(x, y), {"x": 2.0, "y": 0.5}),
    (r"\Gamma(x)", lambda x: mp.gamma(x), {"x": 2.5}),
    (r"10^{-3}x + 1.5\cdot10^{2}x", lambda x: x * (mpf(10) ** -3 + 150), {"x": 2.0}),
    (r"x \div y / 2", lambda x, y: x / y / 2, {"x": 2.0, "y": 0.5}),
    (r"\mathrm{loss}\,x + \text{rate}", lambda loss, x, rate: loss * x + rate,
     {"loss": 2.0, "x": 3.0, "rate": 1.0}),
    (r"E = m c^2", lambda m, c: m * c**2, {"m": 2.0, "c": 3.0}),
    (r"\frac{1}{2} E x^2", lambda E, x: E * x**2 / 2, {"E": 2.0, "x": 3.0}),
    (r"f(x) = x^2 + 1", lambda x: x**2 + 1, {"x": 3.0}),
    (r"$$x^2$$", lambda x: x**2, {"x": 3.0}),
    (r"\[ x^2 \]", lambda x: x**2, {"x": 3.0}),
    ("% the volume\nV = \\pi r^2 h % of a cylinder", lambda r, h: mp.pi * r**2 * h,
     {"r": 2.0, "h": 3.0}),
    ("\\begin{align*}\nu &= \\frac{x}{y} \\\\\nf &= u^2 + \\sin u\n\\end{align*}",
     lambda x, y: (x / y) ** 2 + mp.sin(x / y), {"x": 2.0, "y": 3.0}),
]


@folded
@pytest.mark.parametrize(("text", "function", "at"), CASES, ids=[text for text, _, _ in CASES])
def test_values_and_gradients(text: str, function: Callable[..., Any], at: dict[str, float]
                              ) -> None:
    point = ["--at", ",".join([f"{n}={v}" for n, v in at.items()])]
    arguments = ["-e", text, "--latex", *point]
    (result,) = loaded("eval", *arguments)["results"]
    values = [mpf(v) for v in at.values()]
    assert result["value"] == pytest.approx(float(function(*values)), rel=1e-13)
    found = gradients(*arguments, "--wrt", ",".join(at))
    for k, (name, slope) in enumerate(zip(at, found.values(), strict=True)):
        order = tuple([int(j == k) for j in range(len(at))])
        truth = mp.diff(function, tuple(values), order)
        assert slope == pytest.approx(float(truth), rel=1e-9, abs=1e-12), name


def test_vectors_and_matrices() -> None:
    (result,) = loaded("jac", "-e", r"\begin{pmatrix} x^2 y \\ \sin x \end{pmatrix}", "--latex",
                       "--at", "x=2,y=4")["results"]
    assert result["sources"][0]["jacobian"] == [16.0, pytest.approx(float(mp.cos(2)))]
    (result,) = loaded("eval", "-e", r"\begin{bmatrix} x & 1 \\ 2 & 3 \end{bmatrix}", "--latex",
                       "--at", "x=4")["results"]
    assert result["value"] == [[4.0, 1.0], [2.0, 3.0]]


def test_floor_and_ceil() -> None:
    (result,) = loaded("eval", "-e", r"\left\lfloor x \right\rfloor + \lceil 2x \rceil",
                       "--latex", "--at", "x=2.25")["results"]
    assert result["value"] == 7.0


@pytest.mark.parametrize("at", ["μ=1,σ=2,x=3", "mu=1,sigma=2,x=3"])
def test_options_may_spell_a_greek_name_either_way(at: str) -> None:
    assert ok("grad", "-e", r"\mu + \sigma x", "--latex", "--at", at, "--wrt", "σ,mu") == (
        "df/dsigma\t3\ndf/dμ\t1\n")


def test_files_points_and_steps() -> None:
    assert ok("grad", "-", "--latex", "--at", "x=3", stdin=rb"\frac{x^2}{2}") == "df/dx\t3\n"
    out = ok("grad", "-e", r"\mu^2", "--latex", "--points", "mu=linspace(0,1,3)",
             "--format", "csv")
    assert out.splitlines()[1:] == ["0,0,0", "0.5,0.25,1", "1,1,2"]
    assert "v1 = f = x^2\t9" in ok("steps", "-e", r"x^{2}", "--latex", "--at", "x=3")
    assert ok("hess", "-e", r"x^3 y", "--latex", "--at", "x=2,y=4", "--wrt", "x") == (
        "d2f/dxdx\t48\n")


@pytest.mark.parametrize(("text", "code", "marked"), [
    (r"\frac{x^2}{1+\foo y}", "E0720", r"\foo"),
    (r"\frac{x^2}{y}", "E0203", "y"),
    (r"x + \sqrt[3]{z}", "E0203", "z"),
    (r"\frac{1}{x", "E0716", "{"),
    (r"\frac{d}{dx} x^2", "E0720", r"\frac{d}{dx}"),
    (r"\frac{dy}{dx}", "E0720", r"\frac{dy}{dx}"),
    (r"x^2 + y!", "E0714", "!"),
    (r"x + 1 = y", "E0719", "x + 1 "),
    (r"\begin{pmatrix} x & 1 \end{pmatrix} + \begin{pmatrix} 1 & 2 & 3 \end{pmatrix}", "E0301",
     r"\begin{pmatrix} x & 1 \end{pmatrix} + \begin{pmatrix} 1 & 2 & 3 \end{pmatrix}"),
    ("u = x^2\n" + r"v = u + \bar", "E0720", None),
    ("  ", "E0210", "  "),
])
def test_errors_stand_in_the_latex(text: str, code: str, marked: str | None) -> None:
    status, out, err = in_process(["grad", "-e", text, "--latex", "--at", "x=2", "--format",
                                   "json"])
    assert (status, out) == (3, "")
    problem = json.loads(err)["error"]
    assert problem["code"] == code
    if marked is not None:
        lines = text.split("\n")
        assert lines[problem["line"] - 1][problem["column"] - 1:problem["end_column"] - 1] == marked
    else:
        assert problem["line"] == 2


def test_reasons_stand_in_the_latex() -> None:
    (result,) = loaded("grad", "-e", r"\frac{x}{1+\lfloor y \rfloor}", "--latex", "--at",
                       "x=2,y=2.5")["results"]
    (cause,) = result["sources"][1]["reasons"]
    assert (cause["line"], cause["column"]) == (1, 12)


def test_the_source_knows_both_texts() -> None:
    found = program(Source("u = \\frac{x}{2}\n\\sin u", "f.tex")).source
    assert found.text == "u = x/2\nsin(u)\n"
    assert found.line(2) == r"\sin u"
    assert found.position(found.text.index("sin")) == (2, 1)


@folded
@pytest.mark.parametrize("text", [
    "\\", "{", "}", "^", "_", "&", r"\frac", r"\frac{}{}", "x^^2", "\\begin{pmatrix}", "=", "x=",
    r"\left(", "\x00", r"\\\\", "$", "$$", r"\begin{align}", "x_{", r"\sqrt[", "|", "||", r"\text{",
    "(" * 300 + "x" + ")" * 300, "x" * 3000, r"\frac{" * 300])
def test_bad_input_ends_in_an_error_with_a_place(text: str) -> None:
    with pytest.raises(GradcliError) as caught:
        program(Source(text, "-e"))
    for one in caught.value.diagnostics:
        assert one.code.startswith("E0")
        assert one.source is not None
        assert one.span is not None
        assert 0 <= one.span[0] <= one.span[1] <= len(text)


def test_plain_commands_load_none_of_it() -> None:
    code = ("import sys; from gradcli.cli.main import run; from gradcli.cli.environment import"
            " Environment\nrun(['grad', '-e', 'x^2', '--at', 'x=3'], Environment())\n"
            "print([m for m in sys.modules if 'latex' in m or m.startswith('gradcli.lang.paper')])")
    assert run(sys.executable, "-c", code, cwd=ROOT).stdout.endswith("[]\n")
