"""Pages of answers in HTML: every command, with what its table says, and nothing that runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from browsers import A4, browse, width
from conftest import folded
from markup import harmless
from transcripts import in_process

FORMULA = ["-e", "x^2*sin(x)"]
PAGES = [
    (["grad", *FORMULA, "--at", "x=1.5"], ["f = 2.24", "gradient", "3.15"]),
    (["jac", "samples/polar.txt"], ["f[0]", "0.877"]),
    (["hess", "samples/rosenbrock.txt"], ["1330"]),
    (["eval", "-e", "x/3", "--at", "x=1"], ["0.333"]),
    (["derive", *FORMULA], ["Derivatives of f", "sin", "cos"]),
    (["derive", "-e", "sum(A @ x)", "--at", "A=[[1,2],[3,4]],x=[1,2]"], ["df/dx ="]),
    (["steps", *FORMULA, "--at", "x=1.5"], ["product rule", "adjoint", "all together"]),
    (["steps", *FORMULA, "--at", "x=1.5", "--mode", "forward"], ["derivative of sin"]),
    (["why", "samples/none/path-rebound.txt"],
     ["total begins anew", "path-rebound.txt:7:5   total = 0.0", "try: bind total before"]),
    (["why", "samples/nan/nan-pole.txt"], ["is infinite", "(line 4)"]),
    (["check", "sin(x^2)", "cos(x^2)"], ["wrong", "missing_chain_factor", "expected"]),
    (["taylor", "-e", "exp(x)", "--at", "x=0", "--order", "3"], ["coefficient", "0.5"]),
    (["implicit", "-e", "x^2+y^2-25", "--dependent", "y", "--at", "x=3,y=4"], ["-0.75"]),
    (["tangent", *FORMULA, "--at", "x=1"], ["tangent", "slope"]),
    (["run", "samples/taylor.txt"], ["Prints of", "line"]),
    (["ops", "tanh"], ["tanh"]),
]
HOSTILE = "<script>alert(1)</script>"


@folded
@pytest.mark.parametrize(("arguments", "words"), PAGES, ids=[
    " ".join([*arguments[:1], *arguments[2:]][:2]) for arguments, _ in PAGES])
def test_a_page_says_what_the_table_does(arguments: list[str], words: list[str]) -> None:
    status, page, _ = in_process([*arguments, "--format", "html"])
    assert status in (0, 1)
    found = harmless(page)
    said = " ".join(found.text.split())
    for word in words:
        assert word in said or word in found.text, (word, found.text)


def test_formulas_are_typeset() -> None:
    _, page, _ = in_process(["derive", *FORMULA, "--format", "html"])
    assert harmless(page).tags["math"] == 1
    _, page, _ = in_process(["steps", *FORMULA, "--at", "x=1.5", "--format", "html"])
    assert harmless(page).tags["mfrac"] >= 4
    long = "*".join([f"sin({k}*x)" for k in range(2, 14)])
    _, page, _ = in_process(["derive", "-e", long, "--inline", "--format", "html"])
    assert harmless(page).tags["math"] == 0     # a line that cannot break is code, which can


def test_a_picture_has_words(tmp_path: Path) -> None:
    file = tmp_path / "plot.html"
    status, _, said = in_process(["plot", "-e", "abs(x)/(x - 1)", "--over", "x=-2:2", "-o",
                                  str(file)])
    assert status == 0
    page = harmless(file.read_text(encoding="utf-8"))
    assert "f, f' over x from -2 to 2" in page.values
    for line in said.splitlines():
        assert line.replace("`", "") in page.text


@pytest.mark.parametrize("program", [
    f"const c = 2\nprint('{HOSTILE}', 1)\n", f"y = x  # {HOSTILE}\nk = floor(x)\nz = k*y\n"])
def test_text_of_a_file_stays_text(tmp_path: Path, program: str) -> None:
    file = tmp_path / "<b>&.txt"
    file.write_text(program, encoding="utf-8")
    command = "run" if "print" in program else "why"
    at = [] if command == "run" else ["--at", "x=1.5"]
    status, page, _ = in_process([command, str(file), *at, "--format", "html"])
    assert status == 0
    harmless(page)
    if command == "run":
        assert HOSTILE not in page
        assert HOSTILE.replace("<", "&lt;").replace(">", "&gt;") in page


def test_open_shows_a_page(tmp_path: Path) -> None:
    """The browser is a script that writes down what it is given."""
    shown = tmp_path / "shown"
    browser = tmp_path / "browser.py"
    browser.write_text(f"import sys; open({str(shown)!r}, 'w').write(sys.argv[1])\n")
    made = tmp_path / "made"
    made.mkdir()
    environment = {**os.environ, "BROWSER": f"{sys.executable} {browser} %s", "TMPDIR": str(made)}
    run = [sys.executable, "-m", "gradcli"]
    done = subprocess.run([*run, "derive", *FORMULA, "--open"], env=environment, check=True,
                          capture_output=True, text=True)
    (page,) = made.iterdir()
    assert shown.read_text() == page.resolve().as_uri()
    assert done.stdout == ""
    assert done.stderr == f"{page}\n"
    harmless(page.read_text(encoding="utf-8"))
    for wrong in (["--format", "csv"], ["-o", "-"], ["-o", str(tmp_path / "x.csv")]):
        done = subprocess.run([*run, "derive", *FORMULA, "--open", *wrong], env=environment,
                              check=False, capture_output=True, text=True)
        assert done.returncode == 2
        assert "--open" in done.stderr


def test_pages_in_a_browser(tmp_path: Path) -> None:
    """Formulas are laid out, pictures shown, nothing is complained of, and A4 holds it all."""
    page = tmp_path / "page.html"
    for arguments in (["steps", *FORMULA, "--at", "x=1.5", "--digits", "6"],
                      ["plot", "-e", "sin(x)/x", "--over", "x=-9:9"]):
        assert in_process([*arguments, "-o", str(page)])[0] == 0
        text = page.read_text(encoding="utf-8")
        measured = tmp_path / "measured.html"
        measured.write_text(text.replace("script-src", "x").replace(
            "default-src 'none';", "default-src 'none'; script-src 'unsafe-inline';").replace(
            "</body>", "<script>addEventListener('load', () => { document.title = 'is ' + ["
            "...document.querySelectorAll('math, img')].map(e => Math.round("
            "e.getBoundingClientRect().height)).join(' ') })</script></body>"), encoding="utf-8")
        shown, complaints = browse(measured, "--dump-dom")
        assert not complaints
        heights = shown.partition("<title>is ")[2].partition("<")[0].split()
        assert heights
        assert all(int(height) >= 8 for height in heights), heights
        assert width(page) <= A4
