"""Make small wrong changes at places drawn at random, and see whether the tests notice them.

    python tests/tools/mutants.py map                  # which new tests call which functions
    python tests/tools/mutants.py run --count 100 --seed 1 --jobs 2
    python tests/tools/mutants.py list --count 100 --seed 1

Equal shares of the changes fall on each package of gradcli. Each is made in a copy of the checkout;
the tests that call the changed function run there, those that call the fewest functions first,
then those that start processes, until one fails. A survivor is a question that the tests do not ask
or a change that changes nothing: each has to be looked at. Python of the test extra is enough.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from _lsprof import Profiler
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from folders import ROOT, TESTS

PACKAGE = ROOT / "gradcli"
MAP = ROOT / "build" / "mutants" / "map"
FIRST = 150
"""Test functions of the first round, which runs without the others being collected."""


class Mutant(NamedTuple):
    """A change of one file: bytes start..stop become text."""

    file: str
    line: int
    function: str  # the qualified name of the innermost function; empty outside of all
    kind: str
    start: int
    stop: int
    text: str
    before: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.kind}: {self.before!r} -> {self.text!r}"


# --- the changes ------------------------------------------------------------------------------

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift}


def changes_of(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """(kind, changed node) of each small change of one node."""
    match node:
        case ast.Compare(left, [op, *ops], comparators) if type(op) in COMPARED:
            yield "comparison", ast.Compare(left, [COMPARED[type(op)](), *ops], comparators)
        case ast.BoolOp(op, values):
            yield "and/or", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            yield "condition dropped", values[0]
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield "sign or not dropped", operand
        case ast.BinOp(left, op, right) if type(op) in COMPUTED and not _textual(left, right):
            yield "arithmetic", ast.BinOp(left, COMPUTED[type(op)](), right)
        case ast.Constant(bool(value)):
            yield "truth", ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield "number", ast.Constant(value + 1)
        case ast.IfExp(test, body, orelse):
            yield "branches swapped", ast.IfExp(test, orelse, body)
        case ast.Call(function, [ast.Name() as first, ast.Name() as second, *rest], keywords):
            yield "arguments swapped", ast.Call(function, [second, first, *rest], keywords)
        case ast.Call(function, arguments, [*keywords, last]) if last.arg:
            yield "argument dropped", ast.Call(function, arguments, keywords)
        case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            yield "statement dropped", ast.Pass()
        case _:
            return


def _textual(*nodes: ast.expr) -> bool:
    return any(isinstance(n, ast.JoinedStr) or isinstance(getattr(n, "value", None), str)
               for n in nodes)


def mutants(path: Path) -> list[Mutant]:
    """All changes of a file, but of types, texts, imports and what mypy alone sees."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    name = str(path.relative_to(ROOT))
    found: list[Mutant] = []

    def walk(node: ast.AST, function: str, inside: str) -> None:
        """function: as in Mutant. inside: what stands before the name of a definition."""
        if isinstance(node, ast.FunctionDef):
            for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                walk(default, function, inside)
            function = inside + node.name
            inside, children = function + ".<locals>.", list[ast.AST](node.body)
        elif isinstance(node, ast.ClassDef):
            inside, children = inside + node.name + ".", list(node.body)
        elif isinstance(node, ast.Lambda):
            function = inside + "<lambda>"
            inside, children = function + ".<locals>.", [node.body]
        elif isinstance(node, ast.AnnAssign):
            children = [node.value] if node.value else []
        elif isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr):
            return
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            children = list(node.orelse)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in (
                "TYPE_CHECKING", "__slots__", "__all__"):
            return
        else:
            children = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.expr | ast.stmt):
            start = starts[node.lineno - 1] + node.col_offset
            stop = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            for kind, changed in changes_of(node):
                text = ast.unparse(ast.fix_missing_locations(changed))
                if isinstance(node, ast.expr):
                    text = f"({text})"
                found.append(Mutant(name, node.lineno, function, kind, start, stop, text,
                                    source[start:stop].decode()))
        for child in children:
            walk(child, function, inside)

    walk(ast.parse(source), "", "")
    return found


def drawn(count: int, seed: int) -> list[Mutant]:
    """`count` changes: as many in each package of gradcli, the files directly in it being one."""
    rng = random.Random(seed)
    by_package: dict[str, list[Mutant]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name not in ("_version.py", "_tables.py"):
            inside = path.relative_to(PACKAGE).parts
            by_package[inside[0] if len(inside) > 1 else "."] += mutants(path)
    packages = [name for name, found in sorted(by_package.items()) if found]
    each, more = divmod(count, len(packages))
    luckier = set(rng.sample(packages, more))
    return [mutant for name in packages
            for mutant in rng.sample(by_package[name], each + (name in luckier))]


# --- which tests call which functions ---------------------------------------------------------


class Calls:
    """A plugin of pytest: writes what each test function calls in the package."""

    def __init__(self) -> None:
        self.profiler = Profiler(subcalls=False, builtins=False)
        self.found: dict[str, set[str]] = defaultdict(set)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.profiler.clear()
        self.profiler.enable()
        begun = time.perf_counter()
        try:
            return (yield)
        finally:
            self.profiler.disable()
            self._write(item.nodeid.partition("[")[0], time.perf_counter() - begun)

    def _write(self, test: str, seconds: float) -> None:
        """Append what a case called that earlier ones of its test did not; a worker may die."""
        called = set()
        for call in self.profiler.getstats():
            code = call.code
            if isinstance(code, str):  # of C
                continue
            if code.co_filename.startswith(str(PACKAGE)):
                called.add(f"{os.path.relpath(code.co_filename, ROOT)}:{code.co_qualname}")
            elif code.co_name == "_execute_child":
                called.add("process")
        new = called - self.found[test]
        self.found[test] |= new
        MAP.mkdir(parents=True, exist_ok=True)
        with (MAP / f"{NOW}-{os.getpid()}.ndjson").open("a") as file:
            file.write(json.dumps([test, round(seconds, 2), sorted(new)]) + "\n")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        known, _ = mapped()
        items[:] = [item for item in items if item.nodeid.partition("[")[0] not in known]


NOW = os.environ.get("GRADCLI_MUTANTS_MAP")
"""When the map is being made that this process works for."""
if NOW:  # pytest loads this file as a plugin: `-p mutants`
    _calls = Calls()
    pytest_runtest_protocol = _calls.pytest_runtest_protocol
    pytest_collection_modifyitems = _calls.pytest_collection_modifyitems


def mapped() -> tuple[dict[str, set[str]], dict[str, float]]:
    """What each test calls, and the seconds that it takes."""
    calls: dict[str, set[str]] = defaultdict(set)
    seconds: dict[str, float] = defaultdict(float)
    for path in sorted(MAP.glob("*.ndjson")):
        if NOW and path.name.startswith(NOW):
            continue  # so that all workers, late ones too, collect the same tests
        for line in path.read_text().splitlines():
            test, taken, called = json.loads(line)
            calls[test].update(called)
            seconds[test] += taken
    return calls, seconds


def make_map(jobs: int) -> None:
    """Run some cases of all tests that are not on the map yet."""
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "mutants", "--cases", "3", "-n", str(jobs),
         "--dist", "worksteal"], cwd=ROOT, check=False,
        env={**os.environ, "PYTHONPATH": str(TESTS / "tools"),
             "GRADCLI_MUTANTS_MAP": str(int(time.time()))})


class Tests:
    """The tests that have to do with a change, the narrowest first."""

    def __init__(self) -> None:
        self.of: dict[str, set[str]] = defaultdict(set)
        self.width: dict[str, int] = {}
        self.process: list[str] = []
        calls, seconds = mapped()
        if not calls:
            raise SystemExit("there is no map yet: python tests/tools/mutants.py map")
        texts = {path.name: path.read_text() for path in TESTS.glob("*/test_*.py")}
        for test, called in calls.items():
            file, _, function = test.rpartition("::")
            if f"def {function}(" not in texts.get(Path(file).name, ""):
                continue  # since the map was made
            self.width[test] = len(called) + int(100 * seconds[test])
            for place in called:
                self.of[place].add(test)
                self.of[place.partition(":")[0]].add(test)
        self.process = sorted(self.of["process"], key=seconds.__getitem__)

    def noticing(self, mutant: Mutant) -> list[str]:
        place = f"{mutant.file}:{mutant.function}"
        near = self.of.get(place) or self.of.get(mutant.file) or set()
        ordered = sorted(near, key=self.width.__getitem__)
        return ordered + [test for test in self.process if test not in near]


# --- trying ------------------------------------------------------------------------------------


def copied(folder: Path) -> Path:
    """A copy of what git tracks, and the parser tables, in `folder`."""
    target = folder / "checkout"
    for name in subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True,
                               check=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target


def tried(mutant: Mutant, tests: Tests, checkout: Path) -> tuple[str, float]:
    """(the test that failed or an empty text, seconds)."""
    begun = time.perf_counter()
    path = checkout / mutant.file
    source = path.read_bytes()
    path.write_bytes(source[:mutant.start] + mutant.text.encode() + source[mutant.stop:])
    try:
        chosen = tests.noticing(mutant)
        for part in (chosen[:FIRST], chosen[FIRST:]):
            failed = part and _failed(part, checkout)
            if failed:
                return failed, time.perf_counter() - begun
        return "", time.perf_counter() - begun
    finally:
        path.write_bytes(source)


def _failed(tests: list[str], checkout: Path) -> str:
    """The first test that fails; a change that hangs or cannot be imported is noticed, too."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "--tb=no", "-p",
               "no:cacheprovider", "-p", "no:xdist", *tests]
    try:
        done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=1800,
                              check=False)
    except subprocess.TimeoutExpired:
        return "(hangs)"
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0][:120] if lines else f"(status {done.returncode})"


def run(chosen: list[Mutant], seed: int, jobs: int) -> int:
    """Try the changes and print what became of each; return how many survived."""
    tests = Tests()
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(jobs) as pool:
        checkouts = [copied(Path(temporary) / str(k)) for k in range(jobs)]

        def one(mutant: Mutant) -> tuple[Mutant, str, float]:
            checkout = checkouts.pop()
            try:
                return (mutant, *tried(mutant, tests, checkout))
            finally:
                checkouts.append(checkout)

        survived = 0
        for mutant, failed, seconds in pool.map(one, chosen):
            survived += not failed
            print(f"{'noticed ' if failed else 'SURVIVED'} {seconds:5.0f} s  {mutant}"
                  + (f"\n{'':18}{failed}" if failed else ""), flush=True)
    print(f"{len(chosen) - survived} of {len(chosen)} noticed (seed {seed})")
    return survived


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=("map", "list", "run"))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--after", type=int, default=0, help="leave out so many, tried before")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    if asked.action == "map":
        make_map(asked.jobs)
        return
    chosen = drawn(asked.count, asked.seed)[asked.after:]
    if asked.action == "run":
        run(chosen, asked.seed, asked.jobs)
    else:
        print(*chosen, sep="\n")


if __name__ == "__main__":
    main()
