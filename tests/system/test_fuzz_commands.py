"""A share of the inputs of `fuzz_commands.py`, and what longer runs of it have found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fuzz_commands import (
    SCHEDULERS,
    TIMES,
    Case,
    Inputs,
    case,
    complaint,
    shortened,
    signature,
)

from gradcli.cli.options import commands, find

COMMANDS = [row.name for row in commands()]

COUNT, SHARES = 1200, 4
CALCULUS = ("taylor", "tangent", "laplacian", "divergence", "newton", "newton --minimum",
            "propagate --sigma x=0.1", "directional --direction 1", "implicit --dependent x")
EVERY = ("grad", "jac", "hess", "eval", "why", "steps", "graph", "verify", "grad --verify",
         "jac --verify", "hess --verify", "grad --mode finite", "derive", *CALCULUS)


@pytest.mark.parametrize("share", range(SHARES))
def test_a_share(share: int, tmp_path: Path) -> None:
    """`python tests/tools/fuzz_commands.py --only NUMBER` shows one again."""
    wrong = []
    for number in range(share, COUNT, SHARES):
        found = complaint(case("suite", number), tmp_path)
        if found is not None:
            wrong.append(f"--seed suite --only {number}\n{case('suite', number)}\n{found}")
    assert not wrong, f"{len(wrong)} inputs, such as\n" + min(wrong, key=len)


def ask(command: str, text: str, at: str = "", *more: str) -> Case:
    point = ("--at", at) if at else ()
    return Case([*command.split(), "-e", text, *point, *more], b"", {})


@pytest.mark.parametrize("command", EVERY)
@pytest.mark.parametrize("value", [
    "[]", "[[]]", "zeros(0, 3)", "zeros(2, 0, 2)", '"a"', "1e200", "5e-324", "float32(1e38)",
    "nan", "-inf", "true", "int(2)", "none"])
def test_values_from_the_edge(command: str, value: str, tmp_path: Path) -> None:
    """Empty, huge, tiny, of other types: through every command, alone and beside a number."""
    for text, at in (("sum(x)", "x={}"), ("x^2", "x={}"), ("x/y", "x={},y=2"),
                     ("prod(x)*y", "x={},y=2")):
        one = ask(command, text, at.format(value), *(
            ("--format", "json") if "y" in text else ()))
        assert complaint(one, tmp_path) is None, one


@pytest.mark.parametrize("one", [
    ask("hess", "full_like(int([1, 2]), y)", "y=float32(1e38)"),
    ask("grad", "prod(x)", "x=2", "--output-gradient", "true", "--format", "json"),
    ask("eval", "(x^3-z)/sqrt(z-t)", "x=1e400,z=5e-324,t=1e-320"),
    ask("grad", "sqrt(x)*sqrt(x)*n", "x=0,n=1.7e308"),
    ask("eval", "linspace([],2,3)"), ask("eval", "var a: float32 = 1e300\na"),
    ask("eval", "ones(2,3,4) @ ones(3,4,5)"), ask("eval", "matvec(x, x)", "x=ones(2,3,4)"),
    ask("eval", "complex([1,2,3], [1,2])"), ask("grad", "broadcast_to(x, shape=-1)", "x=true"),
    ask("eval", "tile(x, multiples=ones(1000))", "x=1"), ask("derive", "nonzero(x)"),
    ask("eval", "categorical_crossentropy(x, x, label_smoothing=[[]])", "x=[1,2]"),
    ask("derive", "isclose(y, x)", "x=1,y=2", "--of", "x+y", "--format", "python"),
    ask("derive", "[x, y]", 'x=0,y=""'), ask("derive", "var x: bool = 1", "", "--wrt", "x,x"),
    ask("jac", "cos(complex(1,2))*x", "x=1", "--verify"),
    ask("eval", "gammaincl_log(2, 5e-324, 1)"), ask("eval", "jvp(y, [], none)", "y=1"),
    ask("verify", "besselie(x, y)", "x=1e200,y=2"), ask("verify", "besselj(n, x)", "n=1e6,x=2"),
    ask("why", "input x: int32 = complex(1, 2)\nsmoothstep(x, x, x)", "x=2"),
    ask("jac", "complex(y, x)", "x=[[1, 2], [3, 4]],y=0"), ask("verify", "digamma(x)", "x=inf"),
    ask("jac", "[x*y, x + y]", "x=[],y=pi", "--of", "x", "--sparse", "--unconnected=zero"),
    ask("grad", "input x: float32 = 1\nx^2", "", "--output-gradient", "-1e200"),
    ask("grad", "x^y", "x=ones(70),y=-inf", "--verify"),
    ask("graph", "sum(besselj(zeros(0, 3), y))", "y=2"),
    ask("grad", "x", "", "--points", "x=[1,2],y=[3]", "-o", "o.parquet"),
    ask("taylor", 'tape t:\n    z = y^2\nt.gradient(z, x, unconnected_gradients="zero")',
        'x="a",y=1'),
    *[ask("verify", f"sum({f}(x))", f"x={x}") for f in ("bessel_j0", "bessel_i0e", "bessel_y1")
      for x in ("-inf", "1e308", "1e12")],
    ask("jac", "losses = []\ntape t:\n    loss = w^2\ng = t.gradient(losses, w)", "w=1", "--mode",
        "finite"),
    *[ask(command, "x^y", f"x=0,y={y}") for command in ("eval", "steps", "taylor")
      for y in ("-92233", "int(-9223372036854775807)", "-1e300", "1e300")],
    ask("derive", "var x: bool = [0]\ny^2", "", "--wrt", "x"),
    *[ask("grad", text, "x=[1,2]", "--mode", mode, "--output-gradient", "ones(3)")
      for text in ("x^2", "sum(x^2)") for mode in ("reverse", "forward", "finite")],
    ask("tangent", "z", 'z="a",x=1'), ask("eval", "adjust_contrast(zeros(2, 0, 2), x)", "x=2"),
    ask("grad", "(eye(3)/M - M)^(-1)", "M=eye(3)"),
    ask("newton", "zeta(x, [0])*x", "x=1e400"), ask("grad", "x", "x=1", "--of", "\n"),
    *[ask("grad", "x^2", "x=1", "--timeout", seconds) for seconds in TIMES],
    *[ask("grad", "x^2", "", "--points", "x=[1,2]", "--scheduler", address)
      for address in SCHEDULERS]], ids=str)
def test_what_was_found(one: Case, tmp_path: Path) -> None:
    assert complaint(one, tmp_path) is None


def test_the_inputs_reach_all_that_there_is() -> None:
    """All commands and their options."""
    words = set()
    seen = set()
    for number in range(20_000):
        argv = Inputs(f"reach {number}").case().argv
        words.update(word.partition("=")[0] for word in argv)
        seen.add(" ".join(argv[:2]) if argv[:1] == ["hw"] else argv[0] if argv else "")
    assert set(COMMANDS) <= seen
    flags = {flag for name in COMMANDS for o in find(name).options for flag in o.flags}
    assert flags <= words


def test_the_driver_sees_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thing that it looks for, put in by hand; and the shortened input fails likewise."""
    import fuzz_commands

    right = ask("grad", "x^2", "x=1", "--format", "json", "-q", "--max-steps", "1000")
    assert complaint(right, tmp_path) is None
    for out, err, status, word in (
            ("", "", 70, "status 70"), ("{}", "", 0, "required"), ("NaN", "", 0, "not JSON"),
            ("", "", 0, "Expecting value"), ("", "Traceback (most", 0, "Traceback"),
            ("", "x.py:1: RuntimeWarning: overflow", 0, "Warning"), ("\x1b]0;x", "", 0, "print"),
            ("", "", 3, "IndexError"), ("{}", "{}", 3, "an error and an answer")):
        def wrong(argv: object, environment: object, *, out: str = out, err: str = err,
                  status: int = status) -> int:
            environment.stdout.write(out)       # type: ignore[attr-defined]
            environment.stderr.write(err)       # type: ignore[attr-defined]
            return status

        monkeypatch.setattr(fuzz_commands, "run", wrong)
        found = complaint(right, tmp_path)
        assert found is not None
        assert word in found
        short = shortened(right, tmp_path)
        again = complaint(short, tmp_path)
        assert again is not None
        assert signature(again) == signature(found)
        assert len(short.argv) < len(right.argv)
    assert os.listdir(tmp_path) == []
