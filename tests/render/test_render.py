"""The text formats, read back by the standard library's own readers."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import struct
import sys

import jsonschema
import pytest
from commands import run
from conftest import folded
from folders import ROOT
from hand_made import (
    ALL,
    CHECKED,
    HESSIAN,
    HOSTILE,
    JACOBIAN,
    OPERATIONS,
    SIMPLE,
    SPECIAL,
    VALUES,
    VECTORS,
    Answer,
    hostile,
    slope,
)
from hand_made import grad as grad_answer

from gradcli import render
from gradcli.render import FORMATS, markdown, numbers
from gradcli.render import machine as writer
from gradcli.render.latex import name as latex_name
from gradcli.render.numbers import visible


def random_floats(count: int) -> list[float]:
    """Any bit pattern is a float."""
    draw = random.Random(7)
    return [struct.unpack("<d", draw.randbytes(8))[0] for _ in range(count)]


# --- numbers ----------------------------------------------------------------------------------

def test_exact_text_reads_back_to_the_same_bits() -> None:
    for value in [*random_floats(2000), 0.0, -0.0, 5e-324, 1e300, 6.0, 2.0 ** 60]:
        if value == value:
            assert struct.pack("<d", float(numbers.exact(value))) == struct.pack("<d", value)


@pytest.mark.parametrize(("value", "text"), [
    (6.0, "6"), (-0.0, "-0"), (0.1, "0.1"), (1e300, "1e+300"), (1e16, "1e+16"), (3, "3"),
    (float("nan"), "nan"), (float("inf"), "inf"), (-float("inf"), "-inf"), (None, "None"),
    (True, "true"), (False, "false"), ([1.0, [2.5]], "[1, [2.5]]"), ("text", "text"),
])
def test_exact_forms(value: object, text: str) -> None:
    assert numbers.exact(value) == text


@pytest.mark.parametrize(("value", "digits", "text"), [
    (6.0, 6, "6"), (0.0, 6, "0"), (-0.0, 6, "-0"), (0.5, 6, "0.5"), (1 / 3, 6, "0.333333"),
    (2 / 3, 3, "0.667"), (1e-17, 6, "1e-17"), (1.23456789e-17, 6, "1.23457e-17"),
    (0.0001, 6, "0.0001"), (0.00001, 6, "1e-05"), (123456.7, 6, "123457"),
    (1234567.5, 6, "1.23457e+06"), (1234567.0, 6, "1234567"), (1e300, 6, "1e+300"),
    (0.1 + 0.2, 6, "0.300000"), (0.99999999, 6, "1.00000"), (99999.99, 3, "100000"),
    (0.1, 17, "0.1"), (0.1 + 0.2, 17, "0.30000000000000004"), (12345.678, 17, "12345.678"),
    (float("nan"), 6, "nan"), (-float("inf"), 6, "-inf"), (None, 6, "None"), (7, 1, "7"),
])
def test_significant_forms(value: object, digits: int, text: str) -> None:
    assert numbers.significant(value, digits) == text


def test_significant_is_within_half_a_unit_and_never_zero_for_what_is_not() -> None:
    for value in random_floats(2000):
        if math.isfinite(value) and value:
            shown = float(numbers.significant(value, 6))
            assert shown != 0 or abs(value) < 1e-300
            assert math.isinf(shown) or math.isclose(shown, value, rel_tol=5.1e-6, abs_tol=1e-322)


def test_decimal_points_stand_below_each_other() -> None:
    texts = ["6", "-0.333333", "123.5", "1e-17", "1.5e+300", "None", "nan", "-inf"]
    shown = numbers.aligned(texts)
    assert len({len(text) for text in shown}) == 1
    assert [text.strip() for text in shown] == texts
    points = [text.index(".") for text in shown if "." in text]
    units = [text.rstrip().index("e") for text in (shown[3],)] + [len(shown[0].rstrip())]
    ends = [len(text.rstrip()) for text in shown[5:]]
    assert set(points + units + ends) == {points[0]}
    assert numbers.aligned([]) == []


def test_element_names() -> None:
    assert numbers.first_derivative("y", "x") == "dy/dx"
    assert numbers.first_derivative("y", "x", (), (0, 1)) == "dy/dx[0,1]"
    assert numbers.first_derivative("y", "x", (0,), (1,)) == "dy[0]/dx[1]"
    assert numbers.first_derivative("a,b", "x") == "d(a,b)/dx"
    assert numbers.second_derivative("y", "x", "x") == "d2y/dxdx"
    assert numbers.second_derivative("y", "v", "x", (0,)) == "d2y/dv[0]dx"
    assert numbers.indexed("y", (0,)) == "y[0]"
    assert numbers.indexed("y", ()) == "y"


def test_what_cannot_be_seen_is_escaped() -> None:
    assert visible("caf\u00e9 \u6f22 x\u0301") == "caf\u00e9 \u6f22 x\u0301"
    assert visible("\x1b[0m\u202e\u200b\n") == "\\x1b[0m\\u202e\\u200b\\n"
    assert visible("\ud800") == "\\ud800"


# --- JSON -------------------------------------------------------------------------------------

def test_json_writer_agrees_with_the_standard_reader() -> None:
    draw = random.Random(3)
    characters = ['"', "\\", "\n", "\x00", "\x1f", "\x7f", "\x9b", "\u2028", "\u202e", "\ud800",
                  "\U0001f600", "\U000e0001", "\u00e9", "a", " "]

    def value(depth: int) -> object:
        kind = draw.randrange(8 if depth else 5)
        if kind > 4:
            inner = [value(depth - 1) for _ in range(draw.randrange(4))]
            return inner if kind < 7 else {text(): item for item in inner}
        return [None, draw.random() < 0.5, draw.randrange(-2 ** 63, 2 ** 64), draw.gauss(0, 1e9),
                text()][kind]

    def text() -> str:
        return "".join(draw.choices(characters, k=draw.randrange(6)))

    for _ in range(2000):
        wanted = value(4)
        shown = writer.dump(wanted)
        assert json.loads(shown) == wanted
        assert "\n" not in shown
        assert shown.encode("utf-8")    # no lone surrogate is left


def test_json_keeps_printable_text_and_escapes_the_rest() -> None:
    assert writer.dump("\u03b1\u6f22") == '"\u03b1\u6f22"'
    assert writer.dump('a"\\\n\x1b') == '"a\\"\\\\\\n\\u001b"'
    assert writer.dump((1, [])) == "[1, []]"
    assert writer.dump({}) == "{}"


def test_json_writes_non_finite_numbers_as_strings() -> None:
    read = json.loads(render.text(SPECIAL, "json"), parse_constant=pytest.fail)
    a, b, _ = read["results"][0]["sources"]
    assert (a["at"], a["gradient"], b["gradient"]) == ("Infinity", "NaN", "-Infinity")
    assert math.copysign(1, b["at"]) == -1


@pytest.mark.parametrize("z", [1 + 3j, -0.1 - 2e300j, 2j, complex(math.inf, -0.0)])
def test_complex_numbers_read_back_from_json_and_csv(z: complex) -> None:
    wanted = [math.copysign(part, sign) for part, sign in ((abs(z.real), z.real),
                                                           (abs(z.imag), z.imag))]
    told = json.loads(writer.dump([z]))
    assert isinstance(told[0], str)
    for text in (told[0], numbers.exact(z)):
        assert [complex(text).real, complex(text).imag] == wanted


def test_json_refuses_what_has_no_form() -> None:
    with pytest.raises(TypeError, match="`object`"):
        writer.dump([object()])


@pytest.mark.parametrize("name", sorted(ALL))
def test_json_round_trip(name: str) -> None:
    shown = render.text(ALL[name], "json")
    assert shown.endswith("}\n")
    assert shown.count("\n") == 1
    if name != "special":
        assert json.loads(shown) == ALL[name]


def test_ndjson_has_an_object_per_result_with_what_is_common() -> None:
    objects = [json.loads(line) for line in render.text(VALUES, "ndjson").splitlines()]
    assert [one["of"] for one in objects] == [one["of"] for one in VALUES["results"]]
    assert all(one["schema"] == 1 and one["command"] == "eval" and one["file"] == "expr.txt"
               and "results" not in one for one in objects)
    names = [json.loads(line)["name"] for line in render.text(OPERATIONS, "ndjson").splitlines()]
    assert names == ["sin", "where"]


def schema(command: str) -> dict[str, object]:
    found = json.loads((ROOT / "gradcli" / "schemas" / f"{command}.schema.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("command", ["grad", "jac", "hess", "eval", "ops", "error"])
def test_schemas_are_schemas(command: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(command))


@pytest.mark.parametrize("name", sorted(ALL))
def test_answers_are_valid(name: str) -> None:
    jsonschema.validate(json.loads(render.text(ALL[name], "json")),
                        schema(ALL[name]["command"]), jsonschema.Draft202012Validator)


@pytest.mark.parametrize("wrong", [
    {"gradient": "six"}, {"gradient": {"x": 1}}, {"shape": [-1]}, {"reasons": [{"code": "x"}]},
    {"wrt": None}, {"notes": None},
])
def test_schemas_refuse_wrong_sources(wrong: dict[str, object]) -> None:
    answer = grad_answer({**slope("x", 3.0, 6.0), **wrong})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(answer, schema("grad"), jsonschema.Draft202012Validator)


# --- plain ------------------------------------------------------------------------------------

@pytest.mark.parametrize(("answer", "text"), [
    (SIMPLE, "dy/dx\t6\ndy/dc\tNone\n"),
    (CHECKED, "dy/dx\t6\t6.0000001\ndy/dz\t2\t3\n"),
    (SPECIAL, "dy/da\tnan\ndy/db\t-inf\ndy/dc\t1e-17\n"),
    (HESSIAN, "d2z/dxdx\t2\nd2z/dxdv[0]\t0.1\nd2z/dxdv[1]\t22\nd2z/dv[0]dx\t0.1\nd2z/dv[1]dx\t22\n"
     "d2z/dv[0]dv[0]\t1.5\nd2z/dv[0]dv[1]\t0\nd2z/dv[1]dv[0]\t0\n"
     "d2z/dv[1]dv[1]\t0.3333333333333333\n"
     "eigenvalue[0]\t-1\neigenvalue[1]\t0.5\neigenvalue[2]\t22\ndefiniteness\tindefinite\n"),
    (JACOBIAN, "dy[0]/dx[0]\t1\ndy[0]/dx[1]\t0\ndy[0]/dx[2]\t0.3333333333333333\n"
     "dy[1]/dx[0]\t12.5\ndy[1]/dx[1]\t2\ndy[1]/dx[2]\t1e-09\ndy/dc\tNone\n"),
    (VALUES, "y\t9\nA[0,0]\t1\nA[0,1]\t2\nA[1,0]\t3\nA[1,1]\t4.5\nname\ttext\nholds\ttrue\n"
     "parts[w]\t1\nparts[rest,0]\t2\nparts[rest,1,0]\t3\n"),
    (OPERATIONS, "sin\tcos(x)\nwhere\tNone, c, 1 - c\n"),
], ids=lambda value: value.get("command", "") if isinstance(value, dict) else "")
def test_plain(answer: Answer, text: str) -> None:
    assert render.text(answer, "plain") == text


def test_hessian_of_a_block_without_values_uses_the_point_or_its_own_shape() -> None:
    result = {**HESSIAN["results"][0], "at": {}}
    assert render.text({**HESSIAN, "results": [result]}, "plain") == render.text(HESSIAN, "plain")


def test_missing_keys_are_absent() -> None:
    answer = {"command": "grad", "results": [{"of": "y", "sources": [{"wrt": "x"}]}]}
    assert render.text(answer, "plain") == "dy/dx\tNone\n"
    for format in FORMATS:
        for command in ("grad", "jac", "hess", "eval"):
            render.text({"command": command, "results": [{"of": "y"}]}, format)
            render.text({"command": command}, format)


# --- CSV --------------------------------------------------------------------------------------

def rows(answer: Answer, format: str = "csv") -> list[dict[str, str]]:
    delimiter = "\t" if format == "tsv" else ","
    return list(csv.DictReader(io.StringIO(render.text(answer, format)), delimiter=delimiter))


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_delimited_gradients(format: str) -> None:
    assert rows(SIMPLE, format) == [
        {"of": "y", "value": "9", "wrt": "x", "at": "3", "gradient": "6", "reason": ""},
        {"of": "y", "value": "9", "wrt": "c", "at": "2", "gradient": "None",
         "reason": "source-constant-unwatched"}]
    found = rows(VECTORS, format)
    assert [(row["wrt"], float(row["at"]), float(row["gradient"])) for row in found] == [
        ("w[0]", 1, 0.25), ("w[1]", 2.5, 1 / 3), ("w[2]", -3, -1e-17),
        ("A[0,0]", 1, 1.5), ("A[0,1]", 2, -20.25), ("A[1,0]", 3, 1 / 3), ("A[1,1]", 4, 4),
        ("k", 3, 0)]


def test_delimited_columns() -> None:
    assert list(rows(JACOBIAN)[0]) == ["of", "wrt", "jacobian", "reason"]
    assert rows(JACOBIAN)[3] == {
        "of": "y[1]", "wrt": "x[0]", "jacobian": "12.5", "reason": ""}
    assert list(rows(HESSIAN)[0]) == ["of", "row", "col", "hessian", "reason"]
    assert rows(HESSIAN)[2] == {
        "of": "z", "row": "x", "col": "v[1]", "hessian": "22", "reason": ""}
    assert rows(VALUES)[1] == {"of": "A[0,0]", "value": "1"}
    assert [row["check"] for row in rows(CHECKED)] == ["6.0000001", "3"]
    assert rows(OPERATIONS)[1]["derivative"] == "None; c; 1 - c"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\0", "\uff1d"])
def test_no_text_cell_is_a_formula(start: str) -> None:
    (row,) = rows(grad_answer(slope(f"{start}cmd()", -1.0, -2.0), of=f"{start}1"))
    assert row["of"].startswith("'")
    assert row["wrt"].startswith("'")
    assert (row["at"], row["gradient"]) == ("-1", "-2")    # numbers stay numbers


# --- Markdown and LaTeX -----------------------------------------------------------------------

def test_markdown_gradient() -> None:
    assert render.text(SIMPLE, "markdown") == """\
`y` = 9 at `x` = 3, `c` = 2

| source | at | gradient |
| :-- | --: | --: |
| `x` | 3 | 6 |
| `c` | 2 | None |

- `dy/dc` is None: `c` is a constant and nothing watches it (line 2); fix: `var c = 2.0`
"""


def test_markdown_matrices_have_names_on_both_sides() -> None:
    lines = render.text(HESSIAN, "markdown").splitlines()
    assert "|  | `x` | `v[0]` | `v[1]` |" in lines
    assert "| `v[1]` | 22 | 0 | 0.3333333333333333 |" in lines
    assert "- definiteness: indefinite" in lines
    assert "| `y[1]` | 12.5 | 2 | 1e-09 | None |" in render.text(JACOBIAN, "markdown").splitlines()


def test_markdown_prose_keeps_code_and_loses_markup() -> None:
    assert markdown.prose("use `a|b_c` *now*") == "use `a\\|b_c` \\*now\\*"
    assert markdown.prose("one ` tick") == "one \\` tick"
    assert markdown.prose("[link](x) <b>") == "\\[link\\](x) \\<b\\>"
    assert markdown.code("a`b") == "`` a`b ``"


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_tables_keep_their_shape(text: str) -> None:
    for answer in hostile(text):
        widths = set()
        for line in render.text(answer, "markdown").splitlines():
            if line.startswith("|"):
                widths.add(line.replace("\\|", "").count("|"))
            else:
                widths.clear()
            assert len(widths) < 2, line


def test_latex_gradient() -> None:
    assert render.text(SIMPLE, "latex") == r"""\begin{align*}
\frac{\partial y}{\partial x} &= 6 \\
\frac{\partial y}{\partial c} &= \text{None}
\end{align*}
% dy/dc: `c` is a constant and nothing watches it (line 2)
"""


def test_latex_matrices() -> None:
    assert "12.5 & 2 & 1 \\times 10^{-9}\n\\end{pmatrix}" in render.text(JACOBIAN, "latex")
    shown = render.text(HESSIAN, "latex")
    assert "\\nabla^2_{x,v} z &= \\begin{pmatrix}\n  2 & 0.1 & 22 \\\\\n" in shown
    assert "\\lambda &= -1,\\; 0.5,\\; 22" in shown


@pytest.mark.parametrize(("name", "shown"), [
    ("x", "x"), ("x_1", "x_{1}"), ("x1", "x_{1}"), ("alpha", "\\alpha"), ("\u03b1", "\\alpha"),
    ("alpha_0", "\\alpha_{0}"), ("rate", "\\mathrm{rate}"), ("x_max", "x_{\\mathrm{max}}"),
    ("w_1_2", "w_{1,2}"), ("a{b}$", "\\text{a\\{b\\}\\$}"), ("_", "\\text{\\_}"),
])
def test_latex_names(name: str, shown: str) -> None:
    assert latex_name(name) == shown


@pytest.mark.parametrize("text", HOSTILE)
def test_latex_braces_balance(text: str) -> None:
    for answer in hostile(text):
        body = "\n".join([line for line in render.text(answer, "latex").splitlines()
                          if not line.startswith("%")])
        body = body.replace("\\\\", "").replace("\\{", "").replace("\\}", "")
        assert body.count("{") == body.count("}")


# --- all formats ------------------------------------------------------------------------------

@folded
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("text", HOSTILE)
def test_no_format_lets_controls_through(text: str, format: str) -> None:
    for answer in hostile(text):
        shown = render.text(answer, format)
        assert all(c.isprintable() or c in "\n\t" for c in shown)
        assert shown.endswith("\n")


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown format `xml`"):
        render.text(SIMPLE, "xml")


def test_the_start_up_path_imports_builtins_only() -> None:
    """Not even the standard library: nothing but gradcli's own is read from a file."""
    code = ("import sys; before = set(sys.modules)\n"
            "import gradcli.render, gradcli.render.plain, gradcli.render.machine\n"
            "import gradcli.render.numbers\n"
            "print(*[n for n in set(sys.modules) - before if n.split('.')[0] != 'gradcli'"
            " and n not in sys.builtin_module_names])\n"
            "print(*[n for n in sys.modules if n.startswith('gradcli.')"
            " and not n.startswith('gradcli.render')])")
    ran = run(sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
              + code)
    assert ran.returncode == 0, ran.stderr
    foreign, own = ran.stdout.split("\n")[:2]
    assert set(foreign.split()) <= {"__future__"}
    assert set(own.split()) <= {"gradcli.base.errors", "gradcli._version"}
