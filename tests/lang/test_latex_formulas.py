r"""--latex on textbook formulas: recorded values and slopes, refusals and their places, documents,
mutated texts; and the same LaTeX in answers of homework.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import mpmath
import pytest
from asked import loaded, ok
from conftest import folded
from folders import DATA
from mpmath import mp, mpf
from transcripts import in_process

from gradcli.base.errors import Diagnostic, GradcliError, Source
from gradcli.homework.check import check, prepare
from gradcli.homework.checking.fields import from_fields
from gradcli.lang.paper.answer import alternatives, read
from gradcli.lang.paper.documents import program
from gradcli.lang.paper.names import ProblemNames
from gradcli.lang.paper.tokens import LOADED, PRIVATE
from gradcli.python.program import Program

LINE_END = "⏎"


def rows(name: str, columns: int) -> list[list[str]]:
    lines = (DATA / name).read_text("utf-8").splitlines()
    found = [line.split("\t") for line in lines if not line.startswith("#")]
    assert {len(row) for row in found} == {columns}
    return found


FORMULAS = rows("latex.tsv", 5)
REFUSED = [(row[0].replace(LINE_END, "\n"), *row[1:]) for row in rows("latex_refused.tsv", 4)]


def point_of(text: str) -> dict[str, float]:
    """`x=0.7,lam=1.4`, with the names that a program has."""
    found = {}
    for pair in text.split(",") if text else ():
        name, _, value = pair.partition("=")
        found["λ" if name == "lam" else LOADED.get(name, name)] = float(value)
    return found


def close(found: float, recorded: str, digits: float) -> bool:
    return abs(found - float(recorded)) <= digits * max(1.0, abs(float(recorded)))


def test_the_table_is_large() -> None:
    assert len(FORMULAS) >= 250
    assert len(REFUSED) >= 100
    assert len({row[0] for row in FORMULAS} | {row[0] for row in REFUSED}) == (
        len(FORMULAS) + len(REFUSED))


@folded
@pytest.mark.parametrize(("text", "point", "meaning", "value", "slopes"), FORMULAS,
                         ids=[row[0] for row in FORMULAS])
def test_formulas_mean_what_is_recorded(text: str, point: str, meaning: str, value: str,
                                        slopes: str) -> None:
    found = Program(program(Source(text, "-e")).source)
    at = point_of(point)
    assert close(found.value(at=at), value, 1e-13)
    if at:
        for slope, recorded in zip(found.gradient(wrt=list(at), at=at).values(),
                                   slopes.split(","), strict=True):
            assert recorded == "-" or close(slope or 0.0, recorded, 1e-12)


def test_what_is_recorded_is_what_mpmath_says() -> None:
    names = {name: getattr(mpmath, name) for name in dir(mpmath) if not name.startswith("_")}
    for text, point, meaning, value, _ in FORMULAS:
        at = {name: mpf(number) for name, number in
              (pair.split("=") for pair in point.split(",") if pair)}
        with mp.workdps(30):
            assert abs(eval(meaning, names | at) - mpf(value)) <= 1e-15 * max(1, abs(mpf(value))), (
                text)


@folded
@pytest.mark.parametrize(("text", "code", "begin", "marked"), REFUSED,
                         ids=[row[0] for row in REFUSED])
def test_what_is_refused_and_where(text: str, code: str, begin: str, marked: str) -> None:
    with pytest.raises(GradcliError) as caught:
        program(Source(text, "-e"))
    (problem,) = caught.value.diagnostics
    assert problem.code == code
    assert problem.span is not None
    assert problem.span[0] == int(begin)
    assert text[slice(*problem.span)] == marked.replace(LINE_END, "\n")
    assert problem.help
    assert (problem.message + problem.help).isprintable()


TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+|.", re.DOTALL)
MORE = [*"&{}!_^$.|=;\nk()[]%~²\ue001\ud800\x00", *r"""
    \\ \begin{cases} \end{cases} \sum_{k=1}^{n} $$ \[ \] \text{if} \binom \left \right \{ \} \| \hat
    \mathbf \begin \end""".split()]


def mutated(count: int) -> list[str]:
    """Formulas of both tables with one to five changes: words put in, taken out, exchanged; parts
    of another formula, or of the same, put in.
    """
    chosen = random.Random(20261122)
    texts = [TOKEN.findall(row[0]) for row in [*FORMULAS, *REFUSED]]
    pool = [word for words in texts for word in words]
    found = []
    for _ in range(count):
        words = list(chosen.choice(texts))
        for _ in range(chosen.randint(1, 5)):
            at, kind = chosen.randrange(len(words) + 1), chosen.random()
            if kind < 0.35:
                words.insert(at, chosen.choice(pool if chosen.random() < 0.5 else MORE))
            elif kind < 0.6:
                del words[at:at + 1]
            elif kind < 0.75:
                words[at:at + 1] = [chosen.choice(pool)]
            else:
                other = chosen.choice(texts) if kind < 0.9 else words
                first = chosen.randrange(len(other) + 1)
                words[at:at] = other[first:first + chosen.randint(1, 12)]
        found.append("".join(words))
    return found


def problems_of(action: Callable[[], object]) -> tuple[Diagnostic, ...]:
    """The diagnostics of what an action raises; nothing else may be raised."""
    try:
        action()
    except GradcliError as caught:
        return caught.diagnostics
    return ()


def test_mutated_formulas_are_read_or_refused_in_time() -> None:
    names = ProblemNames(("x", "y", "n"))
    readable = 0
    for number, text in enumerate(mutated(20_000)):
        before = time.thread_time()
        problems = problems_of(lambda text=text: program(Source(text, "-e")))
        readable += not problems
        if number % 10 == 0:  # the same as an answer
            problems += problems_of(lambda text=text: alternatives(read(text, names), names))
        assert time.thread_time() - before < 0.2, text
        for problem in problems:
            assert re.fullmatch("E0210|E07[12][0-9]", problem.code), text
            assert problem.span is not None, text
            assert 0 <= problem.span[0] <= problem.span[1] <= len(text), text
            assert problem.help, text
            assert PRIVATE.isdisjoint(problem.message + problem.help), text
    assert readable > 1000


@pytest.mark.parametrize("text", [
    "\\sum_{k=1}^{9}" * 60 + "x", "\\sum_{k=1}^{200}" * 8 + "x^k", "\\binom{" * 300,
    "\\binom{\\binom{n}{k}}{k}" * 80, "\\begin{cases}" * 200, "\\left\\{\\begin{array}{l}" * 100,
    "\\|" * 500, "\\sum_{" * 400, "\\frac{1}{" * 400 + "x", "x_{" * 500, "!" * 1000, "x!" * 600,
    "\\hat" * 600, "\\text{$" * 300, "\\\\" * 1000, "$$x$$" * 2000, "x\\\\" * 3000,
    "\\mathbf{x}" * 190, "\\begin{cases}x&x>0\\\\" * 100 + "\\end{cases}" * 100, "f(" * 900,
    "\\prod_{k=1}^{100} (" * 9 + "x" + ")" * 9])
def test_large_texts_end_in_time(text: str) -> None:
    before = time.thread_time()
    for problem in problems_of(lambda: program(Source(text, "-e"))):
        assert problem.span is not None
    assert time.thread_time() - before < 1.0


# ---- sums, in the command line ------------------------------------------------------------------


def test_a_sum_counts_to_a_name() -> None:
    text = r"f(x) = \sum_{k=0}^{n} \frac{x^k}{k!}"
    (result,) = loaded("eval", "-e", text, "--latex", "--at", "x=2,n=10")["results"]
    assert result["value"] == pytest.approx(float(mp.nsum(lambda k: mpf(2) ** k / mp.factorial(k),
                                                          [0, 10])), rel=1e-14)
    status, _, err = in_process(["eval", "-e", text, "--latex", "--at", "x=2,n=2.5",
                                 "--format", "json"])
    problem = json.loads(err)["error"]
    assert (status, problem["code"]) == (3, "E0303")
    assert text[problem["column"] - 1:problem["end_column"] - 1].startswith(r"\sum_{k=0}^{n}")


def test_indexed_names_are_elements_where_a_sum_counts_to_a_name() -> None:
    text = r"L = \frac{1}{n}\sum_{i=1}^{n} (y_i - \hat{y}_i)^2"
    (result,) = loaded("grad", "-e", text, "--latex", "--at", "y=[1,2,4],y_hat=[1,1,2],n=3",
                       "--wrt", "y_hat")["results"]
    assert result["value"] == pytest.approx(5 / 3)
    assert result["sources"][0]["gradient"] == pytest.approx([0, -2 / 3, -4 / 3])
    text = r"\sum_{k=0}^{n} a_k x^k"
    (result,) = loaded("grad", "-e", text, "--latex", "--at", "a=[5,3,2],x=2,n=2",
                       "--wrt", "a,x")["results"]
    assert result["value"] == 19
    assert [source["gradient"] for source in result["sources"]] == [[1, 2, 4], 11]


def test_cases_at_points_on_both_sides() -> None:
    text = r"\begin{cases} x^2 & x < 0 \\ \sqrt{x} & x > 0 \end{cases}"
    status, out, err = in_process([
        "grad", "-e", text, "--latex", "--points", "x=linspace(-2,4,4)", "--format", "csv"])
    assert (status, err.splitlines()[0]) == (
        0, "gradcli: 1 row has NaN or infinity, first row 1 (counted from 0), where x = 0")
    assert out.splitlines()[1:] == [
        "-2,4,-4", "0,nan,nan", "2,1.4142135623730951,0.35355339059327373", "4,2,0.25"]


def test_cases_with_opposite_conditions_hold_everywhere() -> None:
    for text in (r"\begin{cases} -x & x < 0 \\ x & x \ge 0 \end{cases}",
                 r"\begin{cases} x & x \geq 0, \\ -x & \text{if } x < 0. \end{cases}"):
        assert "nan" not in program(Source(text, "-e")).source.text
    assert ok("eval", "-e", r"\begin{cases} 1 & x \ne 0 \\ 2 & x = 0 \end{cases}", "--latex",
              "--at", "x=0") == "f\t2\n"


def test_derived_formulas_of_what_was_added() -> None:
    assert ok("derive", "-e", r"\sum_{k=1}^{3} k x^k", "--latex") == "df/dx\t1 + 4*x + 9*x^2\n"
    assert ok("derive", "-e", r"\begin{cases} x^2 & x<0 \\ 0 & \text{otherwise} \end{cases}",
              "--latex") == "df/dx\twhere(x < 0, 2*x, 0)\n"


DOCUMENT = r"""\documentclass{article}
\usepackage{amsmath} % for align
\begin{document}
\section{The logistic function}
It is named after $P$ and has one parameter $r$; see \cite{verhulst}.
\begin{equation}\label{eq:one}
  u = r
    \cdot x
\end{equation}
and, with this,
\[ f(x) = \frac{1}{1+e^{-u}} . \]
It is the solution of a differential equation.
\end{document}
"""


def test_documents(tmp_path: Path) -> None:
    path = tmp_path / "notes.tex"
    path.write_text(DOCUMENT)
    status, out, err = in_process(["grad", str(path), "--latex", "--at", "x=0,r=2"])
    assert (status, out) == (0, "df/dr\t0\ndf/dx\t0.5\n")
    assert err == "note: df/dr: the factor `x` in `r*x` is exactly 0 (line 7)\n"
    path.write_text(DOCUMENT.replace("e^{-u}", r"e^{-\foo}"))
    status, _, err = in_process(["grad", str(path), "--latex", "--at", "x=0,r=2",
                                 "--format", "json"])
    problem = json.loads(err)["error"]
    assert (status, problem["code"], problem["line"], problem["column"]) == (3, "E0720", 11, 26)


# ---- homework -----------------------------------------------------------------------------------


def verdict(function: str, answer: str) -> str:
    return str(check(prepare(from_fields({"function": function, "wrt": ["x"]})), answer)["verdict"])


PIECES = r"\begin{cases} x^2 & x<0 \\ x^3 & x \ge 0 \end{cases}"


@pytest.mark.parametrize(("function", "answer", "expected"), [
    (PIECES, r"\begin{cases} 2x, & x<0, \\ 3x^2, & \text{otherwise.} \end{cases}", "correct"),
    (PIECES, r"\begin{cases} 2x & x<0 \\ 3x & \text{otherwise} \end{cases}", "wrong"),
    (PIECES, "2x", "wrong"),
    (r"\sum_{k=0}^{4} \frac{x^k}{k!}", "1 + x + x^2/2 + x^3/6", "correct"),
    ("1 + x + x^2/2 + x^3/6", r"\sum_{k=1}^3 \frac{x^{k-1}}{(k-1)!}", "correct"),
    ("x^5", r"\binom{5}{1} x^4", "correct"),
    ("x^5", r"\binom{5}{2} x^4", "wrong"),
    (r"\frac{x^3}{3!}", r"\frac{x^2}{2!}", "correct"),
    (r"\sum_{i=1}^{2}\sum_{j=1}^{i} x^j", "2 + 2x", "correct"),
    ("x^2", r"\sum_{k=1}^n 2x", "unreadable"),
    ("x^2", r"\sum_{k=1}^\infty 2x", "unreadable"),
    ("x^2", "2x!", "unreadable"),
])
def test_answers_of_homework(function: str, answer: str, expected: str) -> None:
    assert verdict(function, answer) == expected


def test_readings_are_shown_with_their_conditions() -> None:
    text = r"\begin{cases} 1 & 0 < x \le 1 \\ 2 & x > 3 \lor x = 2 \end{cases}"
    shown = read(text, ProblemNames(("x",)))
    assert shown.read_as == "where(0 < x and x <= 1, 1, where(x > 3 or x == 2, 2, nan))"
