"""gradcli verify: finds wrong gradients, and nothing else; the four methods; what it cannot say.

data/wrong_gradients/ holds programs with a wrong gradient, each with the right one in a comment
behind it; data/wrong_second_order/ those whose first derivative is right and whose second is not;
data/difficult/ programs whose gradients are right and hard to check.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import references
from asked import valid
from draws import SEED
from folders import DATA, ROOT
from transcripts import SAMPLES, brief, header_commands, in_process

from gradcli.base.errors import Source
from gradcli.engine.finite import best
from gradcli.ops import PUBLIC, TABLE
from gradcli.ops.kinds import LINEAR
from gradcli.python.program import Program
from gradcli.questions import Question
from gradcli.questions.verify import compare
from gradcli.questions.verify.complex_step import complex_step, method_of
from gradcli.questions.verify.methods import CheckedFunction, Directions

WRONG = sorted((DATA / "wrong_gradients").glob("*.txt"))
RULE = re.compile(r"return (.*?)  # right: (.*)")


def verified(*arguments: str, stdin: str = "") -> tuple[int, Any]:
    """Status and answer, held to the schema."""
    status, out, err = in_process(["verify", *arguments, "--format", "json"], stdin.encode())
    assert status in (0, 1), err
    answer = json.loads(out)
    valid(answer, "verify")
    assert (status == 1) == (answer["verdict"] == "differ")
    return status, answer


def sources(answer: Any) -> list[Any]:
    return [s for result in answer["results"] for s in result["sources"]]


def elements(*arguments: str) -> list[Any]:
    return [e for s in sources(verified(*arguments)[1]) for e in s["elements"]]


# --- wrong gradients ------------------------------------------------------------------------------


def test_there_are_at_least_forty() -> None:
    assert len(WRONG) >= 100
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
    """Of a sample; what it learns is not waited for."""
    name, *rest = arguments
    return in_process(["verify", "-", *rest, "--format", "json"], brief(ROOT / name).encode()) \
        if "/training/" in name else in_process(["verify", *arguments, "--format", "json"])


@pytest.mark.parametrize("arguments", questions(), ids=" ".join)
def test_samples_pass(arguments: list[str]) -> None:
    """Or what they ask has no gradient at all, as `grad` says with the same error; or a gradient
    that is not that of the function, as the sample says itself.
    """
    status, out, err = outcome(*arguments)
    if arguments == ["samples/seeds/clip_gradient.txt"]:
        assert status == 1
        assert "the gradient of `clip_gradients` is not that of its function" in out + err
    elif status == 3:
        other, _, told = in_process(["grad", *arguments, "--format", "json"])
        assert (other, json.loads(told)["error"]) == (3, json.loads(err)["error"])
    else:
        assert status == 0


def test_most_samples_are_decided() -> None:
    verdicts = []
    for arguments in questions()[::4]:
        status, out, _ = outcome(*arguments)
        if status == 0:
            verdicts.append(json.loads(out)["verdict"])
    # Undecided are those without a number: NaN, infinite, or with a state that was assigned.
    assert verdicts.count("agree") > 0.6 * (len(verdicts) - verdicts.count("none")) > 9


# --- right ones that are hard to check ------------------------------------------------------------

DIFFICULT = sorted((DATA / "difficult").glob("*.txt"))
# Where the derivative is not a number, there is a kink, or the digits are lost: nobody can decide.
OPEN = {
    "relu-0": "kink", "max-tie": "kink", "sort-tie": "kink", "clip-edge": "kink",
    "cusp": "infinite", "sqrt-0": "infinite", "log-least": "infinite", "power-self-0": "infinite",
    "asin-1": "infinite", "acosh-1": "infinite", "root-of-square": "infinite",
    "overflow": "infinite", "pole": "infinite", "gamma-pole": "infinite",
    "digamma-root": "rounding", "floor": "", "floor-and-slope": "jump", "matrix": "rounding",
    "custom-log1p": "rounding", "custom-lost": "rounding", "custom-softplus": "outside"}


def test_there_are_at_least_sixty() -> None:
    assert len(DIFFICULT) >= 60
    assert {p.stem.partition("-")[2] for p in DIFFICULT} > set(OPEN)


@pytest.mark.parametrize("path", DIFFICULT, ids=lambda path: path.stem)
def test_what_is_right_but_difficult(path: Path) -> None:
    """No false alarm; what cannot be decided says why."""
    status, answer = verified(str(path))
    why = OPEN.get(path.stem.partition("-")[2])
    assert status == 0
    assert answer["verdict"] == ("agree" if why is None else "undecided" if why else "none")
    blocks = [b for result in answer["results"] for b in result["blocks"]]
    notes = {n["code"] for s in (*sources(answer), *blocks) for n in s["notes"]}
    assert not why or f"undecided-{why}" in notes
    if "thousand" not in path.stem and not why and status == 0 and "tie" not in path.stem:
        assert in_process(["grad", str(path), "--verify"])[0] == 0


def test_methods_that_contradict_each_other_decide_nothing() -> None:
    one = {"reverse": 1.0, "forward": 1.0, "complex": 2.0, "central": 1.0, "error": 1e-12}
    case = compare.Case(one, (1.0, 1.0), 0.0, 0.0, 1.0, lambda: 0.0, lambda: 0.0, custom=False,
                        edge=lambda: False)
    assert compare._verdict(case) == ("undecided", 0.5, "apart")


@pytest.mark.parametrize(("shaken", "verdict"), [
    (0.0, "agree"), (0.5, "agree"), (10.0, "undecided")])
def test_exact_methods_may_agree_on_rounding(shaken: float, verdict: str) -> None:
    one = {"reverse": 3.0, "forward": 3.0, "complex": 3.0, "central": 1.0, "error": 1e-12}
    case = compare.Case(one, (1.0, 1.0), 0.0, 0.0, 1.0, lambda: 0.0, lambda: shaken, custom=False,
                        edge=lambda: False)
    assert compare._verdict(case)[0] == verdict


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


def stepped(text: str, at: dict[str, Any], wrt: str) -> Any:
    """Value and complex-step derivative of a formula, and why there is none."""
    ask = Question(Program(Source(text, "-e")), at=at, wrt=[wrt])
    run = ask.run()
    with run.record:
        (target,) = ask.program.targets(run, [])
        (binding,) = ask.program.sources(run, [wrt])
        function = CheckedFunction(ask, run, target)
        shapes = [t.shape for t in function.tensors]
        return complex_step(run, function, binding, Directions(shapes, np.shape(at[wrt])))


def written_rows() -> list[str]:
    """Elementwise rows with a complex step that mpmath knows and that a formula can name."""
    return [name for name in TABLE if method_of(TABLE[name]) in ("analytic", "written", "inverse")
            and TABLE[name].elementwise and name in PUBLIC and name in references.FUNCTIONS]




def test_the_complex_step_knows_most_rows() -> None:
    without = [name for name in TABLE if TABLE[name].kind == "elementwise" and not method_of(
        TABLE[name])]
    assert without == ["gammainc_log", "gammaincl_log", "erfcx_derivative", "dawsn_derivative",
                       "besselie_derivative", "besselke_derivative"]
    assert len(written_rows()) > 100


@pytest.mark.parametrize("name", written_rows())
def test_the_complex_step_of_an_operation(name: str) -> None:
    """Against mpmath's derivative with 40 digits, in each argument, at points of the row's range.
    """
    op, stream, checked = TABLE[name], random.Random(f"complex {name}"), 0
    for _ in range(5):
        xs = [stream.uniform(*op.samples[min(k, len(op.samples) - 1)])
              for k in range(len(op.parameters))]
        whole = [op.role(k) == "index" and name != "betainc" for k in range(len(xs))]
        xs = [float(round(x)) if w else x for x, w in zip(xs, whole, strict=True)]
        call = ", ".join([str(int(x)) if w else f"a{k}" for k, (x, w) in enumerate(
            zip(xs, whole, strict=True))])
        at = {f"a{k}": x for k, (x, w) in enumerate(zip(xs, whole, strict=True)) if not w}
        for k in range(len(xs)):
            if not op.edge(k):
                continue
            with mp.workdps(references.DIGITS):
                def moved(t: mp.mpf, k: int = k, xs: list[float] = xs) -> mp.mpf:
                    return references.FUNCTIONS[name](*[
                        t if n == k else mp.mpf(x) for n, x in enumerate(xs)])

                want = float(mp.diff(moved, mp.mpf(xs[k])))
            found, refusal = stepped(f"{name}({call})", at, f"a{k}")
            assert not refusal
            assert math.isclose(found[0, 0], want, rel_tol=1e-10, abs_tol=1e-13), (name, xs, k)
            checked += 1
    assert checked


A = [[2.0, -0.5, 0.3], [0.4, 1.5, 0.2], [-0.3, 0.1, 1.8]]
B = [[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]


def entries_of(f: Callable[[mp.matrix], mp.matrix]) -> Callable[[mp.matrix], mp.mpf]:
    """A sum over a matrix that tells its elements apart."""
    def total(m: mp.matrix) -> mp.mpf:
        made = f(m)
        return mp.fsum(made[i, j] * (i + 2 * j + 1) for i in range(made.rows)
                       for j in range(made.cols))

    return total


def lower(m: mp.matrix) -> mp.matrix:
    """Of the symmetric part: the rule is that for symmetric matrices."""
    return mp.cholesky((m + m.T) / 2)


def triangle(m: mp.matrix) -> mp.matrix:
    """R of m = QR with the diagonal that the row has."""
    r = mp.cholesky(m.T * m).T
    return mp.matrix([[r[i, j] * (-1 if i < 2 else 1) for j in range(3)] for i in range(3)])


def of_vector(f: Callable[[list[mp.mpf]], mp.mpf]) -> Callable[[mp.matrix], mp.mpf]:
    return lambda m: f([m[i, j] for i in range(3) for j in range(3)])


def running_logs(x: list[mp.mpf]) -> mp.mpf:
    return mp.fsum((k + 1) * mp.log(mp.fsum(map(mp.exp, x[:k + 1]))) for k in range(9))


WEIGHED = "*[[1, 3, 5], [2, 4, 6], [3, 5, 7]])"
LINE = "*[1, 2, 3, 4, 5, 6, 7, 8, 9])"


@pytest.mark.parametrize(("text", "at", "reference"), [
    (f"sum(inv(m){WEIGHED}", A, entries_of(lambda m: m**-1)), ("det(m)", A, mp.det),
    (f"sum(expm(m){WEIGHED}", A, entries_of(lambda m: mp.expm(m))),
    (f"sum(logm(m){WEIGHED}", A, entries_of(lambda m: mp.logm(m))),
    (f"sum(sqrtm(m){WEIGHED}", A, entries_of(lambda m: mp.sqrtm(m))),
    (f"sum(cholesky(m){WEIGHED}", B, entries_of(lower)),
    (f"sum(pinv(m){WEIGHED}", A, entries_of(lambda m: m**-1)),
    (f"sum(qr(m)[1]{WEIGHED}", A, entries_of(triangle)),
    ("logdet(m)", B, lambda m: mp.log(mp.det((m + m.T) / 2))),
    ("slogdet(m)[1]", [[0.0, 1.0, 0.0], *A[1:]], lambda m: mp.log(abs(mp.det(m)))),
    ("norm(m)", A, of_vector(mp.norm)), ("max(m)", A, of_vector(max)),
    ("min(m)", A, of_vector(min)), (f"sum(sort(flatten(m)){LINE}", A, of_vector(
        lambda x: mp.fsum((k + 1) * v for k, v in enumerate(sorted(x))))),
    (f"sum(cumprod(flatten(m)){LINE}", A, of_vector(
        lambda x: mp.fsum((k + 1) * mp.fprod(x[:k + 1]) for k in range(9)))),
    (f"sum(cumulative_logsumexp(flatten(m)){LINE}", A, of_vector(running_logs)),
    (f"sum(cummax(flatten(m)){LINE}", A, of_vector(
        lambda x: mp.fsum((k + 1) * max(x[:k + 1]) for k in range(9)))),
    ("sum(segment_max(flatten(m), [0, 0, 0, 1, 1, 1, 2, 2, 2])*[1, 2, 3])", A, of_vector(
        lambda x: mp.fsum((k + 1) * max(x[3 * k:3 * k + 3]) for k in range(3))))])
def test_the_complex_step_of_arrays(text: str, at: list[list[float]],
                                    reference: Callable[[mp.matrix], mp.mpf]) -> None:
    found, refusal = stepped(text, {"m": np.array(at)}, "m")
    assert not refusal
    with mp.workdps(30):
        for k in range(9):
            def moved(t: mp.mpf, k: int = k) -> mp.mpf:
                m = mp.matrix(at)
                m[k // 3, k % 3] += t
                return mp.re(reference(m))

            want = float(mp.diff(moved, 0))
            assert math.isclose(found[0, k], want, rel_tol=1e-9, abs_tol=1e-11), (text, k)


@pytest.mark.parametrize(("text", "word"), [
    ("relu(x - 1.5) + x", "`relu` has a kink there"), ("max(x, 1.5)", "`maximum` has a kink there"),
    ("x*eigvalsh([[x, 1], [1, 3]])[0]", "`eigh_packed` takes no complex numbers"),
    ("svdvals([[x, 1], [1, 3]])[0]", "`svd_packed` takes no complex numbers")])
def test_where_there_is_no_complex_step(text: str, word: str) -> None:
    _, answer = verified("-e", text, "--at", "x=1.5")
    (source,) = sources(answer)
    assert source["methods"]["complex"] == word
    assert source["elements"][0]["complex"] is None
    assert answer["verdict"] == ("undecided" if "kink" in word else "agree")


def test_the_complex_step_goes_through_what_has_a_gradient_of_its_own() -> None:
    (path,) = [p for p in WRONG if "relative-millionth." in p.name]
    (one,) = elements(str(path))
    assert math.isclose(one["complex"], math.cos(1.3), rel_tol=1e-14)
    assert one["difference"] == pytest.approx(1e-6, rel=1e-3)


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


@pytest.mark.parametrize("command", ["grad", "jac", "hess"])
def test_each_of_several_sources_of_a_tape_is_held_against_differences(command: str) -> None:
    """What the tape watched is known of the run at hand, not of those where a source is moved."""
    status, out, err = in_process(
        [command, "samples/seeds/dense_layer.txt", "--verify", "--format", "json"])
    assert status == 0, err
    (result,) = json.loads(out)["results"]
    parts = result["blocks" if command == "hess" else "sources"]
    assert len(parts) == (4 if command == "hess" else 2)
    for part in parts:
        assert part["verify"]["agrees"]
        assert part["verify"]["difference"] < 1e-6


def test_a_watched_constant_has_no_differences() -> None:
    status, out, _ = in_process(["grad", "samples/seeds/watch_constant.txt", "--verify"])
    assert (status, out) == (0, "dy/dx\t6\n")


def test_second_derivatives_of_a_tape_have_a_complex_step() -> None:
    """What the tape watched is not asked of the run that keeps everything."""
    _, answer = verified("samples/seeds/persistent.txt")
    (block,) = answer["results"][0]["blocks"]
    assert block["methods"]["complex"] is None
    assert block["elements"][0]["complex"] == pytest.approx(108.0, rel=1e-12)


def test_a_computed_source_has_a_complex_step_only() -> None:
    _, answer = verified("-", "--wrt", "a", stdin="x = 3.0\na = x^2\ny = a^2\n")
    (source,) = sources(answer)
    assert source["elements"][0]["complex"] == 18.0
    assert "computed" in source["methods"]["central"]
    assert answer["verdict"] == "agree"


def test_worst_of_all() -> None:
    for verdicts, worst in ((["agree", "differ"], "differ"), (["agree", "undecided"], "undecided"),
                            (["none", "agree"], "agree"), (["none"], "none")):
        from gradcli.questions.verify.verify import worst as of

        assert of(verdicts) == worst
    assert {compare.AGREE, compare.DIFFER, compare.UNDECIDED, compare.NONE} == {
        "agree", "differ", "undecided", "none"}


# --- --verify of grad and jac ---------------------------------------------------------------------


def test_a_derivative_of_0_is_no_false_alarm() -> None:
    """Differences of a function of value 0.24 find -8e-15 where the derivative is 0."""
    assert in_process(["grad", "samples/normal.txt", "--verify"])[0] == 0
    assert in_process(["jac", "-e", "[cos(x), 1 + (x - 1)^2]", "--at", "x=0", "--verify"])[0] == 0


@pytest.mark.parametrize("path", [p for p in WRONG if "long" not in p.name],
                         ids=lambda path: path.stem)
def test_the_option_of_grad_finds_all(path: Path) -> None:
    """With a note on the line to blame."""
    status, out, _ = in_process(["grad", str(path), "--verify", "--format", "json"])
    assert status == 1
    answer = json.loads(out)
    valid(answer, "grad")
    parts = sources(answer)
    assert any(s["verify"]["agrees"] is False for s in parts if "verify" in s)
    assert {n["code"] for s in parts for n in s["notes"]} & {"custom-gradient", "upstream"}
    if SEED is not None or WRONG.index(path) % 3 == 0:   # `verify` asks all, above
        right = RULE.sub(r"return \2", path.read_text())
        assert in_process(["grad", "-", "--verify"], right.encode())[0] == 0


def test_the_line_to_blame_goes_where_messages_go() -> None:
    asked = ["grad", "samples/calculus/wrong.txt", "--verify"]
    status, out, err = in_process(asked)
    assert (status, out.count("\n"), out.count("\t")) == (1, 1, 2)
    assert err == ("note: dy/dx: the gradient of `damped` is not that of its function, for"
                   " argument 1 (line 7)\n")
    assert in_process([*asked, "-q"]) == (1, out, "")


def test_the_complex_step_stands_in_where_differences_are_no_good() -> None:
    status, out, _ = in_process(["grad", "-e", "sin(x)", "--at", "x=1e15", "--verify",
                                 "--format", "json"])
    check = sources(json.loads(out))[0]["verify"]
    assert (status, check["method"], check["agrees"]) == (0, "complex step", True)
    with mp.workdps(30):
        assert math.isclose(check["gradient"], mp.cos(10**15), rel_tol=1e-10)
    status, out, _ = in_process(["jac", "-e", "[sin(x), x]", "--at", "x=1e15", "--verify",
                                 "--format", "json"])
    check = sources(json.loads(out))[0]["verify"]
    assert (status, check["method"], np.shape(check["jacobian"])) == (0, "complex step", (2,))


# --- --verify of hess -----------------------------------------------------------------------------

SECOND = sorted((DATA / "wrong_second_order").glob("*.txt"))


def test_there_are_ten_of_them() -> None:
    assert len(SECOND) >= 10
    assert all(len(RULE.findall(path.read_text())) == 1 for path in SECOND)


@pytest.mark.parametrize("path", SECOND, ids=lambda path: path.stem)
def test_a_wrong_second_order_is_found(path: Path) -> None:
    """And what makes it: a stop, or a gradient of the slope that is wrong."""
    status, out, _ = in_process(["hess", str(path), "--verify", "--format", "json"])
    assert status == 1
    answer = json.loads(out)
    valid(answer, "hess")
    blocks = answer["results"][0]["blocks"]
    lines = path.read_text().splitlines()
    rule = next(k for k, line in enumerate(lines, 1) if "# right:" in line)
    blamed = {n["line"] for b in blocks for n in b["notes"] if b["verify"]["agrees"] is False
              and n["code"] in ("custom-gradient", "stop-gradient")}
    assert rule in blamed or (rule - 2 in blamed and "stop_gradient" in lines[rule - 3])
    right = RULE.sub(r"return \2", path.read_text())
    assert in_process(["hess", "-", "--verify"], right.encode())[0] == 0
    assert in_process(["verify", "-"], right.encode())[0] == 0


@pytest.mark.parametrize("path", SECOND, ids=lambda path: path.stem)
def test_verify_looks_at_second_derivatives(path: Path) -> None:
    """Of a number by few numbers."""
    status, answer = verified(str(path))
    (result,) = answer["results"]
    if any(source["shape"] for source in result["sources"]):
        assert result["blocks"] == []
        return
    assert status == 1
    assert "differ" in [part["verdict"] for part in (*result["blocks"], *result["sources"])]


def test_second_derivatives_are_left_out_where_they_are_conventions_or_dear() -> None:
    for text, at in (("abs(x)*relu(y)", "x=0,y=0"), ("sum(v^2)", "v=[1,2]"), ("[x^2, x]", "x=1"),
                     ("a*b*c*d", "a=1,b=2,c=3,d=4")):
        status, answer = verified("-e", text, "--at", at)
        assert (status, answer["results"][0]["blocks"]) == (0, [])
    _, answer = verified("-e", "abs(x)*y^3", "--at", "x=0,y=2")
    assert [(b["row"], b["col"]) for b in answer["results"][0]["blocks"]] == [("y", "y")]


@pytest.mark.parametrize(("text", "x"), [
    ("ln(1+exp(x))", 400), ("ln(x^60)", 1000), ("cosh(x)^(-2)", 250), ("x^2/exp(x^2)", 19.8277),
    ("ln(1+exp(x))", 300), ("1/(x^60)", 250)])
def test_no_excuse_where_floats_overflow(text: str, x: float) -> None:
    """What verify says of a derivative is what 50 digits say of it, not that it is rounding."""
    _, answer = verified("-e", text, "--at", f"x={x}")
    (result,) = answer["results"]
    meaning = {"ln": mp.log, "exp": mp.exp, "cosh": mp.cosh}
    for order, part in enumerate((*result["sources"], *result["blocks"]), 1):
        with mp.workdps(50):
            below, right = (mp.diff(
                lambda x: eval(text.replace("^", "**"), {"x": x, **meaning}), mp.mpf(x), k)
                for k in (order - 1, order))
        near = abs(part["elements"][0]["reverse"] - right) <= 1e-8 * abs(right) + 1e-14 * abs(below)
        assert part["verdict"] == ("agree" if near else "differ")


@pytest.mark.parametrize(("text", "x"), [
    ("asin(tan(x))", 1e-20), ("sinh(x)*(x/x)", 1e-20), ("(1 - cos(x))/x^2", 1e-4),
    ("(exp(x) - 1 - x)/x", 1e-6), ("x - sin(x)", 1e-9)])
def test_rounding_on_the_way_is_no_difference(text: str, x: float) -> None:
    _, answer = verified("-e", text, "--at", f"x={x}")
    assert answer["verdict"] != "differ"


def test_a_hessian_is_no_better_than_its_gradient() -> None:
    (path,) = [p for p in WRONG if "05-sign" in p.name]
    assert in_process(["hess", str(path), "--verify"])[0] == 1


@pytest.mark.parametrize(("text", "at"), [
    ("x^3*y^2", "x=2,y=3"), ("exp(x*sin(y))", "x=0.5,y=0.7"), ("sum(sin(v)*x)", "v=[1,2,3],x=2"),
    ("gamma(x)*besselj(0, y)", "x=2.5,y=1.5"), ("relu(x)^2 + abs(y)", "x=1,y=-2"),
    ("logsumexp(v)", "v=[1,2,3]"), ("2*x + y", "x=1,y=2")])
def test_right_hessians_pass(text: str, at: str) -> None:
    status, out, _ = in_process(["hess", "-e", text, "--at", at, "--verify", "--format", "json"])
    answer = json.loads(out)
    valid(answer, "hess")
    blocks = answer["results"][0]["blocks"]
    assert status == 0
    assert all(b["verify"]["agrees"] and b["verify"]["difference"] < 1e-5 for b in blocks)


def test_each_format_has_the_check_of_a_hessian() -> None:
    asked = ["hess", "-e", "x^3", "--at", "x=2", "--verify", "--format"]
    plain = in_process([*asked, "plain"])[1].rstrip("\n").split("\t")
    assert plain[:2] == ["d2f/dxdx", "12"]
    assert float(plain[2]) == pytest.approx(12.0, rel=1e-9)
    head, row = in_process([*asked, "csv"])[1].splitlines()
    assert head == "of,row,col,hessian,reason,check"
    assert float(row.split(",")[-1]) == pytest.approx(12.0, rel=1e-9)
    assert "relative difference of d2f/dxdx" in in_process([*asked, "table"])[1]


# --- how it is shown ------------------------------------------------------------------------------


def lines_of(out: str) -> dict[str, str]:
    """The value of each plain line by its name."""
    return dict(line.split("\t") for line in out.splitlines())


def test_plain_lines_and_where_the_blame_goes() -> None:
    (path,) = [p for p in WRONG if "missing-term" in p.name]
    status, out, err = in_process(["verify", str(path)])
    assert status == 1
    said = lines_of(out)
    right = pytest.approx(math.sin(1.3) + 1.3 * math.cos(1.3))
    assert (said["verdict(y)"], said["verdict(dy/dx)"]) == ("differ", "differ")
    assert float(said["dy/dx"]) == float(said["forward(dy/dx)"]) == pytest.approx(math.sin(1.3))
    assert float(said["complex(dy/dx)"]) == right
    assert float(said["central(dy/dx)"]) == right
    assert err == ("the gradient of `f` is not that of its function, for argument 1"
                   " (line 6)\n")
    assert in_process(["verify", str(path), "-q"]) == (1, out, "")


def test_what_has_no_derivative_has_a_line() -> None:
    status, out, _ = in_process(["verify", "-e", "floor(x)", "--at", "x=1.5"])
    said = lines_of(out)
    assert (status, said["df/dx"], said["verdict(df/dx)"]) == (0, "None", "none")
    status, answer = verified("-e", "complex(x, 1)", "--at", "x=1")
    assert (status, answer["verdict"]) == (0, "none")
    assert "complex numbers" in sources(answer)[0]["notes"][0]["message"]


def test_many_numbers_are_few_lines_at_a_terminal() -> None:
    asked = ["verify", "-e", "v^2", "--at", "v=[1,2,3,4,5]", "--format", "table"]
    assert in_process(asked)[1].count("df[") == 12
    assert in_process([*asked, "-v"])[1].count("df[") == 25
    assert len(elements(*asked[1:-2])) == 25


def test_a_gradient_that_is_none_although_there_is_one_is_told(tmp_path: Path) -> None:
    path = tmp_path / "none.txt"
    path.write_text("var x = 1.3\nvar z = 2.0\n@custom_gradient\ndef f(a, b):\n    def grad(up):\n"
                    "        return up*b, none\n    return a*b\nf(x, z)\n")
    status, out, _ = in_process(["verify", str(path), "--format", "json"])
    first, second = json.loads(out)["results"][0]["sources"]
    assert (status, first["verdict"], second["verdict"]) == (0, "agree", "undecided")
    assert second["notes"][0]["message"].endswith("by differences the derivative is 1.3")
    path.write_text(path.read_text().replace("return a*b", "return a*stop_gradient(floor(b))"))
    status, out, _ = in_process(["verify", str(path), "--format", "json"])
    assert json.loads(out)["results"][0]["sources"][1]["verdict"] == "none"


@pytest.mark.parametrize("formula", ["0*relu(x) + x^2", "relu(x)^5 + x", "abs(x)^5", "relu(x)^3"])
def test_a_kink_that_decides_nothing_is_not_told(formula: str) -> None:
    """At 0 each is smooth to second order."""
    status, answer = verified("-e", formula, "--at", "x=0")
    assert status == 0
    told = [n["code"] for one in (answer, *answer["results"], *sources(answer))
            for n in one.get("notes") or ()]
    assert "kink" not in told


# (formula, the same in mpmath, points)
FINITE: list[tuple[str, Any, list[str]]] = [
    ("1/x", lambda x: 1/x, ["1e-100", "1e-23", "1e-5", "0.001", "0.01", "3", "-1e-7", "1e20"]),
    ("log(x)", mp.log, ["1e-300", "1e-30", "1e-4", "0.001", "0.5", "1e10"]),
    ("sqrt(x)", mp.sqrt, ["1e-200", "1e-12", "0.1", "1e12"]),
    ("sqrt(1-x)", lambda x: mp.sqrt(1 - x), ["0.9", "0.999", "0.999999", "0.999999999"]),
    ("1e-21/(x*300)", lambda x: mp.mpf(1e-21)/(x*300), ["1.38e-23"]),
    ("sin(1e6*x)", lambda x: mp.sin(10**6*x), ["1", "0.3", "1e-9", "1e-3"]),
    ("sin(1e13*x)", lambda x: mp.sin(10**13*x), ["1", "0.3"]),
    ("tanh(1e7*x)", lambda x: mp.tanh(10**7*x), ["1e-8", "1e-7", "1e-6"]),
    ("tanh(1e300*x)", lambda x: mp.tanh(mp.mpf(10)**300*x), ["5e-324", "-1e-310", "1e-295"]),
    ("sin(x)", mp.sin, ["1e6", "1e12", "1e15"]),
    ("exp(x)", mp.exp, ["700", "-700", "1e-20", "5e-324"]),
    ("1+x^2", lambda x: 1 + x*x, ["1e-9", "1e-3", "1e9", "-1e-310"]),
    ("cos(x)", mp.cos, ["0", "3.141592653589793"]),
]


@pytest.mark.parametrize(("text", "f", "points"), FINITE, ids=[text for text, *_ in FINITE])
def test_differences_are_right_or_told_to_be_rough(text: str, f: Any, points: list[str]) -> None:
    for at in points:
        for command, of, field in (
                ("grad", text, "gradient"), ("jac", f"[{text}, 2*x]", "jacobian"),
                ("hess", text, "hessian")):
            status, out, _ = in_process([command, "-e", of, "--at", f"x={at}", "--mode", "finite",
                                         "--format", "json", "--strict"])
            (result,) = json.loads(out)["results"]
            (part,) = result.get("sources") or result["blocks"]
            codes = [n["code"] for n in part["notes"]]
            if "differences-rough" in codes:
                assert (status, codes) == (1, ["differences-rough"])
                continue
            with mp.workdps(400):
                x = mp.mpf(float(at))
                right = float(mp.diff(f, x, 2 if command == "hess" else 1,
                                      h=abs(x or 1)*mp.mpf(10)**-60))
            found = float(np.ravel(np.array(part[field], float))[0])
            size = float(abs(f(mp.mpf(float(at)))))/max(1.0, abs(float(at)))
            assert abs(found - right) <= 1e-3*abs(right) + 1e-9*size, (command, text, at)


def test_what_is_nan_asks_for_no_shorter_steps() -> None:
    """Nor does it take them from its neighbours that need some."""
    for beside in (math.sin, lambda x: math.sin(1e4*x), lambda x: math.nan):
        alone: list[float] = []
        together: list[float] = []

        def f(x: float, beside: Any = beside, alone: list[float] = alone) -> Any:
            alone.append(x)
            return np.array([beside(x)])

        def g(x: float, beside: Any = beside, together: list[float] = together) -> Any:
            together.append(x)
            return np.array([beside(x), math.nan])

        value = best(f, 0.5, 0.5).value
        assert str(best(g, 0.5, 0.5).value) == str(np.array([*value, math.nan]))
        assert together == alone
    assert len(alone) < 20


def test_rough_differences_at_points_are_counted() -> None:
    status, out, err = in_process(["grad", "-e", "sin(x)", "--points", "x=linspace(1,1e15,2)",
                                   "--mode", "finite", "--strict"])
    assert status == 1
    assert out.splitlines()[1].startswith("1,0.84147")
    assert err.startswith("gradcli: 1 row may be wrong")
    assert "first row 1 " in err


@pytest.mark.parametrize(("formula", "at", "why"), [
    ("x if x > 0 else -x", 0.0, "kink"), ("where(x < 1, x^2, 3*x - 2)", 1.0, "kink"),
    ("where(x >= 1, x^2, 3*x)", 1.0, "jump"), ("2*x if x <= 3 else x^2", 3.0, "jump"),
    *[(f"{name}(x)*2 + x", at, "jump") for name, at in (
        ("floor", 2.0), ("ceil", -3.0), ("round", 2.5), ("trunc", 4.0))],
    ("x//2 + x^2", 6.0, "jump"), ("mod(x, 3) + x", 3.0, "jump")])
def test_what_holds_of_one_side_alone_is_not_agreed_on(formula: str, at: float, why: str) -> None:
    status, answer = verified("-e", formula, "--at", f"x={at}")
    (source,) = sources(answer)
    assert (status, source["verdict"]) == (0, "undecided"), source
    assert f"undecided-{why}" in [n["code"] for n in source["notes"]]
    for beside in (at - 1e-3, at + 1e-3):
        assert verified("-e", formula, "--at", f"x={beside}")[1]["verdict"] == "agree"


@pytest.mark.parametrize(("formula", "at"), [
    ("acos(1-x^2)", "1e-5"), ("acos(1-x^2)", "1e-6"), ("asin(1-x^2)", "1e-5"),
    ("acosh(1+x^2)", "1e-5")])
def test_methods_that_share_a_rounding_do_not_agree_on_it(formula: str, at: str) -> None:
    _, answer = verified("-e", formula, "--at", f"x={at}")
    (block,) = answer["results"][0]["blocks"] or [answer]
    assert block["verdict"] == "undecided"


@pytest.mark.parametrize(("formula", "why"), [
    ("sqrt(x)*sqrt(x)", "absorbed"), ("abs(x)*sqrt(x)", "absorbed"), ("0*sqrt(x)", "absorbed"),
    ("where(x > 0, log(x), 0)", "absorbed"), ("x*log(x)", "infinite"), ("sqrt(x)", "infinite")])
def test_a_zero_that_absorbed_is_not_called_infinite(formula: str, why: str) -> None:
    _, answer = verified("-e", formula, "--at", "x=0")
    (source,) = sources(answer)
    assert f"undecided-{why}" in [n["code"] for n in source["notes"]]


# Branches that are 0 at u = 0, with their slopes there.
ARMS = [("u^2", 0), ("-u^2", 0), ("3*u*abs(u)", 0), ("-2*sin(u)^2", 0), ("0*u", 0),
        ("u + u^2", 1), ("sin(u)", 1), ("exp(u) - 1", 1), ("-2*u", -2)]


@pytest.mark.parametrize("form", ["where(u > 0, {}, {})*1e-30", "where(0 >= u, {}, {}) + x"])
def test_branches_that_meet_smoothly_agree(form: str) -> None:
    """Though differences of the value have nothing but bends around them; with a kink none do."""
    for k, ((one, left), (other, right)) in enumerate(product(ARMS, repeat=2)):
        at = (0.0, 1.5)[k % 2]      # there are nine arms: each meets others in both places
        text = form.format(one, other).replace("u", f"(x - {at!r})" if at else "x")
        _, answer = verified("-e", text, "--at", f"x={at!r}")
        assert (sources(answer)[0]["verdict"] == "agree") == (left == right), text
