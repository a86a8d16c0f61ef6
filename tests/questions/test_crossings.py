"""Pairs of conditions that are seldom met together: options and questions, properties and shapes.

Each test crosses two tables that are long in one direction elsewhere; what is right is computed
here, without the code that is tested.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from draws import drawn
from folders import ROOT
from homework_made import TWO_PROBLEMS
from test_ops_layers import average, conv, largest
from transcripts import in_process

import gradcli
from gradcli.homework.check import check, prepare
from gradcli.homework.checking.fields import from_fields

# --- choices nested under one condition ---

CONDITIONS = {"x > 0": lambda x: x > 0, "x > 1": lambda x: x > 1, "x < -1": lambda x: x < -1,
              "x <= 2": lambda x: x <= 2}
# Value, first and second derivative, as exact numbers.
Jet = tuple[Fraction, Fraction, Fraction]
LEAVES = {"x": (1, 1), "x^2": (1, 2), "x^3": (1, 3), "2*x^4": (2, 4), "3": (3, 0), "0": (0, 0)}
AT = [Fraction(n, 4) for n in (-9, -3, 1, 3, 5, 11)]


def term(c: int, n: int, x: Fraction) -> Jet:
    return (c * x**n, c * n * x**(n - 1) if n else Fraction(0),
            c * n * (n - 1) * x**(n - 2) if n > 1 else Fraction(0))


def tree(draw: random.Random, depth: int, one: str | None) -> tuple[str, Any]:
    """(text, function of x to a jet). one: the only condition, or None for any of them."""
    form = draw.randrange(5) if depth else 4
    if form == 4:
        text, (c, n) = draw.choice(list(LEAVES.items()))
        return text, lambda x: term(c, n, x)
    (a, first), (b, second) = (tree(draw, depth - 1, one) for _ in range(2))
    if form <= 2:
        name = one or draw.choice(list(CONDITIONS))
        holds = CONDITIONS[name]
        return f"where({name}, {a}, {b})", lambda x: first(x) if holds(x) else second(x)

    def product(x: Fraction) -> Jet:
        (u, du, ddu), (v, dv, ddv) = first(x), second(x)
        return u * v, u * dv + du * v, u * ddv + 2 * du * dv + ddu * v

    return f"({a})*({b})", product


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("one", [*CONDITIONS, None])
def test_choices_under_one_condition(one: str | None, order: int) -> None:
    """The formula says what the number is, and both what it is in truth."""
    draw = drawn(f"choices {one} {order}")
    texts = [("where(x > 0, x^2, where(x > 0, x^3, x^4))", None)] if one == "x > 0" else []
    texts += [tree(draw, 3, one) for _ in range(60)]
    for text, jet in texts:
        if jet is None:
            def jet(x: Fraction) -> Jet:
                return term(1, 2, x) if x > 0 else term(1, 4, x)
        if "x" not in text:
            continue
        status, told, err = in_process([
            "derive", "-e", text, "--wrt", "x", "--order", str(order), "--format", "python"])
        assert status == 0, (text, err)
        space: dict[str, Any] = {}
        exec(told, space)
        function = space[next(name for name in space if name in (
            "gradient", "hessian", "derivative", "derivatives"))]
        for x in AT:
            found = function(float(x))
            found = np.ravel(found)[0]      # None where no way leads to x
            assert float(0.0 if found is None else found) == pytest.approx(
                float(jet(x)[order]), rel=1e-12), (text, x, told)
            if order == 1:
                slope = gradcli.loads(text).gradient(at={"x": float(x)}, wrt="x")
                assert float(next(iter(slope.values())) or 0.0) == pytest.approx(
                    float(jet(x)[1]), rel=1e-12)


# --- strides beyond the kernel ---

def weighted(values: Any) -> float:
    return float((values * np.arange(1, values.size + 1).reshape(values.shape)).sum())


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize(("kernel", "stride"), [
    ((a, b), (s, t)) for (a, b), (s, t) in itertools.product(
        itertools.product((1, 2, 3), repeat=2), ((1, 1), (2, 1), (2, 3), (3, 4), (4, 4)))])
def test_strides_and_kernels(kernel: tuple[int, int], stride: tuple[int, int], same: bool) -> None:
    """Longer than the kernel, they leave elements out, whose slope is 0. Whole numbers: exact."""
    draw = np.random.default_rng(7)
    x = draw.permutation(np.arange(1.0, 31.0)).reshape(1, 6, 5, 1)
    k = draw.integers(-3, 4, (*kernel, 1, 2)).astype(float)
    options = f"strides=[{stride[0]}, {stride[1]}], padding=\"{'SAME' if same else 'VALID'}\""
    size = f"ksize=[{kernel[0]}, {kernel[1]}]"

    def units(a: Any) -> Any:
        for place in np.ndindex(a.shape):
            unit = np.zeros(a.shape)
            unit[place] = 1.0
            yield unit

    wanted = {
        "conv2d": [[weighted(conv(u, k, stride, same)) for u in units(x)],
                   [weighted(conv(x, u, stride, same)) for u in units(k)]],
        "avg_pool": [[weighted(average(u, kernel, stride, same)) for u in units(x)]],
        # Half an element more changes nothing else: all numbers are whole and different.
        "max_pool": [[(weighted(largest(x + u / 2, kernel, stride, same))
                       - weighted(largest(x, kernel, stride, same))) * 2 for u in units(x)]]}
    for name, slopes in wanted.items():
        call = f"conv2d(x, k, {options})" if name == "conv2d" else f"{name}(x, {size}, {options})"
        at = {"x": x, **({"k": k} if name == "conv2d" else {})}
        found = gradcli.loads(call).jacobian(at=at)
        for source, right in zip(at, slopes, strict=True):
            rows = np.reshape(found[source], (-1, at[source].size))
            np.testing.assert_allclose(
                np.arange(1.0, len(rows) + 1) @ rows, right, rtol=1e-12, atol=1e-12)


# --- None, rows that fail, formats, what happens to bad rows ---

ROWS = "L = [1, 2]\n(2*x if y > 0 else floor(x))*L[int(z)]"


def read_back(path: Path, format: str) -> list[dict[str, float | None]]:
    """The rows of a file, numbers or None."""
    if format in ("parquet", "arrow"):
        import pyarrow as pa
        from pyarrow import parquet

        if format == "parquet":
            return parquet.read_table(path).to_pylist()     # type: ignore[no-any-return]
        with pa.ipc.open_file(path) as file:
            return file.read_all().to_pylist()  # type: ignore[no-any-return]
    text = path.read_text()
    if format == "ndjson":
        return [json.loads(line) for line in text.splitlines()]
    rows = csv.DictReader(io.StringIO(text), delimiter="\t" if format == "tsv" else ",")
    return [{key: float(value) if value not in ("", "None") else None
             for key, value in row.items()} for row in rows]


@pytest.mark.parametrize("format", ["csv", "tsv", "ndjson", "parquet", "arrow"])
@pytest.mark.parametrize("on_error", ["skip", "null"])
def test_none_and_failures_in_one_block(format: str, on_error: str, tmp_path: Path) -> None:
    draw = drawn(f"{format} {on_error}")
    for case in range(6):
        kinds = list(itertools.product((-1, 1), (0, 1, 2))) * 4     # z = 2 is beyond the list
        draw.shuffle(kinds)
        if case == 1:
            kinds = [kind for kind in kinds if kind[1] == 2 or kind[0] < 0]
        points = tmp_path / "p.csv"
        points.write_text("x,y,z\n" + "".join(f"1.5,{y},{z}\n" for y, z in kinds))
        path = tmp_path / f"out.{format}"
        status, out, err = in_process([
            "grad", "-e", ROWS, "--wrt", "x", "--points", str(points), "--on-error", on_error,
            "-o", str(path)])
        assert (status, out) == (0, ""), err
        wanted = [(None, None) if z == 2 else ((3.0 if y > 0 else 1.0) * (z + 1),
                                               2.0 * (z + 1) if y > 0 else None)
                  for y, z in kinds if z < 2 or on_error == "null"]
        rows = read_back(path, format)
        assert [(row.get("f"), row.get("df/dx")) for row in rows] == wanted
        assert f"{sum(z == 2 for _, z in kinds)} rows" in err


# --- --at beside columns of similar names ---------------------------------------------------------

@pytest.mark.parametrize("column", ["rates", "Rate", "ratio", "rate_1", "rat", "r"])
@pytest.mark.parametrize("given", [True, False])
def test_a_value_and_a_column_of_a_similar_name(column: str, given: bool, tmp_path: Path) -> None:
    """What --at gives needs no column, whatever the others are called; without, one is asked for.
    """
    points = tmp_path / "p.csv"
    points.write_text(f"x,{column}\n1,7\n2,8\n")
    argv = ["eval", "-e", "x*rate", "--points", str(points), *(("--at", "rate=3") if given else ())]
    status, out, err = in_process(argv)
    if given:
        assert (status, out) == (0, f"x,{column},f\n1,7,3\n2,8,6\n"), err
    else:
        assert (status, out) == (3, "")
        assert "`rate`" in err
        assert f"`{column}` rate" in err or "--at rate=..." in err


# --- a factor and an inner function ---

OUTER = {"sin({})": "cos({})", "ln({})": "1/({})", "tan({})": "sec({})^2", "sqrt({})":
         "1/(2sqrt({}))", "arctan({})": "1/(1+({})^2)", "({})^4": "4({})^3", "e^({})": "e^({})"}
INNER = {"2x": "2", "x^2": "2x", "3x+1": "3", "x^3+2": "3x^2"}


@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("inner", INNER)
def test_a_factor_and_an_inner_function(outer: str, inner: str) -> None:
    """Each of the two may be lost; what is said does not depend on the other."""
    slope, chain = OUTER[outer].format(inner), INNER[inner]
    for factor in ("5", "-7"):
        ready = prepare(from_fields(
            {"function": f"{factor}*{outer.format(inner)}", "wrt": "x"}))
        assert check(ready, f"{factor}*{slope}*({chain})")["verdict"] == "correct"
        for answer, mistake in ((f"{factor}*{slope}", "missing_chain_factor"),
                                (f"{slope}*({chain})", "constant_factor_dropped")):
            found = check(ready, answer)
            assert found["verdict"] == "wrong"
            assert mistake in (found["mistake"], *found["also"]), (answer, found["mistake"])


# --- seeds and classes ---

DOMAINS = ("ln(sin(5x))", "sqrt(cos(3x))", "ln(x^3 - x)", "sqrt(sin(7x) - 0.3)")
SEEDED = '[sheet]\nid = "hw"\nseed = "autumn"\n' + "".join(
    f'[[problem]]\nid = "{k}"\nfunction = "{function}"\n' for k, function in enumerate(DOMAINS, 1))


def graded(folder: Path, *more: str, sheet: str = SEEDED, out: str = "out") -> list[Any]:
    """At how many points the answers of a class of one could be looked at."""
    hand_in = folder / "in" / "ada"
    hand_in.mkdir(parents=True, exist_ok=True)
    (hand_in / "answers.txt").write_text("1: x\n2: 2x\n3: 3x\n4: 4x\n")
    (folder / "sheet.toml").write_text(sheet)
    status, _, err = in_process(["hw", "run", str(folder / "sheet.toml"), str(folder / "in"),
                                 "-o", str(folder / out), "--jobs", "1", *more])
    assert status == 1, err
    return [json.loads(line)["points"] for line in (
        folder / out / "results.ndjson").read_text().splitlines()]


def test_a_seed_counts_for_a_class(tmp_path: Path) -> None:
    """--seed before the sheet's, and both decide where an answer is looked at; the same one again
    gives the same points, also where results of another are there to be used again.
    """
    own = graded(tmp_path, out="own")       # the sheet says "autumn"
    assert graded(tmp_path, "--seed", "autumn", out="same") == own
    other = graded(tmp_path, "--seed", "7", out="other")
    bare = SEEDED.replace('seed = "autumn"\n', "")
    usual = graded(tmp_path, sheet=bare, out="usual")
    assert graded(tmp_path, "--seed", "0", sheet=bare, out="zero") == usual
    assert len({json.dumps(found) for found in (own, other, usual)}) == 3
    assert graded(tmp_path, "--seed", "7", out="own") == other
    assert graded(tmp_path, out="own") == own
    # What one answer alone is told, with the name of the sheet in front of the seed.
    for seed, found in (("hw/autumn", own), ("hw/7", other), ("hw/0", usual)):
        for k, function in enumerate(DOMAINS, 1):
            ready = prepare(from_fields({"function": function, "wrt": "x", "id": str(k)}), seed)
            assert check(ready, f"{k}x" if k > 1 else "x")["points"] == found[k - 1]


DEATHS = ("save", "OutputFolder.write", "Journal.finish")
DYING = """
import os, sys
from gradcli.cli.main import main
from gradcli.homework import run
from gradcli.homework.marking.earlier import Journal
from gradcli.homework.marking.output_folder import OutputFolder
def die(*arguments, **named):
    os._exit(9)
where, *sys.argv[1:] = sys.argv[1:]
if where == "save":
    run.save = die
elif where == "OutputFolder.write":
    real = OutputFolder.write
    OutputFolder.write = lambda self, name, text: (
        die() if name == "manifest.json" else real(self, name, text))
else:
    Journal.finish = die
main()
"""


def dies(where: str, argv: list[str]) -> None:
    """Run gradcli in a process that ends without a word when it gets there."""
    died = subprocess.run(
        [sys.executable, "-c", DYING, where, *argv], check=False, capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert died.returncode == 9, died.stderr


@pytest.mark.parametrize("where", DEATHS)
def test_results_of_a_dead_run_are_not_taken_for_others(where: str, tmp_path: Path) -> None:
    """It died with its results under another seed, beside the manifest of the one before."""
    own = graded(tmp_path, out="dead")
    dies(where, ["hw", "run", str(tmp_path / "sheet.toml"), str(tmp_path / "in"), "--jobs", "1",
                 "--seed", "7", "-o", str(tmp_path / "dead")])
    assert graded(tmp_path, out="dead") == own
    assert graded(tmp_path, "--seed", "7", out="dead") != own


@pytest.mark.parametrize("where", DEATHS)
def test_a_run_that_dies_before_its_manifest(where: str, tmp_path: Path) -> None:
    """The next one is as good as the first would have been, also if answers changed meanwhile."""
    def files(name: str) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted((tmp_path / name).iterdir())
                if path.is_file() and path.suffix in (".csv", ".md")}

    graded(tmp_path, sheet=TWO_PROBLEMS, out="dead")
    answers = tmp_path / "in" / "ada" / "answers.txt"
    changed = "1: 2x sin(x) + x^2 cos(x)\n2: 2x + 3y, 3y\n"
    answers.write_text(changed)
    argv = ["hw", "run", str(tmp_path / "sheet.toml"), str(tmp_path / "in"), "--jobs", "1", "-o"]
    dies(where, [*argv, str(tmp_path / "dead")])
    for text in (changed, "1: x\n2: 2x + 3y, 3x\n"):
        answers.write_text(text)
        for out in ("dead", f"fresh {len(text)}"):
            assert in_process([*argv, str(tmp_path / out)])[0] == 1
        assert files("dead") == files(f"fresh {len(text)}")
        lines = [[{**json.loads(line), "ms": None} for line in
                  (tmp_path / out / "results.ndjson").read_text().splitlines()]
                 for out in ("dead", f"fresh {len(text)}")]
        assert lines[0] == lines[1]
