"""gradcli verify: finds wrong gradients, and nothing else; the four methods; what it cannot say.

data/wrong_gradients/ holds programs with a wrong gradient, each with the right one in a comment
behind it.
"""

from __future__ import annotations

import json
import math
import random
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import mpmath as mp
import numpy as np
import pytest
from asked import SCHEMAS
from test_samples import SAMPLES
from transcripts import ROOT, header_commands, in_process

from gradcli.ops import TABLE
from gradcli.ops.kinds import LINEAR, fast_rules
from gradcli.verifying import compare
from gradcli.verifying.complex_step import ANALYTIC, CONTINUED

WRONG = sorted((Path(__file__).parent / "data/wrong_gradients").glob("*.txt"))
RULE = re.compile(r"return (.*?)  # right: (.*)")


def verified(*arguments: str, stdin: str = "") -> tuple[int, Any]:
    """Status and answer, held to the schema."""
    status, out, err = in_process(["verify", *arguments, "--format", "json"], stdin.encode())
    assert status in (0, 1), err
    answer = json.loads(out)
    jsonschema.validate(answer, SCHEMAS["verify"])
    assert (status == 1) == (answer["verdict"] == "differ")
    return status, answer


def sources(answer: Any) -> list[Any]:
    return [s for result in answer["results"] for s in result["sources"]]


def elements(*arguments: str) -> list[Any]:
    return [e for s in sources(verified(*arguments)[1]) for e in s["elements"]]


# --- wrong gradients ------------------------------------------------------------------------------


def test_there_are_at_least_forty() -> None:
    assert len(WRONG) >= 40
    assert all(len(RULE.findall(path.read_text())) == 1 for path in WRONG)


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_wrong_gradient_is_found(path: Path) -> None:
    """And the line to blame: that of the rule, or of a call with a registered rule."""
    status, answer = verified(str(path))
    assert status == 1
    text = path.read_text()
    lines = text.splitlines()
    rule = next(k for k, line in enumerate(lines, 1) if "# right:" in line)
    blamed = {c["line"] for s in sources(answer) for c in s["causes"]
              if c["code"] == "custom-gradient"}
    assert blamed == {len(lines) if "gradient_of" in text else rule}


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_the_right_gradient_is_right(path: Path) -> None:
    right = RULE.sub(r"return \2", path.read_text())
    status, answer = verified("-", stdin=right)
    assert (status, answer["verdict"]) == (0, "agree")
    assert not any(s["causes"] for s in sources(answer))


def test_which_argument_is_wrong() -> None:
    (path,) = [p for p in WRONG if "variables" in p.name]
    found = [c["message"] for s in sources(verified(str(path))[1]) for c in s["causes"]]
    assert {m.rpartition(" ")[2] for m in found} == {"2"}


# --- right ones -----------------------------------------------------------------------------------


def questions() -> list[list[str]]:
    """Each sample as it is, and as the gradients in its header ask."""
    found = []
    for path in SAMPLES:
        name = str(path.relative_to(ROOT))
        found.append([name])
        for command in header_commands(path):
            if command[0] in ("grad", "jac") and name in command:
                kept = [name]
                for flag, value in pairwise(command):
                    if flag in ("--of", "--wrt", "--at", "--watch", "--tape"):
                        kept += [flag, value]
                if kept not in found:
                    found.append(kept)
    return found


@cache
def outcome(*arguments: str) -> tuple[int, str, str]:
    return in_process(["verify", *arguments, "--format", "json"])


@pytest.mark.parametrize("arguments", questions(), ids=" ".join)
def test_samples_pass(arguments: list[str]) -> None:
    """Or what they ask has no gradient at all, as `grad` says with the same error."""
    status, _, err = outcome(*arguments)
    if status == 3:
        other, _, told = in_process(["grad", *arguments, "--format", "json"])
        assert (other, json.loads(told)["error"]) == (3, json.loads(err)["error"])
    else:
        assert status == 0


def test_most_samples_are_decided() -> None:
    verdicts = []
    for arguments in questions():
        status, out, _ = outcome(*arguments)
        if status == 0:
            verdicts.append(json.loads(out)["verdict"])
    # Undecided are those without a number: NaN, infinite, or with a state that was assigned.
    assert verdicts.count("agree") > 0.6 * (len(verdicts) - verdicts.count("none")) > 40


# --- the methods ----------------------------------------------------------------------------------


def test_all_four_give_the_derivative() -> None:
    (one,) = elements("-e", "exp(sin(x))/x", "--at", "x=1.3")
    want = float(mp.diff(lambda x: mp.exp(mp.sin(x)) / x, mp.mpf("1.3")))
    for method in ("reverse", "forward", "complex"):
        assert math.isclose(one[method], want, rel_tol=1e-14)
    assert abs(one["central"] - want) <= 1e-9 * abs(want)
    assert abs(one["central"] - want) <= 10 * one["error"] + 1e-15


@pytest.mark.parametrize("text", [
    "x^3*exp(x)", "log(1 + x^2)", "sqrt(x)*sin(3x)", "x^x", "tanh(x)/x", "sum(sigmoid([x, 2x]))",
    "[[x, 1], [2, x]] @ [x, x^2]", "mean([x, x^2, sin(x)])", "silu(x) + softplus(x)",
    "where(x > 1, x^2, x^3)", "[x, 2, 3][0]^2", "cumsum([x, x^2, 1])"])
def test_the_complex_step_is_exact(text: str) -> None:
    for one in elements("-e", text, "--at", "x=1.4"):
        assert one["verdict"] == "agree"
        assert one["complex"] is not None
        assert math.isclose(one["complex"], one["reverse"], rel_tol=1e-13, abs_tol=1e-15)


def test_every_operation_of_the_complex_step_is_analytic() -> None:
    """Its slopes are those of the rules, at random points of the row's own range."""
    stream = random.Random(3)
    checked = 0
    for name in sorted(ANALYTIC | set(CONTINUED)):
        op = TABLE[name]
        if op.kind != "elementwise":
            continue
        for _ in range(10):
            xs = [stream.uniform(*op.samples[min(k, len(op.samples) - 1)])
                  for k in range(len(op.parameters))]
            for k, rule in enumerate(fast_rules(op)):
                if rule is None:
                    continue
                zs: list[Any] = [np.asarray(x) for x in xs]
                zs[k] = np.asarray(complex(xs[k], 1e-20))
                z = complex(CONTINUED[name](*zs) if name in CONTINUED else op.compute(zs, {}))
                slope = rule(*xs, op(*xs)) if callable(rule) else rule
                assert math.isclose(z.imag / 1e-20, slope, rel_tol=1e-9, abs_tol=1e-12), name
                checked += 1
    assert checked > 500


@pytest.mark.parametrize(("text", "word"), [
    ("abs(x) + x", "`abs`"), ("max(x, x^2)", "`maximum`"), ("gamma(x)", "`gamma`"),
    ("relu(x)", "`relu`")])
def test_where_there_is_no_complex_step(text: str, word: str) -> None:
    _, answer = verified("-e", text, "--at", "x=1.5")
    (source,) = sources(answer)
    assert source["methods"]["complex"].startswith(word)
    assert source["elements"][0]["complex"] is None
    assert answer["verdict"] == "agree"


def test_linear_operations_take_the_parts_apart() -> None:
    assert TABLE["cumsum"].kind == LINEAR
    found = elements("-e", "cumsum(v)[2]*roll(v, 1)[0]", "--at", "v=[1, 2, 4]")
    # d/dv of (v0 + v1 + v2)*v2
    assert [e["complex"] for e in found] == pytest.approx([4.0, 4.0, 11.0], rel=1e-14)


def test_a_vector_is_checked_element_by_element() -> None:
    found = elements("-e", "[x*y, x + y^2]", "--at", "x=2,y=3", "--wrt", "x,y")
    assert [(e["of_index"], e["wrt_index"], e["reverse"]) for e in found] == [
        ([0], [], 3.0), ([1], [], 1.0), ([0], [], 2.0), ([1], [], 6.0)]


def test_large_ones_are_checked_in_random_directions() -> None:
    text = "var w = ones(20, 20)\ny = sum(sin(w*linspace(0, 1, 20)))\n"
    _, answer = verified("-", stdin=text)
    (source,) = sources(answer)
    assert source["directions"] is True
    assert len(source["elements"]) == 8
    assert answer["verdict"] == "agree"
    wrong = text.replace("sin(", "f(").replace("var", """@custom_gradient
def f(x):
    def grad(upstream):
        return upstream*where(x > 0.99, 0.9, 1)*cos(x)
    return sin(x)
var""")
    assert verified("-", stdin=wrong)[0] == 1


# --- what is not wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "at", "verdict"), [
    ("relu(x)", "0", "undecided"), ("abs(x)", "0", "agree"), ("sqrt(x)", "0", "undecided"),
    ("x*stop_gradient(x)", "3", "differ"), ("floor(x)", "1.5", "none"), ("x - x", "2", "agree"),
    ("(x - 2)^2", "2", "agree"), ("cos(x)", "0", "agree"), ("1e-200*x", "1", "agree"),
    ("1e200*x^2", "1", "agree"), ("float32(x)^2", "1.5", "agree"), ("sin(1000x)", "1", "agree")])
def test_verdict(text: str, at: str, verdict: str) -> None:
    assert verified("-e", text, "--at", f"x={at}")[1]["verdict"] == verdict


def test_a_convention_outside_of_both_slopes_is_wrong() -> None:
    program = """input x = 0.0
@custom_gradient
def f(x):
    def grad(upstream):
        return upstream*{slope}
    return relu(x)
y = f(x)
"""
    for slope, status in (("0", 0), ("0.5", 0), ("1", 0), ("3", 1), ("-1", 1)):
        assert verified("-", stdin=program.format(slope=slope))[0] == status


def test_what_hides_a_way_is_named() -> None:
    (source,) = sources(verified("-e", "x*stop_gradient(x)", "--at", "x=3")[1])
    (cause,) = source["causes"]
    assert (cause["code"], cause["line"], cause["column"]) == ("stop-gradient", 1, 3)


def test_differences_do_not_follow_assignments() -> None:
    text = "var w = 3.0\ntape t:\n    y = w^2\nw.assign(5)\ntape t:\n    z = w^3\n"
    _, answer = verified("-", "--of", "z", stdin=text)
    (source,) = sources(answer)
    assert "w is assigned" in source["methods"]["central"]
    assert source["elements"][0]["central"] is None


def test_a_computed_source_has_a_complex_step_only() -> None:
    _, answer = verified("-", "--wrt", "a", stdin="x = 3.0\na = x^2\ny = a^2\n")
    (source,) = sources(answer)
    assert source["elements"][0]["complex"] == 18.0
    assert "computed" in source["methods"]["central"]
    assert answer["verdict"] == "agree"


def test_worst_of_all() -> None:
    for verdicts, worst in ((["agree", "differ"], "differ"), (["agree", "undecided"], "undecided"),
                            (["none", "agree"], "agree"), (["none"], "none")):
        from gradcli.verifying import worst as of

        assert of(verdicts) == worst
    assert {compare.AGREE, compare.DIFFER, compare.UNDECIDED, compare.NONE} == {
        "agree", "differ", "undecided", "none"}


# --- --verify of grad and jac ---------------------------------------------------------------------


def test_a_derivative_of_0_is_no_false_alarm() -> None:
    """Differences of a function of value 0.24 find -8e-15 where the derivative is 0."""
    assert in_process(["grad", "samples/normal.txt", "--verify"])[0] == 0
    assert in_process(["jac", "-e", "[cos(x), 1 + (x - 1)^2]", "--at", "x=0", "--verify"])[0] == 0


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_the_option_of_grad_finds_most(path: Path) -> None:
    """It sees no more than the gradient that is asked for, with the weight 1."""
    hidden = path.stem in ("10-missing-upstream-last", "11-added-upstream")
    assert in_process(["grad", str(path), "--verify"])[0] == (0 if hidden else 1)


# --- how it is shown ------------------------------------------------------------------------------


def test_plain_lines_and_where_the_blame_goes() -> None:
    (path,) = [p for p in WRONG if "missing-term" in p.name]
    status, out, err = in_process(["verify", str(path)])
    assert status == 1
    name, *numbers, verdict = out.rstrip("\n").split("\t")
    assert (name, numbers[2], verdict) == ("dy/dx", "", "differ")
    assert float(numbers[0]) == float(numbers[1]) == pytest.approx(math.sin(1.3))
    assert float(numbers[3]) == pytest.approx(math.sin(1.3) + 1.3 * math.cos(1.3))
    assert err == ("the gradient of `f` is not that of its function, for argument 1"
                   " (line 6)\n")
    assert in_process(["verify", str(path), "-q"]) == (1, out, "")


def test_what_has_no_derivative_has_a_line() -> None:
    assert in_process(["verify", "-e", "floor(x)", "--at", "x=1.5"])[:2] == (
        0, "df/dx\t\t\t\t\t\t\tnone\n")
    status, answer = verified("-e", "complex(x, 1)", "--at", "x=1")
    assert (status, answer["verdict"]) == (0, "none")
    assert "complex numbers" in sources(answer)[0]["notes"][0]["message"]


def test_many_numbers_are_few_lines() -> None:
    asked = ["verify", "-e", "v^2", "--at", "v=[1,2,3,4,5]"]
    assert in_process(asked)[1].count("\n") == 12
    assert in_process([*asked, "-v"])[1].count("\n") == 25
    assert len(elements(*asked[1:])) == 25
