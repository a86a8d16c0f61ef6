"""Who may import whom, and what a plain gradient must not load.

The layers are read from the source with `ast`, the budgets from `sys.modules` in a process of its
own. Imports under `if TYPE_CHECKING:` cost nothing at run time and obey the same layers.
"""

from __future__ import annotations

import ast
import json
import math
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import oldest
import pytest
import selections
from conftest import ROOT, folded, run

PACKAGE = ROOT / "gradcli"

# Component -> those below it that it may import. Arrows point down only.
BASE = {"errors", "source"}
OPS = {"ops"} | BASE
ENGINE = {"tape", "sweeps"} | OPS
LIBRARY = {"lang", "calculus", "execute", "structure"} | ENGINE
BELOW = {
    "_version": set(),
    "errors": set(),
    "source": {"errors"},
    "render": BASE,
    "ops": BASE,
    "tape": ENGINE,
    "sweeps": ENGINE,
    "finite": OPS,
    "structure": ENGINE | {"execute"},
    "calculus": ENGINE | {"structure"},
    "execute": ENGINE,
    "lang": ENGINE | {"calculus", "execute"},
    "reading": {"lang"} | OPS,
    "program": LIBRARY,
    "explain": LIBRARY | {"program"},
    "prepared": LIBRARY | {"program"},
    "answers": LIBRARY | {"program", "explain", "finite"},
    "points": LIBRARY | {"program", "answers", "render"},
    "latex": {"reading", "program", "lang"} | BASE,
    "workers": BASE,
    "formulas": LIBRARY | {"program", "explain", "answers", "render"},
    "analysis": LIBRARY | {"program", "explain", "answers"},
    "verifying": LIBRARY | {"program", "explain", "answers", "finite"},
    "plotting": LIBRARY | {"program", "explain", "answers", "points", "render"},
    "graphs": LIBRARY | {"program", "explain", "answers", "render"},
    "checking": {"reading", "lang", "tape", "sweeps"} | OPS,
    "homework": {"checking", "reading", "workers", "render", "_version"} | BASE,
    "cli": LIBRARY | {"program", "explain", "answers", "points", "render", "workers", "checking",
                      "homework", "latex", "plotting", "graphs", "analysis",
                      "formulas", "verifying", "_version"},
    "python": LIBRARY | {"program", "explain", "prepared", "source"},
    # It binds names lazily; `python -m gradcli` is the command line.
    "__init__": LIBRARY | {"python", "_version"},
    "__main__": {"cli"},
}

# One pair knows each other: sweeps walk over entries, a tape answers by sweeping its own.
PAIR = ("tape", "sweeps")

# The arrow that points up: a diagnostic names the type of its source.
UP = {("errors", "source", "types")}

# Third-party package -> where it may be imported: inside a function, the EAGER at module level too.
OWNERS = {
    "distributed": ("gradcli/base/workers/cluster.py",),
    "pyarrow": ("gradcli/points/arrow",),
    "lark": ("gradcli/lang/",),
    "numpy": ("gradcli/base/lazy.py",),
    "contourpy": ("gradcli/questions/pictures/",),
    "matplotlib": ("gradcli/questions/pictures/",),
    "plotille": ("gradcli/questions/pictures/",),
    "rich": ("gradcli/render/", "gradcli/cli/"),
    "typer": ("gradcli/cli/",),
}
EAGER = {"typer"}


class Import:
    """One imported module: who imports it, and whether when loaded, when called or for types."""

    __slots__ = ("line", "module", "path", "when")

    def __init__(self, path: str, line: int, module: str, when: str) -> None:
        self.path = path
        self.line = line
        self.module = module
        self.when = when

    def __str__(self) -> str:
        return f"{self.path}:{self.line} imports {self.module} ({self.when})"


def component(module: str) -> str:
    """`gradcli.ops.kinds` -> "ops"; `gradcli` itself -> "__init__"."""
    return f"{module}.__init__".split(".")[1]


def imports_of(path: str, tree: ast.Module) -> Iterator[Import]:
    """All imports of a file, wherever they stand."""
    pending: list[tuple[ast.AST, str]] = [(tree, "loaded")]
    while pending:
        node, when = pending.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(path, node.lineno, alias.name, when)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            module = node.module or ""
            if module == "gradcli":  # `from gradcli.engine import calculus` names a module
                for alias in node.names:
                    yield Import(path, node.lineno, f"gradcli.{alias.name}", when)
            else:
                yield Import(path, node.lineno, module, when)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pending += [(child, "types" if when == "types" else "called") for child in node.body]
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            pending += [(child, "types") for child in node.body]
            pending += [(child, when) for child in node.orelse]
        else:
            pending += [(child, when) for child in ast.iter_child_nodes(node)
                        if not isinstance(child, ast.expr)]


FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "_tables.py")


@cache
def imports() -> list[Import]:
    """Those of all files."""
    return [found for path in FILES for found in imports_of(
        path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8")))]


def component_of_file(path: str) -> str:
    return path.split("/")[1].removesuffix(".py")


def test_every_component_has_a_place_in_the_layers() -> None:
    assert {component_of_file(p.relative_to(ROOT).as_posix()) for p in FILES} <= set(BELOW)


def test_the_layers_have_no_cycle() -> None:
    left = {name: set(below) - {name} for name, below in BELOW.items()}
    left[PAIR[0]].remove(PAIR[1])
    while left:
        free = {name for name, below in left.items() if not below & set(left)}
        assert free, f"a cycle among {sorted(left)}"
        left = {name: below for name, below in left.items() if name not in free}


def test_arrows_point_down_only() -> None:
    wrong = []
    for found in imports():
        if found.module.split(".")[0] == "gradcli":
            here, there = component_of_file(found.path), component(found.module)
            if there not in BELOW[here] | {here} and (here, there, found.when) not in UP:
                wrong.append(str(found))
    assert not wrong, "\n".join(wrong)


def test_third_party_packages_stay_in_their_layer() -> None:
    wrong = []
    for found in imports():
        package = found.module.split(".")[0]
        if package in OWNERS:
            at_home = found.path.startswith(OWNERS[package])
            too_early = found.when == "loaded" and package not in EAGER
            if not at_home or too_early:
                wrong.append(str(found))
    assert not wrong, "\n".join(wrong)


def test_every_imported_package_is_declared() -> None:
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    texts = list(project["dependencies"])
    for name, extra in project["optional-dependencies"].items():
        texts += extra if name != "test" else []
    declared = {text.replace(">", " ").split()[0] for text in texts}
    used = {found.module.split(".")[0] for found in imports()}
    assert used - set(sys.stdlib_module_names) - {"gradcli"} <= declared


# --- budgets ----------------------------------------------------------------------------------

# What is new in sys.modules after main() is printed on stderr; what the interpreter and the
# environment (a .pth file, say) loaded before it does not count.
PROBE = """\
import sys
before = set(sys.modules)
{action}
print(" ".join(sorted(set(sys.modules) - before)), file=sys.stderr)
"""
MAIN = """\
sys.argv = ["gradcli", *{arguments!r}]
from gradcli.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""

# DESIGN: start-up is most of what a small formula costs, and each of these takes 2 to 70 ms.
HEAVY = {
    "collections", "dataclasses", "enum", "functools", "importlib.metadata", "inspect", "json",
    "lark", "logging", "numpy", "pathlib", "pydantic", "re", "rich", "sympy", "typer", "typing"}


def loaded_by(action: str, home: dict[str, str | None], stdin: str = "") -> tuple[str, set[str]]:
    """What a piece of Python printed, and the modules it loaded."""
    ran = run(sys.executable, "-c", PROBE.format(action=action), env=home, stdin=stdin)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, set(ran.stderr.splitlines()[-1].split())


def command(*arguments: str) -> str:
    return MAIN.format(arguments=list(arguments))


@pytest.fixture(scope="module")
def warm(home: dict[str, str | None]) -> dict[str, str | None]:
    """An environment whose parser tables are cached, as after the first run of any user."""
    loaded_by(command("eval", "-e", "1"), home)
    return home


FORMULA = ("-e", "x^2*sin(y)", "--wrt", "x,y", "--at", "x=1.5,y=0.5")


@pytest.mark.parametrize("arguments", [
    ("grad", *FORMULA, "--format", "json"),
    ("grad", *FORMULA),
    ("grad", "-", "--wrt", "x,y", "--at", "x=1.5,y=0.5", "--format", "json"),
    ("hess", *FORMULA, "--format", "json"),
    ("jac", *FORMULA, "--format", "plain"),
    ("eval", "-e", "x^2*sin(y)", "--at", "x=1.5,y=0.5"),
    ("grad", str(ROOT / "samples" / "expr.txt"), "--wrt", "x"),
    ("--version",),
], ids=lambda arguments: " ".join(arguments[:2]))
def test_a_piped_scalar_answer_loads_nothing_heavy(
        arguments: tuple[str, ...], warm: dict[str, str | None]) -> None:
    printed, modules = loaded_by(command(*arguments), warm, stdin="x^2*sin(y)")
    assert printed.strip()
    assert not modules & HEAVY
    # There is nothing to explain: no None, no exact 0, no NaN.
    assert not [name for name in modules if name.startswith("gradcli.explain")]


def test_the_answer_behind_the_budget_is_right(warm: dict[str, str | None]) -> None:
    printed, _ = loaded_by(command("grad", *FORMULA, "--format", "json"), warm)
    sources = json.loads(printed)["results"][0]["sources"]
    assert [s["gradient"] for s in sources] == pytest.approx(
        [2 * 1.5 * math.sin(0.5), 1.5 ** 2 * math.cos(0.5)], rel=1e-14)


def test_an_array_loads_numpy_and_no_more(warm: dict[str, str | None]) -> None:
    _, modules = loaded_by(
        command("grad", "-e", "sum(x^2)", "--at", "x=[1,2]", "--format", "json"), warm)
    assert "numpy" in modules
    assert not modules & {"lark", "rich", "typer", "pydantic"}


def test_importing_gradcli_loads_nothing(warm: dict[str, str | None]) -> None:
    _, modules = loaded_by("import gradcli", warm)
    assert {name for name in modules if name.split(".")[0] == "gradcli"} <= {
        "gradcli", "gradcli._version"}
    assert not modules & HEAVY


def test_a_gradient_from_python_loads_nothing_heavy(warm: dict[str, str | None]) -> None:
    printed, modules = loaded_by(
        "import gradcli; print(gradcli.loads('x^2').gradient(at={'x': 3.0}))", warm)
    assert printed == "{'x': 6.0}\n"
    assert not modules & HEAVY


def test_every_dependency_has_tests_that_run_with_the_oldest_one() -> None:
    """`make test-oldest` runs a selection; a new dependency needs a line there."""
    assert selections.DEPENDENCIES.keys() == oldest.oldest().keys()
    for left_out in (*selections.MATHEMATICS, *selections.UNPRINTED):
        file, _, name = left_out.partition("::")
        (path,) = selections.paths([file])
        start = name.replace("[", "(")
        assert Path(path).read_text(encoding="utf-8").count(f"\ndef {start}") == 1, left_out


def test_a_fold_asks_all_cases_and_names_all_that_fail() -> None:
    asked = []

    @folded
    @pytest.mark.parametrize(("x", "y"), [(x, -x) for x in range(230)])
    @pytest.mark.parametrize("sign", [pytest.param(1, id="plus"), pytest.param(-1, id="minus")])
    def one(x: int, y: int, sign: int) -> None:
        asked.append((x, sign))
        assert y == -x
        assert x != 7 or sign > 0
        if x == 150:
            pytest.skip("none left out")

    (mark,) = one.pytestmark    # type: ignore[attr-defined]
    config, told = SimpleNamespace(option=SimpleNamespace(cases=None)), ""
    for share in mark.args[1]:
        try:
            one(share, config)
        except pytest.fail.Exception as problem:
            told += str(problem)
    assert sorted(asked) == [(x, sign) for x in range(230) for sign in (-1, 1)]
    for name in ("minus-(7, -7)", "plus-(150, -150)", "minus-(150, -150)"):
        assert f"\n\n{name}\nTraceback" in told
    assert told.count("Traceback") == 3
