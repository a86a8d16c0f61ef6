"""`gradcli graph`: the record as data, as DOT and Mermaid, and what Graphviz is handed."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from asked import valid
from conftest import folded
from folders import ROOT
from transcripts import in_process

from gradcli.render.pictures import graphs

CUT = "path-outside-tape.txt"
TRAINING = ROOT / "samples/seeds/descent_step.txt"
STRING = r'"(?:[^"\\]|\\.)*"'
ATTRIBUTE = rf'[a-z]+=(?:{STRING}|[\w.]+)'
DOT_LINES = [re.compile(pattern) for pattern in (
    r"digraph record \{", r"rankdir=BT;", rf"(?:node|edge) \[{ATTRIBUTE}(?:, {ATTRIBUTE})*\];",
    rf"n\d+ \[{ATTRIBUTE}(?:, {ATTRIBUTE})*\];",
    rf"n\d+ -> n\d+(?: \[{ATTRIBUTE}(?:, {ATTRIBUTE})*\])?;",
    r"subgraph cluster_\d+ \{", rf"(?:{ATTRIBUTE}; ?)+", r"\}")]


def graph(*arguments: str) -> Any:
    status, out, err = in_process(["graph", *arguments, "--format", "json"])
    assert (status, err) == (0, "")
    answer = json.loads(out)
    valid(answer, "graph")
    return answer


def named(answer: Any) -> dict[str, Any]:
    """Nodes by their names, else by what stands in them."""
    return {node["name"] or node["text"]: node for node in answer["nodes"]}


def arrows(answer: Any) -> set[tuple[str, str]]:
    """Edges between the names of nodes; plain numbers by their values."""
    names = {n["id"]: n["name"] or n["text"] or str(n["value"]) for n in answer["nodes"]}
    return {(names[e["from"]], names[e["to"]]) for e in answer["edges"]}


def test_a_formula() -> None:
    answer = graph("-e", "x^2*sin(y) + 1", "--at", "x=1.5,y=0.5")
    assert arrows(answer) == {
        ("x", "x^2"), ("2.0", "x^2"), ("y", "sin(y)"), ("x^2", "x^2*sin(y)"),
        ("sin(y)", "x^2*sin(y)"), ("x^2*sin(y)", "f"), ("1.0", "f")}
    nodes = named(answer)
    assert nodes["x"]["kind"] == "input"
    assert (nodes["x"]["value"], nodes["x^2"]["value"]) == (1.5, 2.25)
    assert nodes["f"]["target"]
    assert [n for n in nodes.values() if n["cut"]] == []
    assert all(edge["passes"] and not edge["cut"] for edge in answer["edges"])


def test_several_operations_of_one_call_are_named_apart() -> None:
    found = graph("-e", "softmax(x)", "--at", "x=[1,2]")
    assert [node["text"].partition("(")[0] for node in found["nodes"]
            if node["kind"] == "operation"] == [
        "reduce_max", "stop_gradient", "subtract", "exp", "sum", "divide"]


def test_long_formulas_are_cut_at_forty_characters() -> None:
    for n, shown in ((40, "x"*38 + "^2"), (41, "x"*37 + "...")):
        found = graph("-e", f"{'x'*(n - 2)}^2", "--at", f"{'x'*(n - 2)}=1")
        assert [node["text"] for node in found["nodes"] if node["kind"] == "operation"] == [shown]


def test_only_what_leads_to_the_target(tmp_path: Path) -> None:
    program = tmp_path / "program.txt"
    program.write_text("input x = 2.0\nvar w = [1.0, 2.0]\na = x^2\nb = sum(w)*x\n")
    only = graph(str(program), "--of", "a")
    assert set(named(only)) == {"x", "a", "", "w"}
    # What nothing leads from stands alone, with the reason.
    assert "w" not in {name for edge in arrows(only) for name in edge}
    assert named(only)["w"]["cut"]
    nodes = named(graph(str(program)))
    assert set(nodes) == {"x", "w", "sum(w)", "b"}
    assert nodes["w"]["kind"] == "variable"
    assert nodes["w"]["shape"] == [2]


def test_where_a_path_is_cut() -> None:
    answer = graph("-e", "floor(x)*2 + y", "--at", "x=1.5,y=2")
    nodes = named(answer)
    assert "the path from x to f is cut by `floor(x)`" in nodes["floor(x)"]["cut"]
    assert [n for n in nodes.values() if n["cut"]] == [nodes["floor(x)"]]
    assert [e for e in answer["edges"] if e["cut"]] == [
        {"from": nodes["x"]["id"], "to": nodes["floor(x)"]["id"], "passes": False, "cut": True}]
    status, out, err = in_process(["graph", "-e", "floor(x)*2 + y", "--at", "x=1.5,y=2"])
    assert status == 0
    assert err == f"{nodes['floor(x)']['cut']}\n"
    (red,) = [line for line in out.splitlines() if "floor(x)\\n" in line]
    assert 'color="#c0392b"' in red
    assert "cut: the path from x to f is cut by" in red
    assert 'n1 -> n0 [color="#c0392b", penwidth=2];' in out


@folded
@pytest.mark.parametrize("path", sorted((ROOT / "samples/none").glob("*.txt")),
                         ids=lambda path: path.stem)
def test_the_cause_of_each_sample_is_in_the_picture(path: Path) -> None:
    """Whatever cuts a path, a node says so in the words of `why`."""
    status, out, err = in_process(["why", str(path), "--format", "json"])
    if status == 3:     # what does not run has no graph either
        assert in_process(["graph", str(path), "--format", "json"]) == (3, "", err)
        return
    answer, said = graph(str(path)), json.loads(out)
    causes = {r["message"] for result in said["results"] for s in result["sources"]
              for r in s["reasons"]}
    assert {note["message"] for note in answer["notes"]} == causes
    assert {n["cut"] for n in answer["nodes"]} - {None} <= causes
    if causes:
        assert any(n["cut"] for n in answer["nodes"])


@pytest.mark.parametrize(("sample", "red"), [
    ("path-outside-tape", {("guess - 1", "loss")}), ("path-stop-recording", {("w", "guess")}),
    ("path-nondifferentiable", {("w*x", "right")}),
    ("path-state-write", {("payment", "total.assign_add(payment)")}),
    ("source-watched-late", {("r", "square")}), ("path-reset", {("w", "guess")})])
def test_what_is_red_is_on_the_way_from_the_source(sample: str, red: set[tuple[str, str]]) -> None:
    answer = graph(str(ROOT / f"samples/none/{sample}.txt"))
    names = {n["id"]: n["name"] or n["text"] for n in answer["nodes"]}
    assert {(names[e["from"]], names[e["to"]]) for e in answer["edges"] if e["cut"]} == red


def test_the_source_of_an_output_that_is_not_used() -> None:
    """Of the operations that a custom function is made of, the one that is the source."""
    answer = graph(str(ROOT / "samples/none/path-custom-internal.txt"))
    assert [n["name"] for n in answer["nodes"] if n["cut"]] == ["square"]
    assert not [n for n in answer["nodes"] if "slice" in n["text"]]


def test_a_constant_that_is_bound_again_keeps_its_name_and_line() -> None:
    answer = graph("-e", "var x = 2.0\nfor k in range(3):\n    y = 0.5\n    y = y + x")
    (leaf,) = [n for n in answer["nodes"] if n["kind"] == "constant"]
    assert (leaf["name"], leaf["line"]) == ("y", 3)


def test_a_second_name_hides_no_input() -> None:
    nodes = named(graph("-e", "a = x\nb = a\nb^2", "--at", "x=3"))
    assert nodes["x"]["kind"] == "input"


def test_what_any_tape_watches_is_watched() -> None:
    nodes = named(graph(str(ROOT / "samples/seeds/multiple_tapes.txt")))
    assert (nodes["x0"]["watched"], nodes["x1"]["watched"]) == (True, True)


def test_what_a_tape_covers() -> None:
    answer = graph(str(ROOT / "samples/none" / CUT))
    nodes = named(answer)
    assert answer["tapes"] == ["t"]
    assert nodes["guess"]["tapes"] == ["t"]
    assert nodes["loss"]["tapes"] == []
    assert nodes["loss"]["cut"] == "this ran outside `t`, so it was not recorded"
    out = in_process(["graph", str(ROOT / "samples/none" / CUT)])[1]
    inside = re.search(r"subgraph cluster_0 \{\n(.*?)\n  \}", out, re.S)
    assert inside is not None
    assert 'label="tape t"' in inside[1]
    assert "guess = 3*w" in inside[1]
    assert "(guess - 1)^2" not in inside[1]


def test_variables_and_questions() -> None:
    answer = graph(str(TRAINING))
    kinds = {node["text"]: node["kind"] for node in answer["nodes"]}
    assert kinds["w.assign_sub(rate*dw)"] == "state"
    assert kinds["t.gradient(loss, [w, b])"] == "question"
    assert ("rate*dw", "w.assign_sub(rate*dw)") in arrows(answer)
    assert ("w", "w.assign_sub(rate*dw)") in arrows(answer)
    assert named(answer)["x"]["watched"] is False


# --- large records --------------------------------------------------------------------------------

LOOP = """\
input x = 0.5
y = x
for k in range(1000):
    y = sin(y) + k*x
z = y^2
"""


def test_a_loop_is_one_node_for_each_place(tmp_path: Path) -> None:
    program = tmp_path / "loop.txt"
    program.write_text(LOOP)
    answer = graph(str(program))
    assert len(answer["nodes"]) < 12
    (sine,) = [n for n in answer["nodes"] if n["operation"] == "sin"]
    assert (sine["count"], sine["value"]) == (1000, None)
    assert {note["code"] for note in answer["notes"]} == {"collapsed"}
    assert "3,001 operations are 4 nodes" in answer["notes"][0]["message"]
    program.write_text(LOOP.replace("1000", "100"))
    out = in_process(["graph", str(program), "-q"])[1]
    assert "(100 times)" in out
    assert "what ran in one place is one node" in out


def test_lines_and_the_last_of_them(tmp_path: Path) -> None:
    program = tmp_path / "long.txt"
    program.write_text("input x = 0.5\na0 = x\n" + "".join(
        f"a{k} = sin(a{k - 1}) + cos(a{k - 1})\n" for k in range(1, 61)))
    lines = graph(str(program), "--max-nodes", "100")
    assert len(lines["nodes"]) == 61
    assert "each line is one node" in lines["notes"][0]["message"]
    assert {n["count"] for n in lines["nodes"] if n["kind"] == "operation"} == {3}
    few = graph(str(program), "--max-nodes", "10")
    assert len(few["nodes"]) == 12
    assert "the last 10 lines" in few["notes"][0]["message"].replace("their", "the")
    assert {n["count"] for n in few["nodes"]} == {1, 3, 150}
    every = graph(str(program), "--max-nodes", "1000")
    assert len(every["nodes"]) == 181
    assert every["notes"] == []


# --- DOT, Mermaid, hostile text -------------------------------------------------------------------


def checked_dot(text: str) -> None:
    """Each line is one of Graphviz's statements; brackets match; edges join nodes."""
    depth = 0
    nodes, joined = set(), set()
    for line in text.splitlines():
        assert any(p.fullmatch(line.strip()) for p in DOT_LINES), line
        if line.rstrip().endswith("{"):
            depth += 1
        elif line.strip() == "}":
            depth -= 1
        nodes.update(re.findall(r"^ *(n\d+) \[", line))
        joined.update(*re.findall(r"^ *(n\d+) -> (n\d+)", line))
    assert depth == 0
    assert joined <= nodes


def checked_mermaid(text: str) -> None:
    first, *lines = text.splitlines()
    assert first == "flowchart BT"
    label = r'"[^"<>]*(?:<br/>[^"<>]*)*"'
    kinds = [rf"n\d+(?:\[/?|\(\[|\{{\{{){label}(?:/?\]|\]\)|\}}\}})", r"n\d+ (?:-->|-\.->) n\d+",
             rf"subgraph tapes\d+\[{label}\]", "end", r"classDef \w+ [\w:#,-]+",
             r"class n\d+(?:,n\d+)* \w+", r"linkStyle \d+(?:,\d+)* stroke:#\w+"]
    for line in lines:
        assert any(re.fullmatch(kind, line.strip()) for kind in kinds), line


@pytest.mark.parametrize("path", [
    *sorted((ROOT / "samples/seeds").glob("*.txt"))[::3],
    *sorted((ROOT / "samples/none").glob("*.txt"))[::4]], ids=lambda path: path.stem)
def test_the_samples_are_well_formed(path: Path) -> None:
    status, out, err = in_process(["graph", str(path)])
    if status == 3:
        assert (out, err) == ("", in_process(["why", str(path)])[2])
        return
    checked_dot(out)
    status, out, _ = in_process(["graph", str(path), "--format", "mermaid"])
    assert status == 0
    checked_mermaid(out)


def test_hostile_text(tmp_path: Path) -> None:
    program = tmp_path / "hostile.txt"
    program.write_text(
        "input subgraph = 1.0\ninput end = 2.0\ninput größe = 3.0\n"
        "class_ = where(end > 1, subgraph, größe) # \"];<script>\n"
        "y = class_*reduce_sum([end, größe], axis=0) if größe < 5 else 0*end\n", encoding="utf-8")
    status, out, _ = in_process(["graph", str(program)])
    assert status == 0
    checked_dot(out)
    status, out, _ = in_process(["graph", str(program), "--format", "mermaid"])
    assert status == 0
    checked_mermaid(out)
    assert "end" not in [line.strip() for line in out.splitlines()]


def test_labels_cannot_leave_their_quotes() -> None:
    from gradcli.render.pictures.graphs import dot, mermaid

    answer = graph("-e", "x^2", "--at", "x=3")
    for text in ('"]; evil [label="', "\\", 'a\\"', "\n}\n", "<br/>", "#quot;", "\u202e", "`",
                 "&lt;", "%%{init: 1}%%", "\\N", "--> n9"):
        answer["nodes"][0]["text"] = answer["nodes"][0]["name"] = text
        answer["nodes"][0]["tapes"] = [text]
        checked_dot(dot(answer))
        checked_mermaid(mermaid(answer))


# --- pictures -------------------------------------------------------------------------------------


def fake_dot(folder: Path, body: str) -> None:
    """A program called dot: what Graphviz is asked, without Graphviz."""
    script = folder / "dot"
    script.write_text(f"#!{sys.executable}\nimport sys, time\n{body}")
    script.chmod(0o755)


@pytest.mark.parametrize("format", ["svg", "png", "pdf"])
def test_pictures_are_made_by_graphviz(
        format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_dot(tmp_path, "sys.stdout.write(sys.argv[1] + '\\n' + sys.stdin.read())")
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / f"tape.{format}"
    assert in_process(["graph", "-e", "x^2", "--at", "x=3", "-o", str(path)]) == (0, "", "")
    first, _, text = path.read_text().partition("\n")
    assert first == f"-T{format}"
    assert text == in_process(["graph", "-e", "x^2", "--at", "x=3"])[1]


def test_without_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "tape.svg"
    status, out, err = in_process(["graph", "-e", "x^2", "--at", "x=3", "-o", str(path)])
    assert (status, out) == (3, "")
    assert err.startswith("error[E0821]: ")
    assert "help: install graphviz, or write .dot or .mermaid" in err
    assert not path.exists()
    for ending in ("dot", "mermaid", "json"):
        other = tmp_path / f"tape.{ending}"
        assert in_process(["graph", "-e", "x^2", "--at", "x=3", "-o", str(other)])[0] == 0
        assert other.stat().st_size > 100


@pytest.mark.parametrize(("body", "words"), [
    ("sys.exit('Error: cannot be\\nmore')", "`dot` failed: Error: cannot be"),
    ("pass", "`dot` failed: it wrote nothing"),
    ("time.sleep(60)", "`dot` was stopped after 0.5 seconds")])
def test_graphviz_that_fails(body: str, words: str, tmp_path: Path,
                             monkeypatch: pytest.MonkeyPatch) -> None:
    fake_dot(tmp_path, body)
    monkeypatch.setenv("PATH", str(tmp_path))
    if "sleep" in body:
        monkeypatch.setattr(graphs, "PATIENCE", 0.5)
    path = tmp_path / "tape.svg"
    status, out, err = in_process(["graph", "-e", "x^2", "--at", "x=3", "-o", str(path)])
    assert (status, out) == (3, "")
    assert err.startswith("error[E0822]: ")
    assert words in err
    assert not path.exists()


@pytest.mark.parametrize("arguments", [
    "graph", "graph -e x^2 --at x=1 -o tape.gif", "graph -e x^2 --format text",
    "graph -e x^2 --max-nodes 0"])
def test_misuse(arguments: str) -> None:
    assert in_process(shlex.split(arguments))[0] == 2


@pytest.mark.parametrize("target", ["x", "y", "k"])
def test_the_variable_of_a_loop_is_a_target_as_others(target: str, tmp_path: Path) -> None:
    program = tmp_path / "loop.txt"
    program.write_text("var x = 0.5\ny = x\nfor k in range(30):\n    y = sin(y) + x\n")
    answer = graph(str(program), "--of", target)
    assert "x" in named(answer)
    assert len(answer["edges"]) == (90 if target == "y" else 0)


def test_endings_that_are_known_are_told() -> None:
    status, _, err = in_process(["graph", "-e", "x^2", "--at", "x=1", "-o", "g.md"])
    assert status == 2
    assert all(ending in " ".join(err.split()) for ending in (".dot", ".gv", ".mermaid", ".mmd"))
