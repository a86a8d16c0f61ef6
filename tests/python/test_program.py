"""The Python API: programs, what they are asked, what comes back, and what goes wrong."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import run
from folders import ROOT

import gradcli
from gradcli import GradcliError, Program, load, loads
from gradcli.engine.record.record import memory_budget
from gradcli.ops import PUBLIC
from gradcli.questions.derivatives import gradients
from gradcli.questions.question import Question

AT = {"x": 1.5, "y": 0.5}


def failure(call: Any) -> GradcliError:
    with pytest.raises(GradcliError) as problem:
        call()
    return problem.value


# --- the package --------------------------------------------------------------------------------

def test_the_public_names() -> None:
    assert set(gradcli.__all__) <= set(dir(gradcli))
    assert gradcli.load is load
    assert gradcli.loads is loads
    assert isinstance(loads("x"), Program)
    assert issubclass(GradcliError, Exception)
    assert isinstance(gradcli.__version__, str)
    with pytest.raises(AttributeError, match="no_such_thing"):
        gradcli.no_such_thing  # noqa: B018


@pytest.mark.parametrize(("code", "absent"), [
    ("import gradcli", ("gradcli.lang.running.program", "gradcli.ops", "numpy", "typing", "lark",
    "typer")),
    ("import gradcli; gradcli.loads('x^2*sin(y)').gradient(at={'x': 1, 'y': 2})",
     ("numpy", "rich", "typer", "lark", "dataclasses", "inspect", "logging")),
    ("import gradcli; gradcli.loads('floor(x)').gradient(at={'x': 1})", ("numpy", "rich", "typer")),
    ("import gradcli; gradcli.loads('x^2*y').hessian(at={'x': 1, 'y': 2})", ("numpy", "rich")),
    ("import gradcli; gradcli.loads(\"f(t) = t^3\\nf''(x)\").gradient(at={'x': 1})", ("numpy",)),
])
def test_what_is_not_imported(code: str, absent: tuple[str, ...]) -> None:
    text = f"{code}\nimport sys\nprint([m for m in {absent!r} if m in sys.modules])"
    done = run(sys.executable, "-c", text, env={"PYTHONPATH": str(ROOT)})
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


# --- loading ------------------------------------------------------------------------------------

def test_load_reads_a_file_as_loads_reads_its_text(tmp_path: Path) -> None:
    path = tmp_path / "größe.txt"
    path.write_bytes("\ufeffθ = x²\r\nθ*y\r\n".encode())
    for name in (path, str(path)):
        program = load(name)  # type: ignore[arg-type]
        assert program.value(at=AT) == 1.125
        assert program.source.name == str(path)


@pytest.mark.parametrize(("content", "code"), [
    (None, "E0601"), (b"\xff\xfe\x00x", "E0603"), (b"x\x00y", "E0604"), (b"x +", "E0102"),
])
def test_load_of_what_is_no_program(tmp_path: Path, content: bytes | None, code: str) -> None:
    path = tmp_path / "file.txt"
    if content is not None:
        path.write_bytes(content)
    problem = failure(lambda: load(str(path)))
    assert problem.code == code
    assert problem.source is not None
    assert str(path) in str(problem)
    assert problem.span is not None


def test_load_of_a_folder(tmp_path: Path) -> None:
    assert failure(lambda: load(str(tmp_path))).code == "E0601"


# --- forms of a question ------------------------------------------------------------------------

@pytest.mark.parametrize("wrt", ["x,y", "x, y", ["x", "y"], ("x", "y"), None])
def test_forms_of_wrt(wrt: Any) -> None:
    program = loads("x^2*y")
    assert program.gradient(wrt=wrt, at=AT) == {"x": 1.5, "y": 2.25}
    assert list(program.jacobian(wrt=wrt, at=AT)) == ["x", "y"]
    assert program.hessian(wrt=wrt, at=AT) == {
        "x": {"x": 1.0, "y": 3.0}, "y": {"x": 3.0, "y": 0.0}}


def test_the_order_of_the_answer_is_that_of_the_question() -> None:
    program = loads("b = 2\nz = x*b*a")
    at = {"x": 1.0, "a": 3.0}
    assert list(program.gradient(wrt="a,b,x", at=at)) == ["a", "b", "x"]
    assert list(program.gradient(wrt="x,b,a", at=at)) == ["x", "b", "a"]
    assert list(program.gradient(at=at)) == ["x", "a"]


@pytest.mark.parametrize(("of", "value", "slope"), [
    (None, 6.75, 9.0), ("z", 6.75, 9.0), ("y", 2.25, 3.0), ("x", 1.5, 1.0), ("y,z", None, 12.0),
    ("y, z", None, 12.0), ("y,y", None, 6.0),
])
def test_forms_of_of(of: str | None, value: float | None, slope: float) -> None:
    program = loads("y = x^2\nz = 3y")
    assert program.gradient(of, "x", {"x": 1.5}) == {"x": slope}
    if value is not None:
        assert program.value(of, {"x": 1.5}) == value


@pytest.mark.parametrize(("text", "name"), [
    ("x^2", "f"), ("y = 1; x^2", "f"), ("f = x; x^2", "result"), ("f(t) = t; x^2", "result"),
])
def test_a_result_without_a_name_has_one(text: str, name: str) -> None:
    program = loads(text)
    assert program.unnamed == name
    assert program.gradient(name, "x", {"x": 3.0}) == program.gradient(None, "x", {"x": 3.0})


def test_the_last_statement_decides_what_is_asked() -> None:
    assert loads("x; 2x; 3x").value(at={"x": 1.0}) == 3.0
    assert loads("y = 2x\nz = 3x").value(at={"x": 1.0}) == 3.0
    assert loads("2x\ny = 3x").value(at={"x": 1.0}) in (2.0, 3.0)
    assert failure(lambda: loads("f(t) = t").value()).code == "E0210"
    assert failure(lambda: loads("# nothing").value()).code == "E0210"


@pytest.mark.parametrize("value", [
    2, 2.0, np.float64(2), np.float32(2), np.float16(2), np.int64(2), np.int32(2), np.uint8(2),
    np.array(2.0), np.array(2),
], ids=lambda v: type(v).__name__)
def test_a_number_from_outside_is_a_float(value: Any) -> None:
    """Numbers are float64; an integer exists by type only."""
    program = loads("x^2*y")
    found = program.gradient(at={"x": value, "y": 3.0})
    assert found == {"x": 12.0, "y": 4.0}
    assert type(found["x"]) is float
    assert type(program.value(at={"x": value, "y": 3.0})) is float


@pytest.mark.parametrize("value", [
    [1, 2], (1, 2), [1.0, 2], range(1, 3), np.array([1, 2]), np.array([1.0, 2.0]),
    np.array([1, 2], dtype=np.uint8), np.array([1, 2], dtype=np.float16), [np.float64(1), 2],
    np.array([1.0, 9.0, 2.0, 9.0])[::2],
], ids=repr)
def test_an_array_from_outside_is_one_of_floats(value: Any) -> None:
    found = loads("sum(v^2)").gradient(at={"v": value})["v"]
    np.testing.assert_array_equal(found, [2.0, 4.0])
    assert found.dtype == np.float64


@pytest.mark.parametrize("value", [
    None, 1j, [[1, 2], [3]], {"a": 1}, ["a"], object, [None, 1.0], [1j], 10 ** 400,
], ids=repr)
def test_values_from_outside_that_are_none(value: Any) -> None:
    problem = failure(lambda: loads("x^2").gradient(at={"x": value}))
    assert problem.code == "E0306"
    assert "`x`" in problem.message
    assert problem.help


@pytest.mark.parametrize("value", [Fraction(1, 2), Decimal("0.5")], ids=repr)
def test_exact_numbers_are_numbers_or_refused(value: Any) -> None:
    try:
        found = loads("x^2").gradient(at={"x": value})
    except GradcliError as problem:
        found = {"x": problem.code}
    assert found in ({"x": 1.0}, {"x": "E0306"})


@pytest.mark.parametrize("question", [
    lambda p: p.gradient(at={1: 2.0}), lambda p: p.gradient(of=3, at=AT),
    lambda p: p.gradient(wrt=3, at=AT), lambda p: p.gradient(wrt=[3], at=AT),
    lambda p: p.gradient(at=[1.0, 2.0]), lambda p: p.gradient(at="x=1"),
])
def test_questions_of_a_wrong_type(question: Any) -> None:
    """A TypeError or an error of gradcli; nothing that speaks of its inside."""
    with pytest.raises((TypeError, GradcliError)):
        question(loads("x*y"))


@pytest.mark.parametrize(("call", "code", "text"), [
    (lambda p: p.gradient(of="q", at=AT), "E0204", "q"),
    (lambda p: p.gradient(wrt="q", at=AT), "E0204", "q"),
    (lambda p: p.gradient(at={**AT, "q": 1.0}), "E0204", "q"),
    (lambda p: p.gradient(at={"x": 1.0}), "E0203", "y"),
    (lambda p: p.value(), "E0203", "x"),
    (lambda p: p.hessian(wrt="z", of="w", at=AT), "E0204", "w"),
])
def test_questions_about_names_that_do_not_exist(call: Any, code: str, text: str) -> None:
    problem = failure(lambda: call(loads("z = x*y")))
    assert problem.code == code
    assert f"`{text}`" in problem.message
    assert problem.help


def test_a_constant_of_the_language_is_no_source_and_the_help_says_so() -> None:
    problem = failure(lambda: loads("e^x").gradient(wrt="e", at={"x": 1.0}))
    assert problem.help != "did you mean `e`?"


# --- what comes back ----------------------------------------------------------------------------

def test_shapes() -> None:
    program = loads("A @ v * s")
    A, v = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 3.0])
    at = {"A": A, "v": v, "s": 2.0}
    np.testing.assert_array_equal(program.value(at=at), A @ v * 2)
    gradient = program.gradient(at=at)
    jacobian = program.jacobian(at=at)
    hessian = program.hessian(at=at)
    shapes = {"A": (2, 3), "v": (3,), "s": ()}
    assert {n: np.shape(g) for n, g in gradient.items()} == shapes
    assert {n: np.shape(j) for n, j in jacobian.items()} == {n: (2, *s) for n, s in shapes.items()}
    assert {(a, b): np.shape(h) for a, row in hessian.items() for b, h in row.items()} == {
        (a, b): shapes[a] + shapes[b] for a in shapes for b in shapes}
    assert type(gradient["s"]) is float
    assert type(hessian["s"]["s"]) is float
    for found in (*gradient.values(), *jacobian.values()):
        assert isinstance(found, (float, np.ndarray))
    np.testing.assert_array_equal(jacobian["v"], 2 * A)
    np.testing.assert_array_equal(hessian["v"]["s"], A.sum(axis=0))


def test_the_kinds_of_values() -> None:
    at = {"x": 2.0}
    assert type(loads("x").value(at=at)) is float
    assert type(loads("int(x)").value(at=at)) is int
    assert loads("x > 1").value(at=at) is True
    assert loads("string(x)").value(at=at) == "2.0"
    assert loads("none; x; none").value(at=at) is None
    found = loads('{"a": x, "b": [x, {"c": x}]}').value(at=at)
    assert found == {"a": 2.0, "b": [2.0, {"c": 2.0}]}
    np.testing.assert_array_equal(loads("[x, 1]").value(at=at), [2.0, 1.0])


def test_unwatched_sources_are_none_in_every_kind_of_question() -> None:
    program = loads("const c = 2\nvar d = 3, trainable=false\nvar n: int64 = 4\nc^2*x*d*float(n)")
    at = {"x": 1.0}
    names = ["c", "d", "n", "x"]
    assert program.gradient(at=at) == {"x": 48.0}
    assert program.gradient(wrt=names, at=at) == {"c": None, "d": None, "n": None, "x": 48.0}
    assert program.jacobian(wrt=names, at=at) == {"c": None, "d": None, "n": None, "x": 48.0}
    found = program.hessian(wrt=names, at=at)
    assert all(found[a][b] is None for a in names for b in names if (a, b) != ("x", "x"))
    assert found["x"]["x"] == 0.0


def test_nothing_to_differentiate() -> None:
    for text in ("3", "c = 3\nc^2", "const c = 3\nc^2"):
        problem = failure(lambda text=text: loads(text).gradient())  # type: ignore[misc]
        assert problem.code == "E0211"
        assert problem.help
    assert "int" in failure(lambda: loads("var n: int64 = 3\nn*n").gradient()).message + str(
        failure(lambda: loads("var n: int64 = 3\nn*n").gradient()).help)


def test_structures_as_targets() -> None:
    program = loads('a = [x, 2x]\nd = {"w": x}\nt = "text"\nx')
    at = {"x": 3.0}
    assert program.gradient("a", at=at) == {"x": 3.0}
    np.testing.assert_array_equal(program.jacobian("a", at=at)["x"], [1.0, 2.0])
    assert program.hessian("a", at=at) == {"x": {"x": 0.0}}
    for name in ("d", "t"):
        problem = failure(lambda name=name: program.jacobian(name, at=at))  # type: ignore[misc]
        assert problem.code == "E0310"
        assert problem.span is not None
    assert failure(lambda: program.gradient("x", "a", at)).code == "E0310"


# --- errors -------------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "code", "span"), [
    ("y = 2*sinn(x)", "E0201", (6, 10)), ("x +", "E0102", None), ("(x", "E0103", (0, 1)),
    ("1/2x", "E0104", None), ("y = [1, 2] + [1, 2, 3]", "E0301", (4, 22)), ("x = 1\nx(2)", "E0206",
                                                                         (6, 7)),
    ("q + 1", "E0203", (0, 1)), ("sin x", "E0106", None), ("x = 3\n\ny = x @ x", "E0301", (11, 16)),
    ("θ = 1\nθ + ψ", "E0203", (10, 11)),
])
def test_an_error_has_code_span_and_help(text: str, code: str, span: tuple[int, int] | None
                                         ) -> None:
    problem = failure(lambda: loads(text, "file.txt").value())
    assert problem.code == code
    assert problem.span is not None
    if span is not None:
        assert problem.span == span
    assert problem.help or text == "x +"
    assert problem.message == str(problem).split("]: ", 1)[1]
    assert str(problem).startswith("file.txt:")
    assert problem.source is not None
    line, column = problem.source.position(problem.span[0])
    assert f"file.txt:{line}:{column}: error[{code}]" in str(problem)
    assert problem.diagnostics[0].code == code


@pytest.mark.parametrize("text", [
    "[[1, 2, 3], [x, x]]", "[int(x), x]", "[x, \"a\"]", "[[x, x], x]", "x; [grad(floor(x), x), 1]",
])
def test_errors_after_the_run_have_a_place_too(text: str) -> None:
    """A structure that cannot become a tensor is met when the question is answered."""
    program = loads(text)
    for question in (program.jacobian, program.hessian):
        problem = failure(lambda q=question: q(at={"x": 1.0}))  # type: ignore[misc]
        assert problem.span is not None
        assert problem.source is not None


def test_a_program_is_still_usable_after_an_error() -> None:
    program = loads("y = A @ v")
    for _ in range(2):
        assert failure(lambda: program.value(at={"A": np.eye(2), "v": [1.0, 2.0, 3.0]})
                       ).code == "E0301"
        np.testing.assert_array_equal(program.value(at={"A": np.eye(2), "v": [1.0, 2.0]}), [1, 2])


# --- reuse --------------------------------------------------------------------------------------

def test_a_program_is_asked_at_several_points() -> None:
    program = loads("var k = 2\ny = x^k\nz = y*x")
    for x in (0.5, 1.5, -2.0, 3.0):
        for k in (1.0, 2.0, 3.0):
            found = program.gradient(wrt="x", at={"x": x, "k": k})["x"]
            assert found == pytest.approx((k + 1) * x ** k)
    assert program.value(at={"x": 3.0}) == 27.0


def test_a_program_takes_other_shapes_at_another_point() -> None:
    program = loads("sum(x^2)")
    assert program.gradient(at={"x": 3.0}) == {"x": 6.0}
    np.testing.assert_array_equal(program.gradient(at={"x": [1.0, 2.0]})["x"], [2.0, 4.0])
    assert program.gradient(at={"x": 3.0}) == {"x": 6.0}


@pytest.mark.parametrize("text", [
    "x", "x + 0", "x.T", "reshape(x, [3, 1])", "x[:]", "x*1", "stop_gradient(x)", "[x, x]",
    "y = x", "broadcast_to(x, [3])", "x if true else 0", "float(x)", "+x", "x[none, :]",
])
def test_arrays_from_outside_are_neither_changed_nor_handed_out(text: str) -> None:
    given = np.array([1.0, 2.0, 3.0])
    kept = given.copy()
    program = loads(text)
    at = {"x": given}
    value = program.value(at=at)
    answers = [value, program.gradient(wrt="x", at=at)["x"], program.jacobian(wrt="x", at=at)["x"]]
    np.testing.assert_array_equal(given, kept)
    assert at == {"x": given}
    for answer in answers:
        if answer is not None:
            answer[...] = 77.0
    np.testing.assert_array_equal(given, kept)
    np.testing.assert_array_equal(np.ravel(program.value(at=at))[:3], kept)


def test_answers_are_independent_of_each_other() -> None:
    program = loads("c = [1, 2, 3]\ny = c*x")
    first = program.gradient(wrt="c,x", at={"x": [1.0, 1.0, 1.0]})
    first["c"][...] = 9.0
    first["x"][...] = 9.0
    second = program.gradient(wrt="c,x", at={"x": [1.0, 1.0, 1.0]})
    np.testing.assert_array_equal(second["c"], [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(second["x"], [1.0, 2.0, 3.0])
    value = program.value("c", {"x": 1.0})
    value[...] = 9.0
    np.testing.assert_array_equal(program.value("c", {"x": 1.0}), [1.0, 2.0, 3.0])


def test_read_only_arrays_are_welcome() -> None:
    given = np.array([1.0, 2.0, 3.0])
    given.flags.writeable = False
    np.testing.assert_array_equal(loads("sum(x[::-1]^2)").gradient(at={"x": given})["x"],
                                  2 * given)


# --- threads ------------------------------------------------------------------------------------

def test_independent_programs_in_threads() -> None:
    """Each thread has its own record: answers are those of a single thread, however they mix."""
    texts = ["y = x\n" + "y = sin(y)*1.1\n" * 150 + f"y*{k}" for k in range(8)]
    expected = [loads(t).hessian(wrt="x", at={"x": 0.5}) for t in texts]
    gradients = [loads(t).gradient(wrt="x", at={"x": 0.5}) for t in texts]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    barrier = threading.Barrier(8)

    def work(k: int) -> list[Any]:
        barrier.wait(timeout=60)
        found: list[Any] = []
        for _ in range(4):
            found.append((loads(texts[k]).gradient(wrt="x", at={"x": 0.5}) == gradients[k],
                          loads(texts[k]).hessian(wrt="x", at={"x": 0.5}) == expected[k]))
        return found

    try:
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(work, range(8)))
    finally:
        sys.setswitchinterval(interval)
    assert all(all(pair) for found in results for pair in found)


def test_one_program_in_threads() -> None:
    program = loads("A = [[1, x], [x, 2]]\nsum((A @ [x, 1])^2)")
    points = [0.1 * k for k in range(40)]
    expected = [program.gradient(at={"x": x})["x"] for x in points]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda x: program.gradient(at={"x": x})["x"], points * 5))
    finally:
        sys.setswitchinterval(interval)
    assert found == expected * 5


# --- what a run leaves behind -------------------------------------------------------------------

def test_a_budget_is_of_one_run_and_what_is_asked_within_its_record() -> None:
    program = loads("input n = 10\nx = 2.0\nsum(ones(n)*x)")
    tight = program.run({"n": 10}, max_bytes=100.0)
    assert memory_budget() is None
    with tight.record, tight.record:
        assert failure(lambda: PUBLIC["ones"](20)).code == "E0403"
    PUBLIC["ones"](1000)
    assert failure(lambda: program.run({"n": 20}, max_bytes=100.0)).code == "E0403"
    assert memory_budget() is None
    assert program.value(at={"n": 1000}) == 2000.0


def test_other_names_are_checked_again() -> None:
    program = loads("x^2")
    for _ in range(2):
        assert program.value(at={"x": 3.0}) == 9.0
        assert failure(lambda: program.value(at={"x": 3.0, "z": 1.0})).code == "E0204"
        assert failure(program.value).code == "E0203"


def test_no_option_of_a_run_is_kept_for_a_later_one() -> None:
    program = loads("y = 0.0\nfor i in range(100):\n    y = y + x\ny")
    assert failure(lambda: program.run({"x": 1.0}, max_steps=50)).code == "E0401"
    logged = program.logged_run({"x": 1.0})
    assert logged.log is not None
    assert logged.log.ended


def test_questions_to_one_program_do_not_see_each_other() -> None:
    """What a question watches is of its run, whatever ran in between."""
    program = loads("const c = 2.0\nvar x = 3.0\nif x > 10:\n    watch(c)\ny = c*x")
    ask = Question(program, wrt=["c"])
    run = ask.run()
    ask.run({"x": 11.0})
    with run.record:
        (target,), bindings = program.targets(run), program.sources(run, ["c"])
        assert gradients(ask, run, target, bindings) == [None]
