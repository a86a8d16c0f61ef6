"""Products, calls and derivatives in one word: told where a name has no value, left alone else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import folded
from folders import ROOT
from transcripts import in_process

import gradcli
from gradcli.lang.messages.unknown import FUNCTIONS, readings
from gradcli.ops import PUBLIC

NAMES = """
    alpha beta beta1 beta_2 gamma theta theta0 lam lambda_ mu sigma sigma_x omega phi rho eta
    mass rate rates cost costs total price weight weights width height depth length area volume
    speed velocity accel force energy power_in current voltage charge res resistance cap temp
    temperature pressure density time times dt dx dy dz dxs dA t0 t1 t_end x0 x1 xs ys zs xy_max
    min_x max_y xmin xmax ymin lo hi lower upper start stop step steps epochs lr loss losses logits
    logit_x prob probs pred preds target targets label labels image pixel bias biases kernel filter
    hidden inputs outputs signal noise freq period phase amp amplitude constant const_a constants
    coefficient degree index indices count counter sample samples mean_x variance stddev exponent
    exposure express expense login logic logo catalog biology technology botany cosine cosmos sine
    single since using basin cousin tank tangent distant instant important standard expert sinus
    absolute abstract sqr square_x rootx angle radius diameter center offset off scale shift factor
    ratio share percent tax interest years months age income salary profit margin demand supply q1
    q2 k1 k2 km vmax kcat conc dose half_life growth decay birth death population prey predator a1
    a2 b1 b2 c0 c1 w1 w2 h1 h2 z1 z2 g1 gx gy fx fy px py vx vy ax ay tx ty re im rr zz abc pqr u1
    u2 eps epsilon delta deltas Re Pr Nu kB NA hbar me mp qe G0 T1 P2 V_m R_gas n_A pi_hat pin pit
    pip pie pint spin tint mint limit ln_p exp_t lna expo logs alogx_ cosy sect""".split()
SLIPS = (
    ("lnsinx", "ln(sin(x))"), ("x*expsinx", "x*exp(sin(x))"),
    ("xe^x", "x*e^x"), ("2xsinx", "2x*sin(x)"), ("sinx", "sin(x)"), ("sinx^2", "sin(x)^2"),
    ("cosx*x", "cos(x)*x"), ("xlnx", "x*ln(x)"), ("3expx + x", "3exp(x) + x"),
    ("sin2x", "sin(2x)"), ("sqrtx + x", "sqrt(x) + x"), ("sinxcosx", "sin(x)*cos(x)"),
    ("1/xsinx", "1/(x*sin(x))"), ("x*y + xy", "x*y + x*y"), ("pir^2", "pi*r^2"),
    ("tanhx + arctanx", "tanh(x) + arctan(x)"), ("x^xy + y", "x^(x*y) + y"),
    ("asinx*x", "asin(x)*x"), ("xsin3xcosx", "x*sin(3x)*cos(x)"), ("sinθ", "sin(θ)"),
    ("xsin(x)", "x*sin(x)"), ("alphax + alpha + x", "alpha*x + alpha + x"))
POINT = {"x": 0.7, "y": 1.3, "r": 0.9, "θ": 0.4, "alpha": 2.5}


def errors(*argv: str) -> list[dict[str, object]]:
    status, out, err = in_process([*argv, "--strict-syntax", "--format", "json"])
    assert (status, out) == (3, ""), argv
    told = json.loads(err.splitlines()[-1])
    found: list[dict[str, object]] = told.get("errors") or [told["error"]]
    return found


def mended(text: str, argv: tuple[str, ...]) -> str:
    """The text with all suggestions followed, as often as there are any."""
    for _ in range(3):
        status, _, _ = in_process([argv[0], "-e", text, *argv[1:], "--strict-syntax"])
        if status != 3:
            return text
        for problem in sorted(errors(argv[0], "-e", text, *argv[1:]),
                              key=lambda one: -int(str(one["column"]))):
            new = re.match(r"did you mean `([^`]+)`", str(problem["help"]))
            assert new is not None, problem
            start, end = int(str(problem["column"])) - 1, int(str(problem["end_column"])) - 1
            text = text[:start] + new[1] + text[end:]
    return text


@folded
@pytest.mark.parametrize("command", ["derive", "eval"])
@pytest.mark.parametrize(("slip", "meant"), SLIPS)
def test_what_is_suggested_is_what_was_meant(command: str, slip: str, meant: str) -> None:
    names = set(gradcli.loads(meant).names.inputs)
    at = ",".join(f"{name}={POINT[name]}" for name in sorted(names))
    argv = ("derive",) if command == "derive" else ("eval", "--at", at)
    text = mended(slip, argv)
    point = {name: POINT[name] for name in names}
    assert gradcli.loads(text).gradient(at=point) == pytest.approx(
        gradcli.loads(meant).gradient(at=point)), text


@folded
@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_a_name(name: str) -> None:
    """Alone, and beside variables of one letter, in a formula without values. (Beside t and x, `tx`
    is no longer one.)
    """
    for text in (name, f"{name}^2*x", f"{name}/w + u*x"):
        status, _, err = in_process(["derive", "-e", text])
        assert status == 0, (text, err)


def test_names_of_the_pages_and_samples() -> None:
    """No word of ours is taken for a product but those that are meant to be."""
    words = set()
    for path in (*ROOT.glob("docs/*.md"), *ROOT.glob("samples/**/*.txt"), ROOT / "README.md"):
        words.update(re.findall(r"[^\W\d]\w*", path.read_text(encoding="utf-8", errors="replace")))
    for path in ROOT.glob("gradcli/**/*.py"):
        words.update(re.findall(r"\b[a-z_]+\b", path.read_text(encoding="utf-8")))
    assert len(words) > 8000
    assert {word for word in words if word not in PUBLIC and readings(word, (), True)} <= {
        "xsinx", "sinx", "sinxcosx", "lnx", "cosx", "acosx", "sinxy", "xlnx", "log2x", "ksinx",
        "sin2x", "xlogx", "sint", "lnsinx", "log5x"}


@pytest.mark.parametrize(("argv", "status"), [
    (["eval", "-e", "xe^2", "--at", "xe=2"], 0), (["derive", "-e", "sinx^2", "--wrt", "sinx"], 0),
    (["derive", "-e", "input sinx\nsinx^2"], 0), (["eval", "-e", "sinx = 3\nsinx^2"], 0),
    (["derive", "-e", "sinx^2", "--at", "sinx=1"], 0),
    (["plot", "-e", "sinx^2", "--over", "sinx=0:1", "--format", "text"], 0),
    (["eval", "-e", "sinx*x", "--points", "sinx=[1,2]", "--points", "x=[3]"], 0),
    (["plot", "-e", "sinx", "--over", "x=0:1"], 3), (["graph", "-e", "sinx", "--at", "x=1"], 3),
    (["taylor", "-e", "xe^x", "--at", "x=1"], 3), (["steps", "-e", "2xsinx", "--at", "x=1"], 3),
    (["eval", "-e", "sinx*x", "--points", "x=[1,2]"], 3), (["run", "-e", "print(sinx)"], 3)])
def test_a_value_makes_it_a_name(argv: list[str], status: int) -> None:
    found, _, err = in_process([*argv, "--strict-syntax"])
    assert found == status, err
    assert status == 0 or ("is one name here" in err and "did you mean `" in err)


@pytest.mark.parametrize(("argv", "read_as"), [
    (["plot", "-e", "sinx", "--over", "x=0:1"], "sin(x)"),
    (["graph", "-e", "sinx", "--at", "x=1"], "sin(x)"),
    (["taylor", "-e", "xe^x", "--at", "x=1"], "x*e^x"),
    (["steps", "-e", "2xsinx", "--at", "x=1"], "2*x*sin(x)"),
    (["eval", "-e", "sinx*x", "--points", "x=[1,2]"], "sin(x)*x"),
    (["derive", "-e", "sinx^2", "--wrt", "sinx"], ""), (["derive", "-e", "mgh", "--wrt", "h"],
                                                        "m*g*h")])
def test_without_a_value_it_is_taken_apart(argv: list[str], read_as: str) -> None:
    status, _, err = in_process(argv)
    assert status == 0, err
    assert err.startswith(f"read as {read_as}\n") if read_as else "read as" not in err


def test_a_derivative_in_the_way_of_textbooks() -> None:
    for text, help in (("dy/dx", "write the function alone and ask for it with --wrt x"),
                       ("y = x^2\ndy/dx", "did you mean `grad(y, x)`?"),
                       ("x*dV/dr", "write the function alone and ask for it with --wrt r")):
        for argv in (("derive", "-e", text), ("eval", "-e", text, "--at", "x=3")):
            assert errors(*argv)[0]["help"] == help
    assert in_process(["eval", "-e", "y = x^2\ngrad(y, x)", "--at", "x=3"])[1].endswith("6\n")
    assert in_process(["eval", "-e", "dy/dx", "--at", "dy=1,dx=2"])[0] == 0


def test_functions_are_functions() -> None:
    assert set(FUNCTIONS) <= set(PUBLIC)


def test_a_column_may_have_such_a_name(tmp_path: Path) -> None:
    points = tmp_path / "p.csv"
    points.write_text("sinx,x\n2,3\n")
    assert in_process(["eval", "-e", "sinx*x", "--points", str(points)])[:2] == (
        0, "sinx,x,f\n2,3,6\n")


@pytest.mark.parametrize(("text", "help"), [
    ("d2y/dx2", "`gradcli hess` gives its second derivative"),
    ("d3y/dx3", "`gradcli derive --order 3` gives that derivative"),
    ("dy/dx", "ask for it with --wrt x")])
def test_signs_of_derivatives_of_any_order(text: str, help: str) -> None:
    (problem,) = errors("grad", "-e", text)
    assert str(problem["help"]).endswith(help)
