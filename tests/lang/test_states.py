"""Files that assign: every answer says which state of a variable it belongs to.

Programs are generated as straight-line code; the reference runs them in Python with the derivative
of each state worked out by hand: the target is a sum of squares of what is read.
"""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest
from asked import valid
from conftest import folded
from draws import drawn, many
from transcripts import in_process

from gradcli import GradcliError, loads
from gradcli.questions import Question, grad, hess, jac
from gradcli.questions.calculus.newton import newton
from gradcli.questions.calculus.tangents import directional, propagate, tangent
from gradcli.questions.calculus.taylor import laplacian, taylor
from gradcli.questions.derive.answer import derived
from gradcli.questions.plain_data import data
from gradcli.questions.steps.steps import steps
from gradcli.questions.verify.verify import verify
from gradcli.questions.why import why

ONCE = "var w = 5.0\nw.assign(2.0)\nloss = w^2\n"
LOOP = ("var w = 4.0\nfor i in range(3):\n    tape t:\n        loss = (w - 1)^2\n"
        "    w.assign_sub(0.25*t.gradient(loss, w))\n")
POINTED = {"grad": grad, "jac": jac, "why": why, "steps": steps, "verify": verify}

CALCULUS: tuple[tuple[Any, dict[str, Any]], ...] = (
    (tangent, {}), (taylor, {"order": 2}), (laplacian, {}), (newton, {}),
    (directional, {"direction": ("1", [1.0], {})}),
    (propagate, {"sigma": {"w": 0.1}, "correlation": {}}))


def of(text: str, question: Any = grad, **options: Any) -> dict[str, Any]:
    ask = Question(loads(text), wrt=["w"], **options)
    found: dict[str, Any] = question(ask)["results"][0]
    return found


def program(random: Random) -> tuple[str, list[tuple[float, int]], float]:
    """A program, the states that its target reads with their lines, and the sum of slopes."""
    value, line = float(random.randrange(1, 9)), 1
    lines = [f"var w = {value}"]
    reads: list[tuple[float, int]] = []
    terms = []
    slope = 0.0
    for k in range(random.randrange(2, 7)):
        kind = random.randrange(6)
        if kind < 2:
            terms.append(f"a{k}")
            lines.append(f"a{k} = w^2")
            slope += 2.0 * value
            if (value, line) not in reads:
                reads.append((value, line))
        elif kind == 2:
            value = float(random.randrange(1, 9))
            lines.append(f"w.assign({value})")
            line = len(lines)
        elif kind == 3:
            lines.append("w.assign_add(1)")
            value, line = value + 1.0, len(lines)
        elif kind == 4:
            lines.append("w.assign(w*2 - 1)")
            value, line = value * 2.0 - 1.0, len(lines)
        else:
            lines += ["for i in range(3):", "    w.assign_sub(0.5)"]
            value, line = value - 1.5, len(lines)
    if not terms:
        terms = ["w^2"]
        reads, slope = [(value, line)], 2.0 * value
    lines.append(f"y = {' + '.join(terms)}")
    return "\n".join(lines) + "\n", reads, slope


@folded
@pytest.mark.parametrize("name", POINTED)
@pytest.mark.parametrize("seed", range(25))
def test_at_is_what_the_target_reads(seed: int, name: str) -> None:
    text, reads, slope = program(drawn(seed))
    result = of(text, POINTED[name], of=["y"])
    (source,) = result["sources"]
    assert source["at"] == reads[-1][0], text
    if name != "verify":
        assert source["jacobian" if name == "jac" else "gradient"] == slope, text
    notes = [n for n in (*result.get("notes", ()), *source["notes"])
             if n["code"] == "assigned-state"]
    if reads[-1][1] > 1:
        assert [(s["value"], s["line"]) for s in source["states"]] == reads, text
        assert [n["line"] for n in notes] == [reads[-1][1]]
        assert (f"{len(reads)} values" in notes[0]["message"]) == (len(reads) > 1)
    else:
        assert not notes
        assert "states" not in source


@pytest.mark.parametrize("seed", range(25))
def test_calculus_starts_from_the_state_or_refuses(seed: int) -> None:
    text, reads, slope = program(drawn(seed))
    for question, options in CALCULUS:
        def asked(question: Any = question, options: Any = options) -> Any:
            return of(text, lambda ask: question(ask, **options), of=["y"])

        if len(reads) > 1 or (question is newton and reads[0][1] > 1):
            with pytest.raises(GradcliError) as raised:
                asked()
            problem = raised.value
            assert (problem.code, bool(problem.help)) == ("E0836", True)
            assert problem.span is not None
            assert text[:problem.span[0]].count("\n") + 1 == reads[-1][1]
        else:
            found = asked()
            assert found["at"]["w"] == reads[0][0], text
            if question is tangent:
                assert found["value"] == reads[0][0] * slope / 2
            assert any(n["code"] == "assigned-state" for n in found["notes"]) == (reads[0][1] > 1)


def taped(random: Random) -> str:
    """A program that assigns inside, between and behind its tapes; each asks for several things."""
    lines = ["var w = [2.0, 1.5]", "var v = 3.0"]
    made: list[str] = []
    asked: list[str] = []
    for k in range(random.randrange(1, 3)):
        lines += [f"tape t{k}, persistent=true:", f"  tape u{k}, persistent=true:"]
        for _ in range(random.randrange(3, 9)):
            kind = random.randrange(6)
            if kind < 3:
                factor = random.choice(("0.5", "w[0]", "v", *made[-2:]))
                made.append(f"a{len(made)}")
                lines.append(f"    {made[-1]} = sum(w^2)*{factor} + v*{factor}")
            else:
                lines.append("    " + random.choice((
                    "w.assign(w*0.5)", "v.assign_add(1)", "v.assign(v*0.5 + sum(w))",
                    "w.assign([1.0, 2.0])", "v.assign_sub(0.25)")))
        made.append(f"a{len(made)}")
        lines += [f"    {made[-1]} = sum(w^3) + {' + '.join(['v', *made[:-1]])}",
                  f"  g{k} = u{k}.gradient({made[-1]}, w)", f"  h{k} = sum(g{k}*w)*v"]
        asked += [f"u{k}.gradient({made[-1]}, w)", f"t{k}.jacobian({made[-1]}, w)"]
        asked += [f"t{k}.gradient({one}, {x})" for one in (*made[-3:], f"h{k}") for x in "wv"]
        lines.append(f"w.assign_sub(0.01*g{k})")
    lines += [f"q{k} = {question}" for k, question in enumerate(asked)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(many(8, 20)))
def test_why_and_grad_say_what_the_program_gets(seed: int) -> None:
    text = taped(drawn(seed))
    lines = text.splitlines()
    run = loads(text).run()
    told = {lines[r["line"] - 1]: r["sources"][0]["gradient"] for r in why(Question(loads(text)))[
        "results"]}
    for line in lines:
        name, _, question = line.strip().partition(" = ")
        if not name.startswith(("q", "g")):
            continue
        here = data(getattr(run.bindings[name][0].value, "value", None))
        expected = None if here is None else pytest.approx(here)
        assert told[line] == expected, (text, line)
        tape, _, target, source = re.findall(r"\w+", question)
        if tape == "t0":
            ask = Question(loads(text), of=[target], wrt=[source], tape=tape)
            (found,) = grad(ask)["results"][0]["sources"]
            assert found["gradient"] == expected, (text, line)


def test_the_example() -> None:
    result = of(ONCE)
    assert (result["value"], result["sources"][0]["at"]) == (4.0, 2.0)
    (note,) = result["notes"]
    assert (note["line"], note["column"]) == (2, 1)
    assert note["message"] == ("the answer belongs to `w` = 2 that is assigned here, not to its"
                               " first value")
    assert of(ONCE, hess)["at"] == {"w": 2.0}
    assert of(ONCE, hess)["states"]["w"][0]["line"] == 2
    given = of(ONCE, at={"w": 3.0})
    assert given["sources"][0]["at"] == 2.0
    assert given["notes"][0]["message"].endswith("which --at gives")
    assert of(ONCE, at={"w": 3.0}, of=["loss"])["value"] == 4.0


def test_training_loops() -> None:
    """The last tape saw the state before the last step: 4, 2.5, 1.75."""
    result = of(LOOP, of=["loss"])
    (source,) = result["sources"]
    assert (source["at"], source["gradient"]) == (1.75, 1.5)
    assert [(s["value"], s["line"]) for s in source["states"]] == [(1.75, 5)]
    started = of(LOOP, of=["loss"], at={"w": 2.0})
    assert started["sources"][0]["at"] == 1.25
    found = of(LOOP, lambda ask: tangent(ask), of=["loss"])
    assert found["at"] == {"w": 1.75}


def test_another_variable_that_is_assigned_leaves_the_source_where_it_is() -> None:
    text = "var w = 5.0\nvar b = 1.0\nb.assign(3.0)\nloss = w*b\n"
    result = of(text)
    assert (result["sources"][0]["at"], result["sources"][0]["gradient"]) == (5.0, 3.0)
    assert not result["notes"]
    found = grad(Question(loads(text)))["results"][0]["sources"]
    assert [(s["wrt"], s["at"]) for s in found] == [("w", 5.0), ("b", 3.0)]
    moved = of(text, lambda ask: newton(ask))
    assert (moved["converged"], moved["solution"]) == (True, {"w": 0.0})


def test_arrays_and_a_state_that_is_the_target_itself() -> None:
    result = of("var w = [1, 2]\nw.assign([3, 4])\ny = sum(w^2)\n")
    assert (result["sources"][0]["at"], result["sources"][0]["gradient"]) == (
        [3.0, 4.0], [6.0, 8.0])
    assert "the value of `w` that is assigned here" in result["notes"][0]["message"]
    assert of("var w = 1.0\nw.assign(7.0)\nw", hess)["at"] == {"w": 7.0}


def test_differences_have_nothing_to_move() -> None:
    with pytest.raises(GradcliError) as raised:
        of(ONCE, mode="finite")
    assert raised.value.code == "E0836"
    result = of(ONCE, verify=True)
    assert result["sources"][0]["gradient"] == 4.0
    assert of("var w = 5.0\nloss = w^2\nw.assign(2.0)\n", mode="finite", of=["loss"])[
        "sources"][0]["gradient"] == pytest.approx(10.0)


@pytest.mark.parametrize("command", ["grad", "jac", "hess", "why", "steps", "verify", "tangent"])
def test_the_command_line_tells_and_its_json_is_valid(command: str, tmp_path: Any) -> None:
    path = tmp_path / "once.txt"
    path.write_text(ONCE)
    _, out, err = in_process([command, str(path)])
    assert "`w` = 2 that is assigned here" in out + err
    assert " at w = 5" not in out
    status, out, _ = in_process([command, str(path), "--format", "json"])
    assert status == 0
    valid(json.loads(out), command)


def test_points_and_plots(tmp_path: Any) -> None:
    path, table = tmp_path / "once.txt", tmp_path / "p.csv"
    path.write_text(ONCE)
    table.write_text("w\n1\n2\n")
    status, out, err = in_process(["grad", str(path), "--points", str(table)])
    assert (status, out.split()[1:]) == (0, ["1,4,4", "2,4,4"])
    assert "`w` is assigned in line 2: the column gives its first value" in err
    status, _, err = in_process(["eval", str(path), "--points", str(table)])
    assert (status, err) == (0, "")
    status, _, err = in_process(["plot", str(path), "--over", "w=0:3"])
    assert (status, "E0836" in err) == (3, True)


def test_a_formula_of_several_values_is_refused() -> None:
    with pytest.raises(GradcliError) as raised:
        of("var w = 1.0\ny = w^2\nw.assign(2.0)\nz = y + 3*w\n", derived, of=["z"])
    assert raised.value.code == "E0804"


@pytest.mark.parametrize("seed", range(20))
def test_the_complex_step_goes_through_assignments(seed: int) -> None:
    text, reads, slope = program(Random(seed))
    (source,) = of(text, verify)["sources"]
    if source["elements"] and all(value for value, _ in reads):
        assert source["methods"]["complex"] is None, (text, source)
        assert source["elements"][0]["complex"] == pytest.approx(slope), text
