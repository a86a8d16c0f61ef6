"""The catalogue of causes: one small program for each in samples/none/, named after its code.

The table was written by hand from the design's catalogue ("where" and "fix"). Numbers are those of
the mended programs, by hand; TensorFlow 2.21 gives None for the same programs (path-no-rule,
tape-consumed and tape-not-entered raise).
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import folded
from folders import ROOT
from transcripts import blocks, header_commands, in_process, on_terminal, steps

from gradcli.explain import catalogue
from gradcli.explain.missing.causes import CAUSES as ROWS

FOLDER = ROOT / "samples/none"


class Cause(NamedTuple):
    """place: LINE:COLUMN-END, an end is exclusive; text: what stands there; related: lines named
    besides; fix: what to write, or words of the sentence that says it; works: what is said of it;
    mended: the derivative once the fix stands in the file.
    """

    place: str
    text: str
    related: tuple[int, ...]
    fix: str | tuple[str, ...] | None
    works: bool | None
    mended: Any = None


CAUSES = {
    # The source.
    "source-constant-unwatched": Cause(
        "4:1-8", "const x", (6,), "t.watch(x)", True, 2*(0.5*3 - 1)*0.5),
    "source-nontrainable": Cause(
        "3:18-33", "trainable=false", (), "var first = 0.5", True,
        2*(-1.5*math.tanh(1) - 1)*-1.5*2*(1 - math.tanh(1)**2)),
    "source-auto-watch-off": Cause(
        "5:9-39", "watch_accessed_variables=false", (), "t.watch(b)", True, 2*(6 + 0.5 - 1)),
    "source-not-watched-on-this-tape": Cause(
        "6:5-22", "of_input.watch(x)", (), "of_weight.watch(x)", True, 2*(1 - 3)*0.5),
    "source-watched-late": Cause(
        "5:14-17", "r^2", (7,), ("move t.watch(r)", "line 5"), True, 16*math.pi),
    "source-watch-reset": Cause(
        "7:5-14", "t.reset()", (8,), ("t.watch(x)", "after"), True, 3*4.0),
    "source-dtype": Cause(
        "3:12-17", "int64", (), "var turns = 40", True, math.pi/2),
    "source-is-copy": Cause(
        "5:13-17", "w[0]", (6,), ("w itself",), True, [2*(3 + 2 - 1)*3.0, 2*(3 + 2 - 1)*1.0]),
    "source-rebound": Cause(
        "6:1-2", "w", (3,), "w.assign_sub(0.1*2*(w - 5))", True, 2*(2 - 5.0)),
    "source-after-target": Cause(
        "6:9-14", "price", (5,), ("after",), None),
    "source-downstream": Cause(
        "6:5-27", "t.gradient(side, area)", (5,), "g = t.gradient(area, side)", True, 6.0),
    "source-unrelated": Cause(
        "3:5-10", "rooms", (), ("space",), None),
    "source-untaken-branch": Cause(
        "6:8-13", "x > 0", (9,), "y = where(x > 0, x, leak*x)", True, 0.0),
    "source-condition-only": Cause(
        "5:17-27", "speed > 50", (), ("sigmoid",), None),
    "source-not-picked": Cause(
        "7:8-30", "offers[argmax(offers)]", (), ("max",), None),
    "source-shadowed": Cause(
        "5:14-20", "weight", (3,), ("weight",), True, 3.0),
    "source-computed-twice": Cause(
        "8:5-6", "y", (7,), "compute maps once, and y from it", None),
    "source-in-dead-code": Cause(
        "6:1-24", "for k in range(rounds):", (), None, None),
    # The path.
    "path-stop-gradient": Cause(
        "4:9-27", "stop_gradient(3*w)", (), "3*w", True, 2*(1.5 - 1)*3),
    "path-dtype-cast": Cause(
        "4:9-23", "int(100*price)", (),
        "100*price + stop_gradient(float(int(100*price)) - 100*price)", True, 250.0),
    "path-nondifferentiable": Cause(
        "5:9-18", "w*x > 0.5", (), ("sigmoid",), None),
    "path-step-function": Cause(
        "4:9-23", "floor(items/3)", (),
        "items/3 + stop_gradient(floor(items/3) - items/3)", True, 5/3),
    "path-value-independent": Cause(
        "4:12-25", "zeros_like(w)", (), None, None),
    "path-state-write": Cause(
        "5:1-26", "total.assign_add(payment)", (6,), "total = total + payment", True, 8.0),
    "path-rebound": Cause(
        "7:5-10", "total", (8,), "bind total before the loop", None),
    "path-left-engine": Cause(
        "4:10-20", "np.mean(x)", (), "mean(x)", True, [2*(7/3 - 1)/3]*3),
    "path-stop-recording": Cause(
        "7:17-20", "3*w", (5,), ("move guess = 3*w",), True, 2*(1.5 - 1)*3),
    "path-outside-tape": Cause(
        "6:8-21", "(guess - 1)^2", (4,), ("move",), True, 2*(1.5 - 1)*3),
    "path-reset": Cause(
        "7:5-14", "t.reset()", (6,), ("reset",), True, 2*(1.5 - 1)*3),
    "path-custom-none": Cause(
        "6:9-35", "return upstream*gain, none", (), ("gradient",), None),
    "path-custom-internal": Cause(
        "11:17-26", "scaled(x)", (), "ask for x instead", None),
    "path-gradient-not-recorded": Cause(
        "7:6-26", "inner.gradient(y, x)", (4,), ("move", "outer"), True, 12.0),
    # The target and the question.
    "target-constant": Cause(
        "5:1-5", "loss", (), ("guess",), None),
    "target-dtype": Cause(
        "4:9-21", "int(3*items)", (), "3*items", True, 3.0),
    "target-consumed": Cause(
        "6:22-38", "t.gradient(y, x)", (7,), "tape t, persistent=true:", True, 6.0),
    "target-empty": Cause(
        "7:5-26", "t.gradient(losses, w)", (), None, None),
    "forward-wrong-order": Cause(
        "7:11-34", "inner.jvp(outer.jvp(y))", (), "d2y = outer.jvp(inner.jvp(y))", True, 12.0),
}
# Errors: code, place, text, words of the help.
ERRORS = {
    "path-no-rule": ("E0503", "6:22-54", "adjust_contrast(picture, amount)", "@gradient_of"),
    "tape-consumed": ("E0501", "8:18-34", "t.gradient(y, x)", "tape t, persistent=true:"),
    "tape-not-entered": ("E0502", "6:18-28", "grad(y, x)", "t.gradient(y, x)"),
}
# A note on a 0.
NOTE = ("derivative-constant", 4, 1)


def program(code: str) -> Path:
    return FOLDER / f"{code}.txt"


def answer(code: str, file: Path | None = None) -> tuple[int, dict[str, Any]]:
    """Status and answer of the command in the program's second line."""
    (command,) = header_commands(program(code))
    if file is not None:
        command = [str(file) if word.endswith(f"{code}.txt") else word for word in command]
    status, out, err = in_process([*command, "--format", "json"])
    return status, json.loads(out if status == 0 else err.splitlines()[-1])


def derivatives(found: dict[str, Any]) -> list[dict[str, Any]]:
    """All derivatives of an answer: those of the sources, or what a run printed."""
    if found["command"] == "run":
        return [value for line in found["printed"] for value in line["values"]
                if not isinstance(value["value"], str)]
    return [source for result in found["results"] for source in result["sources"]]


def number(one: dict[str, Any]) -> Any:
    return one["gradient"] if "gradient" in one else one["value"]


def missing(code: str) -> dict[str, Any]:
    """The one derivative that is None."""
    status, found = answer(code)
    assert status == 0
    (one,) = [one for one in derivatives(found) if number(one) is None]
    return one


def place(one: dict[str, Any]) -> str:
    assert one["line"] == one["end_line"]
    return f"{one['line']}:{one['column']}-{one['end_column']}"


# --- the folder -------------------------------------------------------------------------------


def test_the_samples_are_all_codes() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(ROWS)
    assert {path.stem for path in FOLDER.glob("*.expected")} == set(ROWS)
    assert {*CAUSES, *ERRORS, NOTE[0]} == set(ROWS)
    assert {code for code, row in ROWS.items() if row.error} == set(ERRORS)


@folded
@pytest.mark.parametrize("code", ROWS)
def test_a_sample_is_short_and_says_what_was_wanted(code: str) -> None:
    wish, command, *lines = program(code).read_text(encoding="utf-8").splitlines()
    assert wish.startswith("# ")
    assert wish.endswith((".", "?", ")"))
    assert command.startswith("# gradcli ")
    assert len(lines) <= 12
    assert "#" not in "".join(lines)


@folded
@pytest.mark.parametrize("code", [*CAUSES, *ERRORS])
def test_the_table_names_the_places_of_the_texts(code: str) -> None:
    where, text = CAUSES[code][:2] if code in CAUSES else ERRORS[code][1:3]
    line, columns = where.split(":")
    start, end = map(int, columns.split("-"))
    assert program(code).read_text(encoding="utf-8").splitlines()[int(line) - 1][
        start - 1:end - 1] == text


# --- what is said -----------------------------------------------------------------------------


@folded
@pytest.mark.parametrize("code", CAUSES)
def test_cause_place_and_fix(code: str) -> None:
    expected = CAUSES[code]
    reason = missing(code)["reasons"][0]
    assert reason["code"] == code
    assert place(reason) == expected.place
    assert [line for line in expected.related
            if line not in [r["line"] for r in reason["related"]]] == []
    if isinstance(expected.fix, tuple):
        assert [word for word in expected.fix if word not in (reason["fix"] or "")] == []
    elif expected.fix is not None:
        assert reason["fix"] == expected.fix
    assert reason["fix_works"] is expected.works


@pytest.mark.parametrize("code", CAUSES)
def test_every_cause_between_names_of_a_file_has_a_place(code: str) -> None:
    names = re.findall(r"^ *(?:var |input )?(\w+) = ", program(code).read_text("utf-8"), re.M)
    for of, wrt in itertools.permutations(dict.fromkeys(names), 2):
        status, out, _ = in_process(
            ["grad", str(program(code)), "--of", of, "--wrt", wrt, "--format", "json"])
        if status != 3:
            for source in json.loads(out)["results"][0]["sources"]:
                assert all(reason["line"] for reason in source["reasons"]), (of, wrt)


MECHANICAL = [code for code, cause in CAUSES.items() if cause.works]


@pytest.mark.parametrize("code", MECHANICAL)
def test_the_fix_gives_the_derivative(code: str, tmp_path: Path) -> None:
    file = tmp_path / f"{code}.txt"
    file.write_bytes(program(code).read_bytes())
    (command,) = header_commands(program(code))
    options = command[2:]
    status, _, err = in_process(["why", str(file), *options, "--fix", "--write"])
    assert status == 0, err
    assert file.read_bytes() != program(code).read_bytes()
    found = [number(one) for one in derivatives(answer(code, file)[1])]
    assert None not in found
    index = [number(one) for one in derivatives(answer(code)[1])].index(None)
    assert found[index] == pytest.approx(CAUSES[code].mended, rel=1e-12, abs=0)


@pytest.mark.parametrize("code", ERRORS)
def test_errors(code: str) -> None:
    status, found = answer(code)
    assert status == 3
    assert found["error"]["code"] == ERRORS[code][0] == ROWS[code].error
    assert place(found["error"]) == ERRORS[code][1]
    assert ERRORS[code][3] in found["error"]["help"]


def test_a_constant_derivative_is_a_note_on_0() -> None:
    status, found = answer(NOTE[0])
    assert status == 0
    (block,) = found["results"][0]["blocks"]
    assert (block["hessian"], block["reasons"]) == (0.0, [])
    (note,) = block["notes"]
    assert (note["code"], note["line"], note["column"]) == NOTE


def test_the_catalogue_has_all_codes_that_the_package_says() -> None:
    known = {*ROWS, *catalogue.NAN, *catalogue.ZERO, *catalogue.NOTES}
    said = set()
    for path in (ROOT / "gradcli").rglob("*.py"):
        if path.name not in ("catalogue.py", "frameworks.py"):
            text = re.sub(r'\bCause\("[a-z-]+"', "", path.read_text(encoding="utf-8"))
            said |= set(re.findall(
                r'"((?:source|path|target|tape|nan|zero|forward|derivative)-[a-z-]+)"', text))
            if "homework" not in path.parts:  # which notes what it did not read
                said |= set(re.findall(r'\b(?:Note|Reason)\(\s*"([a-z-]+)"', text))
    assert said - known == set()
    # Errors have a code of their own; the others are all said somewhere.
    assert {*ROWS, *catalogue.NAN, *catalogue.ZERO} - said <= set(ERRORS)


# --- the catalogue ----------------------------------------------------------------------------


def meanings(*prefixes: str) -> dict[str, str]:
    """The sentences of the causes whose codes begin so."""
    return {code: row.meaning for code, row in ROWS.items() if code.startswith(prefixes)}


def test_every_meaning_is_one_sentence() -> None:
    tables = (meanings(""), catalogue.NAN, catalogue.ZERO, catalogue.NOTES)
    codes = [code for table in tables for code in table]
    assert len(codes) == len(set(codes))
    for table in tables:
        for code, meaning in table.items():
            assert meaning[0].isupper() or not meaning[0].isalpha(), code
            assert meaning.endswith("."), code
            assert ". " not in meaning, code


# --- docs/why.md ------------------------------------------------------------------------------

PAGE = ROOT / "docs/why.md"
# Heading of a table, its codes, the folder of its examples.
TABLES = [
    ("### The source", meanings("source-"), "none"),
    ("### The path", meanings("path-", "derivative-"), "none"),
    ("### The target and the question", meanings("target-", "forward-", "tape-"), "none"),
    ("## Why it is 0", catalogue.ZERO, "zero"),
    ("## Why it is NaN or infinite", catalogue.NAN, "nan"), ("## Notes", catalogue.NOTES, ""),
]


def shown_table(codes: dict[str, str], folder: str) -> str:
    """The rows of a table of the page."""
    def link(code: str) -> str:
        return f" [{code}.txt](../samples/{folder}/{code}.txt) |" if folder else ""

    return "".join([f"| `{code}` | {meaning} |{link(code)}\n" for code, meaning in codes.items()])


def with_tables(page: str) -> str:
    """The page with its tables as the catalogue has them."""
    for heading, codes, folder in TABLES:
        before, found, after = page.partition(f"\n{heading}\n")
        assert found, heading
        head, bar, rest = after.partition("|---|\n")
        rest = re.sub(r"\A(\|.*\n)*", "", rest)
        page = before + found + head + bar + shown_table(codes, folder) + rest
    return page


def with_outputs(page: str, shim: Path) -> str:
    """The page with what its commands print at a terminal."""
    for block in blocks(page):
        printed = "".join([f"$ {command}\n{on_terminal(command, ROOT, shim).rstrip()}\n"
                           for command, _ in steps(block)])
        page = page.replace(f"```console\n{block}```", f"```console\n{printed}```")
    return page


def test_the_page_has_every_code_and_shows_what_is_printed(
        shim: Path, golden: Callable[[Path, str], None]) -> None:
    page = with_tables(PAGE.read_text(encoding="utf-8"))
    golden(PAGE, with_outputs(page, shim))


def test_the_links_of_the_page_lead_somewhere() -> None:
    page = PAGE.read_text(encoding="utf-8")
    places = re.findall(r"\]\((\S+?)\)", page)
    anchors = {re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-")
               for line in page.splitlines() if line.startswith("#")}
    assert [p for p in places if not (
        p[1:] in anchors if p.startswith("#") else (PAGE.parent / p).exists())] == []


def test_the_page_is_short() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    # Its tables are the catalogue, which grows.
    assert len([line for line in lines if not line.startswith("|")]) < 175
    assert [line for line in lines if len(line) > 100 and not line.startswith("|")] == []
