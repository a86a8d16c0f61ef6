"""gradcli from a wheel, from an editable install and from a checkout; and what the archives hold.

Nothing is downloaded: the installed hatchling builds without isolation, pip installs with
`--no-deps --no-index` into fresh environments, and the dependencies are lent by the environment
that runs the tests.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from sysconfig import get_platform

import pytest
from commands import Ran, run
from folders import ROOT
from loaded import HEAVY

pytestmark = pytest.mark.slow

GRAD = ("grad", "-e", "x^2", "--at", "x=3", "--format", "json")

# Run before main(): importing the package is then an error.
WITHOUT = """\
import sys
for name in sys.argv.pop(1).split(","):
    sys.modules[name] = None
from gradcli.cli.main import main
sys.exit(main())
"""


class Installed:
    """A virtual environment with gradcli in it, asked from an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.python = folder / "venv" / "bin" / "python"
        self.elsewhere = folder / "elsewhere"
        self.cache = folder / "cache"
        self.elsewhere.mkdir()
        # A pip of its own takes four seconds, so this environment's is used where it has one.
        own_pip = find_spec("pip") is None
        self.pip = ([str(self.python), "-m", "pip"] if own_pip
                    else [sys.executable, "-m", "pip", "--python", str(self.python)])
        run_ok(sys.executable, "-m", "venv", *([] if own_pip else ["--without-pip"]),
               str(folder / "venv"), cwd=folder)

    def pip_install(self, *arguments: str) -> None:
        self(*self.pip, "install", "--quiet", "--disable-pip-version-check", "--no-deps",
             "--no-index", *arguments)

    def lend_dependencies(self) -> None:
        """Let it see the packages of this environment, behind its own."""
        lent = [p for p in sys.path if os.path.basename(p) in ("site-packages", "dist-packages")]
        own = self(str(self.python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
        # The folders named in a .pth file are not searched for further .pth files, so an editable
        # install in this environment is not lent.
        Path(own.stdout.strip(), "lent.pth").write_text("\n".join(lent) + "\n", encoding="utf-8")

    def __call__(self, *command: str) -> Ran:
        return run_ok(*command, cwd=self.elsewhere, env={
            "PYTHONPATH": None, "XDG_CACHE_HOME": str(self.cache), "VIRTUAL_ENV": None})

    def gradcli(self, *arguments: str) -> Ran:
        return self(str(self.python.parent / "gradcli"), *arguments)

    def where(self) -> Path:
        """The folder that `import gradcli` finds."""
        found = self(str(self.python), "-c", "import gradcli; print(gradcli.__file__)")
        return Path(found.stdout.strip()).resolve().parent


def run_ok(*command: str, **keywords: object) -> Ran:
    done = run(*command, **keywords)  # type: ignore[arg-type]
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def build(target: str, source: Path, folder: Path, portable: str | None = None) -> Path:
    """Build a wheel or an sdist with the installed hatchling; the only file made."""
    run_ok(sys.executable, "-B", "-m", "hatchling", "build", "-t", target, "-d", str(folder),
           cwd=source, env={"PYTHONPATH": None, "GRADCLI_PORTABLE": portable})
    (made,) = folder.iterdir()
    return made


def gradient(ran: Ran) -> float:
    found: float = json.loads(ran.stdout)["results"][0]["sources"][0]["gradient"]
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


class Rebuilt:
    """A wheel made from what is in an sdist, and the files beside it before and after."""

    def __init__(self, sdist: Path, folder: Path) -> None:
        # Not in the checkout, because other tests write bytecode into it while they run.
        source = unpack(sdist, folder)
        self.before = set(source.rglob("*"))
        self.wheel = build("wheel", source, folder / "wheel")
        self.after = set(source.rglob("*"))


@pytest.fixture(scope="module")
def rebuilt(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Rebuilt:
    return Rebuilt(sdist, tmp_path_factory.mktemp("rebuilt"))


@pytest.fixture(scope="module")
def from_wheel(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    installed = Installed(tmp_path_factory.mktemp("from_wheel"))
    installed.pip_install(str(wheel))
    installed.lend_dependencies()
    return installed


def names(archive: Path) -> set[str]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as file:
            return set(file.namelist())
    with tarfile.open(archive) as file:
        return {name.partition("/")[2] for name in file.getnames()}


def unpack(sdist: Path, folder: Path) -> Path:
    with tarfile.open(sdist) as file:
        file.extractall(folder, filter="data")
    return folder / sdist.name.removesuffix(".tar.gz")


def tracked_modules() -> set[str]:
    return {path.relative_to(ROOT).as_posix() for path in (ROOT / "gradcli").rglob("*.py")
            if path.name != "_tables.py"}


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    from gradcli._version import __version__
    from gradcli.cli.man import pages

    inside = {name for name in names(wheel) if ".dist-info/" not in name}
    manual = {f"gradcli-{__version__}.data/data/share/man/man1/{name}" for name in pages()}
    grammars = {f"gradcli/grammars/{path.name}" for path in (ROOT / "grammars").glob("*.lark")}
    schemas = {f"gradcli/schemas/{path.name}"
               for path in (ROOT / "gradcli" / "schemas").glob("*.json")}
    assert grammars >= {"gradcli/grammars/program.lark", "gradcli/grammars/answer.lark"}
    assert schemas
    tables = {path.relative_to(ROOT).as_posix()
              for path in (ROOT / "gradcli" / "tf").rglob("*.txt")}
    assert inside == (tracked_modules() | grammars | schemas | manual | tables
                      | {f"gradcli-{__version__}.data/scripts/gradcli",
                         "gradcli/_version.py", "gradcli/lang/syntax/_tables.py",
                         "gradcli/lang/paper/_tables.py", "gradcli/py.typed"})


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    from gradcli._version import __version__

    platform = get_platform().replace("-", "_").replace(".", "_")
    assert wheel.name == f"gradcli-{__version__}-py3-none-{platform}.whl"
    with zipfile.ZipFile(wheel) as file:
        metadata = file.read(f"gradcli-{__version__}.dist-info/METADATA").decode()
    assert f"\nVersion: {__version__}\n" in metadata
    assert "\nLicense-Expression: MIT\n" in metadata
    assert f"gradcli-{__version__}.dist-info/licenses/LICENSE" in names(wheel)


def test_a_portable_wheel_has_an_entry_point_in_place_of_the_script(
        wheel: Path, tmp_path: Path) -> None:
    from gradcli._version import __version__

    portable = build("wheel", ROOT, tmp_path, "1")
    assert portable.name == f"gradcli-{__version__}-py3-none-any.whl"
    points = f"gradcli-{__version__}.dist-info/entry_points.txt"
    assert names(portable) ^ names(wheel) == {
        points, f"gradcli-{__version__}.data/scripts/gradcli"}
    with zipfile.ZipFile(portable) as file:
        assert "gradcli = gradcli.__main__:script" in file.read(points).decode()


@pytest.mark.parametrize(("executable", "own"), [
    ("/usr/bin/python3", True), ("/home/ann/My Projects/venv/bin/python", False),
    (f"/{'long' * 30}/venv/bin/python", False)])
def test_a_wheel_has_a_script_where_the_system_runs_it(
        executable: str, own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from hatch_build import is_local

    monkeypatch.delenv("GRADCLI_PORTABLE", raising=False)
    monkeypatch.setattr(sys, "executable", executable)
    assert is_local() is own


def test_the_script_of_a_wheel_imports_nothing_but_gradcli(from_wheel: Installed) -> None:
    """That of pip before 25.1 imports `re`, 4 ms, and all others `sys` alone."""
    script = from_wheel.python.parent / "gradcli"
    ran = from_wheel(str(from_wheel.python), "-X", "importtime", str(script), *GRAD)
    assert gradient(ran) == 6.0
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
    assert "gradcli.cli.main" in loaded
    assert not loaded & HEAVY


def test_the_wheels_tables_are_those_of_the_grammars(wheel: Path) -> None:
    from gradcli.lang.paper.parser import GRAMMARS, KIND_NAMES
    from gradcli.lang.syntax.export import build as built
    from gradcli.lang.syntax.grammar import FORMAT, grammar_text

    expected = {"syntax": built(grammar_text()),
                "paper": built(grammar_text(GRAMMARS), KIND_NAMES)}
    for package, tables in expected.items():
        with zipfile.ZipFile(wheel) as file:
            module = ast.parse(file.read(f"gradcli/lang/{package}/_tables.py"))
        constants = {
            node.targets[0].id: ast.literal_eval(node.value) for node in module.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
        assert constants == {"FORMAT": FORMAT, "TABLES": tables}


def test_the_build_leaves_nothing_in_the_checkout(rebuilt: Rebuilt) -> None:
    assert len(rebuilt.before) > 500
    assert rebuilt.after == rebuilt.before


def test_the_sdist_holds_what_a_packager_needs(sdist: Path) -> None:
    inside = names(sdist)
    assert inside >= tracked_modules() | {
        "pyproject.toml", "hatch_build.py", "README.md", "CHANGELOG.md", "LICENSE", "Makefile",
        "PKG-INFO", "grammars/program.lark", "grammars/answer.lark", "samples/expr.txt",
        "tests/conftest.py", "tests/system/test_packaging.py"}
    assert not [name for name in inside if name.endswith((".pyc", "/_tables.py"))
                or ".venv" in name or "_cache" in name]


def test_a_wheel_built_from_the_sdist_is_the_same(rebuilt: Rebuilt, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(rebuilt.wheel) as other:
        assert {i.filename: i.CRC for i in one.infolist()} == {
            i.filename: i.CRC for i in other.infolist()}


def test_an_installed_wheel_answers_from_any_folder(from_wheel: Installed) -> None:
    assert from_wheel.python.parent.parent in from_wheel.where().parents
    assert gradient(from_wheel.gradcli(*GRAD)) == 6.0
    assert gradient(from_wheel(str(from_wheel.python), "-m", "gradcli", *GRAD)) == 6.0
    assert from_wheel.gradcli("grad", "-e", "x^2", "--at", "x=3").stdout == "df/dx\t6\n"


def test_an_installed_wheel_needs_no_lark_and_no_cache(from_wheel: Installed) -> None:
    lean = from_wheel(str(from_wheel.python), "-c", WITHOUT, "lark,numpy,rich,typer", *GRAD)
    assert gradient(lean) == 6.0
    # An array, the terminal's table and a usage error take the others, but never Lark.
    table = from_wheel(str(from_wheel.python), "-c", WITHOUT, "lark", "hess", "-e", "sum(x^3)",
                       "--at", "x=[1,2]", "--format", "table")
    assert "12" in table.stdout
    assert not from_wheel.cache.exists()


def test_an_installed_wheel_checks_homework(from_wheel: Installed) -> None:
    """Also without Lark; with it missing, the tables of answers are those of the wheel."""
    def lean(*arguments: str) -> Ran:
        return run(str(from_wheel.python), "-c", WITHOUT, "lark,typer", *arguments,
                   cwd=from_wheel.elsewhere, env={
                       "PYTHONPATH": None, "XDG_CACHE_HOME": str(from_wheel.cache),
                       "VIRTUAL_ENV": None})

    checked = lean("check", "sin(x^2)", "cos(x^2)", "--format", "json")
    assert checked.returncode == 1, checked.stderr
    assert json.loads(checked.stdout)["mistake"] == "missing_chain_factor"
    folder = from_wheel.elsewhere / "class"
    (folder / "subs" / "ann").mkdir(parents=True)
    (folder / "subs" / "ann" / "answers.txt").write_text("1a: 2x cos(x^2)\n1b: 2x +\n")
    (folder / "sheet.txt").write_text("1a: sin(x^2)\n1b: x^2\n")
    # The processes that check are started from the installed package as well.
    marked = lean("hw", "run", "class/sheet.txt", "class/subs", "-j", "2", "-o", "class/out",
                  "--format", "json")
    assert marked.returncode == 1, marked.stderr
    assert json.loads(marked.stdout)["answers"]["verdicts"] == {"correct": 1, "unreadable": 1}
    assert (folder / "out" / "gradebook.csv").read_text().count("\n") == 2
    assert not from_wheel.cache.exists()


def test_an_installed_wheel_explains_a_syntax_error(from_wheel: Installed) -> None:
    done = subprocess.run(
        [str(from_wheel.python), "-c", WITHOUT, "lark", "eval", "-e", "2*(x"],
        capture_output=True, text=True, cwd=from_wheel.elsewhere, timeout=120, check=False)
    assert done.returncode == 3
    assert "error[E01" in done.stderr


def test_an_installed_wheel_has_manual_pages(from_wheel: Installed) -> None:
    from gradcli.cli.man import pages

    folder = from_wheel.python.parent.parent / "share" / "man" / "man1"
    assert {p.name: p.read_text("utf-8") for p in folder.glob("gradcli*")} == pages()


def test_the_schemas_and_grammars_are_found_in_a_wheel(from_wheel: Installed) -> None:
    where = from_wheel.where()
    assert json.loads((where / "schemas" / "grad.schema.json").read_text("utf-8"))
    asked = from_wheel(str(from_wheel.python), "-c", "from gradcli.lang.syntax.grammar import "
                       "grammar_text; print(grammar_text())")
    assert asked.stdout.strip() == "\n".join(
        (ROOT / "grammars" / name).read_text("utf-8")
        for name in ("program.lark", "expression.lark")).strip()


def test_an_editable_install_is_the_checkout(tmp_path: Path) -> None:
    installed = Installed(tmp_path)
    installed.lend_dependencies()
    installed.pip_install("--no-build-isolation", "--editable", str(ROOT))
    assert installed.where() == ROOT / "gradcli"
    assert gradient(installed.gradcli(*GRAD)) == 6.0
    # The tables come from the user's cache, where the first run has put them ...
    (cached,) = (installed.cache / "gradcli").iterdir()
    lean = installed(str(installed.python), "-c", WITHOUT, "lark", *GRAD)
    assert gradient(lean) == 6.0
    # ... and without a folder to write to, each run builds them.
    cached.unlink()
    cached.parent.rmdir()
    installed.cache.rmdir()
    installed.cache.touch()
    assert gradient(installed.gradcli(*GRAD)) == 6.0


def test_the_checkout_runs_uninstalled(home: dict[str, str | None], tmp_path: Path) -> None:
    here = run_ok(sys.executable, "-m", "gradcli", *GRAD, cwd=ROOT,
                  env={**home, "PYTHONPATH": None})
    elsewhere = run_ok(sys.executable, "-m", "gradcli", *GRAD, cwd=tmp_path, env=home)
    assert gradient(here) == gradient(elsewhere) == 6.0
