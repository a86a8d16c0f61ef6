"""Problem sheets: what they say, and where what is wrong with them stands."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.base.errors import GradcliError
from gradcli.homework.sheets.formats import MAX_BYTES, open_sheet, parse, spans
from gradcli.homework.sheets.sheet import Sheet

SHEET = '''\
schema = 1
[sheet]
id = "calc1-hw3"                # a comment
title = "Chain rule"
log = "ten"
rtol = 1e-9
[credit]
missing_chain_factor = 0.5
sign_error = 0.75
[late]
penalty = 0.2
[[problem]]
id = "1a"
function = "x^2 sin(x)"
wrt = "x"
points = 2
[[problem]]
id = "2"
kind = "gradient"
function = "x^2 + 3xy"
wrt = ["x", "y"]
points = 3
log = "natural"
domain.x = [0, 5]
[problem.credit]
sign_error = 0.25
'''


def refused(text: str, name: str = "hw.toml") -> list[tuple[str, str, str]]:
    """(code, marked text, help) of all that is wrong with a sheet."""
    with pytest.raises(GradcliError) as caught:
        parse(text, name)
    found = []
    for one in caught.value.diagnostics:
        assert one.source is not None
        assert one.span is not None
        assert one.source.name == name
        found.append((one.code, one.source.text[slice(*one.span)], one.help or ""))
    return found


def test_a_sheet_says() -> None:
    sheet = parse(SHEET, "hw.toml")
    assert (sheet.id, sheet.title, sheet.late, sheet.seed) == ("calc1-hw3", "Chain rule", 0.2, 0)
    assert sheet.ids == ["1a", "2"]
    assert sheet.max_score == 5
    first, second = sheet.problems
    assert (first.log, first.rtol, second.log) == ("ten", 1e-9, "natural")
    assert first.credit == {"missing_chain_factor": 0.5, "sign_error": 0.75}
    assert second.credit == {"missing_chain_factor": 0.5, "sign_error": 0.25}
    assert second.domain == {"x": (0.0, 5.0)}
    assert "2" in sheet
    assert "3" not in sheet
    assert sheet["2"] is second


def test_what_a_sheet_need_not_say() -> None:
    sheet = parse('[[problem]]\nid = 7\nfunction = "x^2"\n', "folder/week 3.toml")
    assert (sheet.id, sheet.ids, sheet.late) == ("week 3", ["7"], 0.0)


def test_the_hash_is_that_of_the_text() -> None:
    assert parse(SHEET, "a.toml").hash == parse(SHEET, "b.toml").hash
    assert parse(SHEET, "a.toml").hash != parse(SHEET + "\n", "a.toml").hash


@pytest.mark.parametrize(("old", "new", "expected"), [
    ("[[problem]]\nid = \"1a\"", "[[problems]]\nid = \"1a\"", [
        ("E0701", "[[problems]]", "did you mean `problem`?")]),
    ("[credit]", "[crdit]", [("E0701", "[crdit]", "did you mean `credit`?")]),
    ("title =", "titel =", [("E0701", "titel", "did you mean `title`?")]),
    ("points = 3", "pionts = 3", [("E0701", "pionts", "did you mean `points`?")]),
    ("penalty = 0.2", "penalti = 0.2", [("E0701", "penalti", "did you mean `penalty`?")]),
    ('"gradient"', '"gradeint"', [("E0701", '"gradeint"', "did you mean `gradient`?")]),
    ('"ten"', '"tenn"', [("E0701", '"tenn"', "did you mean `ten`?")]),
    ('id = "2"\n', "", [("E0702", "[[problem]]", 'write id = "1a"')]),
    ("points = 3", "points = true", [("E0703", "true", "write points = 2")]),
    ("points = 2", "points = -2", [("E0703", "-2", "write points = 2")]),
    ("1e-9", "0.5", [("E0703", "0.5", "write rtol = 1e-8")]),
    ("0.75", "1.5", [("E0703", "1.5", "write sign_error = 0.5")]),
    ("0.25", "[]", [("E0703", "[problem.credit]", "write credit = {sign_error = 0.5}")]),
    ("penalty = 0.2", "penalty = 20", [("E0703", "20", "write penalty = 0.1")]),
    ('id = "2"', 'id = "2 b"', [("E0703", '"2 b"', 'write id = "1a"')]),
    ('id = "2"', "id = 2.10", [("E0703", "2.10", 'write id = "1a"')]),
    ('id = "2"', 'id = "1A"', [("E0706", '"1A"', "give each problem an id of its own")]),
    ("schema = 1", "schema = 2", [("E0708", "2", "install a later gradcli")]),
    ("schema = 1", 'schema = "1"', [("E0703", '"1"', "write schema = 1")]),
    ("[0, 5]", "[5, 0]", [("E0703", "[5, 0]", "write domain = {x = [0, 5]}")]),
    ('"Chain rule"', "3", [("E0703", "3", 'write title = "..."')]),
    ('"Chain rule"', "Chain rule", [
        ("E0709", "Chain rule", 'texts stand in quotes, such as function = "x^2"')]),
])
def test_what_is_wrong_has_a_place(old: str, new: str, expected: list[tuple[str, str, str]]
                                   ) -> None:
    assert SHEET.count(old) == 1
    text = SHEET.replace(old, new)
    assert refused(text) == expected


def test_everything_wrong_is_told_in_the_order_of_the_text() -> None:
    text = SHEET.replace("title", "titel").replace("wrt =", "wtr =").replace("points = 3",
                                                                             "points = []")
    assert [(code, place) for code, place, _ in refused(text)] == [
        ("E0701", "titel"), ("E0701", "wtr"), ("E0701", "wtr"), ("E0703", "[]")]


@pytest.mark.parametrize("text", [
    "x = " + "[" * 5000, "[[problem]\nid = 1", "[[problem]]\r\nid = \r\n", "a = 1" + "0" * 5000,
    '[[problem]]\nid = "1"\nid = "2"', "[sheet]\n= 3", "[[problem]]\nfunction = 'x\n"])
def test_what_is_no_toml(text: str) -> None:
    (code, _, help), = refused(text)
    assert code == "E0709"
    assert help


def test_the_place_of_a_syntax_error_counts_crlf() -> None:
    with pytest.raises(GradcliError) as caught:
        parse('schema = 1\r\n[sheet]\r\nid = x^2\r\n', "hw.toml")
    source, span = caught.value.source, caught.value.span
    assert source is not None
    assert span is not None
    assert source.position(span[0]) == (3, 6)


@pytest.mark.parametrize(("text", "expected"), [
    ("", ("E0702", "")), ("problem = 3", ("E0703", "problem")),
    ("[[problem]]", ("E0702", "[[problem]]")), ("problem = [1]", ("E0703", "1")),
    ("sheet = 1\n[[problem]]\nid=1\nfunction='x'", ("E0703", "1"))])
def test_hardly_a_sheet(text: str, expected: tuple[str, str]) -> None:
    assert refused(text)[0][:2] == expected


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "hw.toml"
    file.write_bytes(b"\xef\xbb\xbf" + SHEET.replace("\n", "\r\n").encode())
    sheet = open_sheet(str(file))
    assert (sheet.ids, sheet.path) == (["1a", "2"], str(file))
    file.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(GradcliError, match="larger than 1 MiB"):
        open_sheet(str(file))
    with pytest.raises(GradcliError) as caught:
        open_sheet(str(tmp_path / "hv.toml"))
    assert caught.value.code == "E0601"


# --- other forms --------------------------------------------------------------------------------

def test_csv() -> None:
    text = 'id;function;wrt;points\n1a;x^2 sin(x);x;2\n\n2;"x^2; y";"x,y";0.5\n'
    sheet = parse(text, "hw.csv")
    assert sheet.id == "hw"
    assert [(p.id, p.function, p.wrt, p.points, p.kind) for p in sheet.problems] == [
        ("1a", "x^2 sin(x)", ("x",), 2.0, "derivative"), ("2", "x^2; y", ("x", "y"), 0.5,
                                                          "gradient")]


def test_csv_with_further_fields() -> None:
    text = "ID,Function,order,hidden,accept,kind\n1,x^3,2,yes,6x; 6*x,derivative\n2,x,,,,\n"
    first, second = parse(text, "hw.csv").problems
    assert (first.order, first.hidden, first.accept) == (2, True, ("6x", "6*x"))
    assert (second.order, second.hidden, second.accept) == (1, False, ())


@pytest.mark.parametrize(("text", "expected"), [
    ("id,functon\n1,x\n", ("E0701", "functon")),
    ("id,wrt\n1,x\n", ("E0702", "id,wrt")),
    ("id,id,function\n", ("E0706", "id")),
    ("id,function\n1,x*y,x,y\n", ("E0709", "x,y")),
    ("id,function\n1,x\n1,y\n", ("E0706", "1")),
    ("id,function,points\n1,x,-1\n", ("E0703", "-1")),
    ("id,function,hidden\n1,x,maybe\n", ("E0703", "maybe")),
    ("id,function\n1,\n", ("E0702", "1,")),
    ('id,function\n1,"x\n', ("E0709", '"')),
    ("", ("E0702", "")), ("id,function\n", ("E0702", ""))])
def test_csv_that_is_wrong(text: str, expected: tuple[str, str]) -> None:
    assert refused(text, "hw.csv")[0][:2] == expected


def test_a_list() -> None:
    text = "# week 3\n1a: x^2 sin(x)\r\n\n  2 :  e^(2x)\n"
    assert [(p.id, p.function) for p in parse(text, "hw.txt").problems] == [
        ("1a", "x^2 sin(x)"), ("2", "e^(2x)")]


@pytest.mark.parametrize(("text", "expected"), [
    ("1a x^2\n", ("E0709", "1a x^2")), ("1a: x\n1A: y\n", ("E0706", "1A")),
    ("1a:\n", ("E0702", "1a:")), ("a b: x", ("E0709", "a b: x"))])
def test_a_list_that_is_wrong(text: str, expected: tuple[str, str]) -> None:
    assert refused(text, "hw.txt")[0][:2] == expected


# --- places -------------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "name"), [
    (SHEET, "hw.toml"), ("# week 3\n1a:  x^2 sin(x)\n2: x\n", "hw.txt"),
    ('id,function\n1a,"x^2 sin(x)"\n2,x\n', "hw.csv")])
def test_errors_of_a_function_get_the_place_in_the_sheet(text: str, name: str) -> None:
    from gradcli.base.errors import error

    sheet = parse(text, name)
    at = text.index("x^2 sin(x)")
    for inside, place in (((4, 7), (at + 4, at + 7)), (None, sheet.place("1a", "function"))):
        moved = sheet.located("1a", error("E0710", "what is this", inside))
        assert moved.span == place
    start, end = sheet.place("1a", "function")
    assert text[start:end].strip('"') == "x^2 sin(x)"
    escaped = parse(SHEET.replace("x^2 sin", r"x^2 \u0073in"), "hw.toml")
    moved = escaped.located("1a", error("E0710", "what is this", (4, 7)))
    assert moved.span is not None
    assert escaped.source.text[slice(*moved.span)] == r'"x^2 \u0073in(x)"'


NAMES = st.sampled_from(["a", "b-c", "0", '"d e"', "'f.g'", r'"\u0068"'])
SCALARS = st.sampled_from([
    "1", "-1.5e3", "true", "1979-05-27T07:32:00Z", '"x # y"', r'"q \" ] }"', "'l ] \\'",
    '"""m\n"" # ]"""', "'''n\n'' ]'''", '""', "''", '"""""x"""""'])


def values(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tables = st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    return st.one_of(
        st.lists(inner, max_size=3).map(lambda v: "[ " + ", # c ]\n".join(v) + "\n]"),
        st.lists(inner, max_size=2).map(lambda v: f"[{','.join(v)}]"),
        tables.map(lambda t: "{" + " , ".join(f"{k}\t= {v}" for k, v in t.items()) + "}"))


VALUES = st.recursive(SCALARS, values, max_leaves=6)


@st.composite
def documents(draw: st.DrawFn) -> str:
    lines = []
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            names = draw(st.lists(NAMES, min_size=1, max_size=2))
            mark = draw(st.sampled_from(["[%s]", "[[%s]]"]))
            lines.append(mark % " . ".join(names))
        for name in draw(st.lists(NAMES, max_size=3, unique=True)):
            lines.append(f"{name} = {draw(VALUES)}  # [c]")
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines)


@given(documents())
def test_the_places_of_values_are_where_they_stand(text: str) -> None:
    """What stands at the place of a value reads back as that value."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    found = spans(text)
    leaves = dict(_leaves(document, ()))
    assert set(leaves) <= set(found)
    for path, value in leaves.items():
        start, end = found[path][1]
        assert tomllib.loads(f"v = {text[start:end]}")["v"] == value


def _leaves(value: Any, path: tuple[str | int, ...]) -> Any:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            yield from _leaves(inner, (*path, k))
    else:
        yield path, value


@given(st.text())
def test_any_text_is_a_sheet_or_an_error(text: str) -> None:
    for name in ("hw.toml", "hw.csv", "hw.txt"):
        try:
            read: object = parse(text, name)
        except GradcliError as failure:
            read = failure
        assert isinstance(read, Sheet) or str(read).find("error[E07") >= 0


@pytest.mark.parametrize(("function", "meant"), [
    ("x^-1/2", "x^(-1/2)"), ("x^1/3", "x^(1/3)"), ("x^-2/3 + 1", "x^(-2/3) + 1"),
    ("√2x", "sqrt(2*x)"), ("√xy", "sqrt(x*y)"), ("sqrt x+1", "sqrt(x + 1)"),
    ("√x-1", "sqrt(x - 1)"), ("∛x+1", "cbrt(x + 1)"), ("log x", "ln"), ("3 log(x)", "ln"),
    ("x^2/2", ""), ("x^(1/3)", ""), ("x^-1 / 2", ""), ("√2 x", ""), ("sqrt x + 1", ""),
    ("sqrt(x)+1", ""), ("sin x+1", ""), ("ln x", ""), ("x log_2 x", ""), ("log2(x)", ""),
    ("\\\\sqrt2x", ""), ("x^{-1}/2", "")])
def test_lint_tells_what_may_be_meant(function: str, meant: str) -> None:
    from gradcli.homework.lint import lint

    text = f'[[problem]]\nid = "1"\nfunction = "{function}"\nwrt = "x"\nparameters = "y"\n'
    found, wrong = lint(parse(text, "sheet.toml"))
    assert not wrong
    told = [w for w in found["problems"][0]["warnings"] if "meant" in w or "`log`" in w]
    assert len(told) == bool(meant), told
    assert (f"`{meant}`" in told[0] or f"write {meant}" in told[0]) if meant else not told


def test_lint_tells_letters_that_nobody_declared() -> None:
    from gradcli.homework.lint import lint

    text = ('[[problem]]\nid = "1"\nfunction = "sni(x)"\nwrt = "x"\n[[problem]]\nid = "2"\n'
            'function = "a x^2"\nwrt = "x"\nparameters = "a"\n[[problem]]\nid = "3"\n'
            'function = "x^2"\nwrt = "t"\n')
    found, wrong = lint(parse(text, "sheet.toml"))
    assert not wrong
    first, second, third = [p["warnings"] for p in found["problems"]]
    assert any(w.startswith("s, n, i are taken for constants") for w in first)
    assert not any("constant" in w for w in second)
    assert "the function does not depend on t" in third
