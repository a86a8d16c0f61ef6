"""Who may import whom, and what a plain gradient must not load.

The rooms are read from the source with `ast`, the budgets from `sys.modules` in a process of its
own. Imports under `if TYPE_CHECKING:` cost nothing at run time and obey the same order.
"""

from __future__ import annotations

import ast
import json
import math
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import SimpleNamespace

import oldest
import pytest
import selections
from conftest import folded
from folders import ROOT
from loaded import FORMULA, HEAVY, command, loaded_by

PACKAGE = ROOT / "gradcli"

# The rooms from the ground up. Each may import those before it: no exceptions.
ROOMS = ("_version", "base", "render", "ops", "engine", "lang", "formulas", "explain", "questions",
         "points", "homework", "python", "tf", "cli")
# The folders of the engine likewise: what ran, what sweeps over it, and who asks. Its other files,
# such as calculus, stand on top.
ENGINE = ("record", "sweeps", "sparse", "compiled", "tapes")
# Doors: `import gradcli` binds the names of the Python interface when they are used, and
# `python -m gradcli` is the command line.
DOORS = {"__init__", "__main__"}

# Third-party package -> where it may be imported: inside a function, the EAGER at module level too.
OWNERS = {
    "distributed": ("gradcli/base/workers/pools.py",),
    "pyarrow": ("gradcli/points/",),
    "lark": ("gradcli/lang/",),
    "llvmlite": ("gradcli/engine/compiled/machine.py",),
    "latex2mathml": ("gradcli/render/html.py",),
    "numpy": ("gradcli/base/lazy.py",),
    "contourpy": ("gradcli/questions/pictures/", "gradcli/render/pictures/"),
    "matplotlib": ("gradcli/render/pictures/",),
    "pint": ("gradcli/homework/checking/units.py",),
    "plotille": ("gradcli/render/pictures/",),
    "prompt_toolkit": ("gradcli/cli/commands/session.py",),
    "rich": ("gradcli/render/", "gradcli/cli/"),
    "scipy": ("gradcli/base/lazy.py",),
    "typer": ("gradcli/cli/",),
    "openpyxl": ("gradcli/homework/handed_in/records.py",),
    "yaml": ("gradcli/homework/handed_in/owners.py",),
}
EAGER = {"typer"}
# What is imported by another name than it is installed by.
IMPORTED_AS = {"prompt-toolkit": "prompt_toolkit", "pyyaml": "yaml"}


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


def room(module: str) -> str:
    """The room of a module: `gradcli.ops.kinds` -> "ops"; of `gradcli` itself, "__init__"."""
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
            for alias in node.names:
                # `from gradcli.engine import calculus` names a module, as a rule names stand in one
                whole = f"{node.module}.{alias.name}"
                module = whole if whole in MODULES else node.module or ""
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


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


MODULES = {module_of(path.relative_to(ROOT).as_posix()) for path in FILES}


@cache
def imports() -> list[Import]:
    """Those of all files."""
    return [found for path in FILES for found in imports_of(
        path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8")))]


def test_every_file_is_in_a_room() -> None:
    rooms = {room(module_of(p.relative_to(ROOT).as_posix())) for p in FILES}
    assert rooms == {*ROOMS, *DOORS}


def test_arrows_point_down_only() -> None:
    """Wherever an import stands: at the top, in a function, for types."""
    wrong = []
    for found in imports():
        if found.module.split(".")[0] == "gradcli":
            here, there = room(module_of(found.path)), room(found.module)
            below = ROOMS if here in DOORS else ROOMS[:ROOMS.index(here) + 1]
            if there not in below:
                wrong.append(str(found))
    assert not wrong, "\n".join(wrong)


def test_files_form_no_circle() -> None:
    """Imports in functions and for types included."""
    graph: dict[str, set[str]] = {}
    for found in imports():
        here, there = (name.removeprefix("gradcli.") for name in (
            module_of(found.path), found.module))
        if found.module in MODULES and here != there:
            graph.setdefault(here, set()).add(there)
    TopologicalSorter(graph).prepare()


def test_the_folders_of_the_engine_have_one_order() -> None:
    wrong = []
    for found in imports():
        inside = [module.split(".")[2] for module in (module_of(found.path), found.module)
                  if module.startswith("gradcli.engine.")]
        if len(inside) == 2:
            here, there = (
                ENGINE.index(name) if name in ENGINE else len(ENGINE) for name in inside)
            if there > here:
                wrong.append(str(found))
    assert not wrong, "\n".join(wrong)


def test_third_party_packages_stay_in_their_room() -> None:
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
    names = [text.replace(">", " ").split()[0] for text in texts]
    declared = {IMPORTED_AS.get(name, name) for name in names}
    used = {found.module.split(".")[0] for found in imports()}
    assert used - set(sys.stdlib_module_names) - {"gradcli"} <= declared


# --- budgets ----------------------------------------------------------------------------------

@pytest.mark.parametrize("arguments", [
    ("grad", *FORMULA, "--format", "json"),
    ("grad", *FORMULA),
    ("grad", "-", "--wrt", "x,y", "--at", "x=1.5,y=0.5", "--format", "json"),
    ("hess", *FORMULA, "--format", "json"),
    ("jac", *FORMULA, "--format", "plain"),
    ("eval", "-e", "x^2*sin(y)", "--at", "x=1.5,y=0.5"),
    ("grad", str(ROOT / "samples" / "expr.txt"), "--wrt", "x"),
    ("grad", "x^2*sin(y)", "--at", "x=1.5,y=0.5"),
    ("grad", "length*angle", "--at", "length=1.5,angle=0.5"),
    ("--version",),
], ids=lambda arguments: " ".join(arguments[:2]))
def test_a_piped_scalar_answer_loads_nothing_heavy(
        arguments: tuple[str, ...], warm: dict[str, str | None]) -> None:
    printed, modules = loaded_by(command(*arguments), warm, stdin="x^2*sin(y)")
    assert printed.strip()
    assert not modules & HEAVY
    # There is nothing to explain: no None, no exact 0, no NaN.
    assert not [name for name in modules if name.startswith("gradcli.explain")]
    # What the language reads needs no reader of what people write on paper.
    assert not [name for name in modules if name.startswith(("gradcli.lang.paper",
                                                            "gradcli.lang.typed"))]
    # Nor do these files call anything but operations.
    assert "gradcli.lang.running.verbs" not in modules


def test_the_answer_behind_the_budget_is_right(warm: dict[str, str | None]) -> None:
    printed, _ = loaded_by(command("grad", *FORMULA, "--format", "json"), warm)
    sources = json.loads(printed)["results"][0]["sources"]
    assert [s["gradient"] for s in sources] == pytest.approx(
        [2 * 1.5 * math.sin(0.5), 1.5 ** 2 * math.cos(0.5)], rel=1e-14)


def test_an_array_loads_numpy_and_no_more(warm: dict[str, str | None]) -> None:
    _, modules = loaded_by(
        command("grad", "-e", "sum(x^2)", "--at", "x=[1,2]", "--format", "json"), warm)
    assert "numpy" in modules
    assert not modules & {"lark", "rich", "scipy", "typer", "pydantic"}


def test_special_functions_of_python_load_nothing(warm: dict[str, str | None]) -> None:
    """Nor do their derivatives."""
    _, modules = loaded_by(
        command("hess", "-e", "gamma(x)*lgamma(x) + erf(x)*erfc(x)", "--at", "x=1.5"), warm)
    assert not modules & {"numpy", "scipy"}


@pytest.mark.parametrize("arguments", [
    ("derive", "-e", "x^2*sin(x)/(1 + x)"), ("grad", "-e", "x^2*sin(x)", "--at", "x=1", "--exact"),
    ("eval", "-e", "1/3 + 1/6", "--exact")], ids=lambda arguments: arguments[0])
def test_formulas_and_exact_numbers_load_no_numpy(
        arguments: tuple[str, ...], warm: dict[str, str | None]) -> None:
    _, modules = loaded_by(command(*arguments), warm)
    assert not modules & {"numpy", "scipy", "sympy"}


def test_a_special_function_loads_one_module_of_scipy(warm: dict[str, str | None]) -> None:
    printed, modules = loaded_by(
        command("grad", "-e", "erfcx(x)", "--at", "x=0"), warm)
    assert float(printed.split()[-1]) == pytest.approx(-2 / math.sqrt(math.pi), rel=1e-15)
    assert "scipy.special._ufuncs" in modules
    assert not {name for name in modules if name.startswith("scipy.")} & {
        "scipy.linalg", "scipy.special", "scipy._lib._array_api"}
    # And then the package is there for who imports it.
    loaded_by("from gradcli.base.lazy import special; special.jv; import scipy.special\n"
              "assert scipy.special.jv is special.jv", warm)


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
