"""What all tests share: a pinned terminal, the command line in a subprocess, golden files.

The environment is pinned when this file is read, before any test module imports typer or rich:
both look at it once and keep what they saw.
"""

from __future__ import annotations

import faulthandler
import functools
import gc
import inspect
import os
import random
import shlex
import signal
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from commands import Environment, Ran, run
from draws import SEED
from folders import DATA, ROOT
from hypothesis import HealthCheck, settings
from loaded import command, loaded_by
from printed import as_shown

# Collecting makes half a million objects that stay. The collector does not look for garbage among
# them while they are made, nor ever again: see pytest_runtestloop.
gc.disable()

# What a person sets for Python is not what is tested: output that is not buffered, warnings, a hash
# seed. Hundreds of commands run in processes of their own: each would compile the package again.
for _name in [name for name in os.environ if name.startswith("PYTHON")]:
    del os.environ[_name]
sys.dont_write_bytecode = False

# A job in the background of a shell ignores interrupts, and so would every command that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples each time unless a seed is given, however slow the machine.
settings.register_profile(
    "fixed", derandomize=SEED is None, deadline=None, database=None,
    suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fixed")

for _name in ("CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "GITHUB_ACTIONS", "NO_COLOR",
              "PY_COLORS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(_name, None)
os.environ.update(TERM="xterm-256color", COLUMNS="80", LINES="24", LC_ALL="C.UTF-8")
# As gradcli.base.lazy does before it loads NumPy, which the tests load themselves: a second thread
# turns the digits of samples/digits.txt into ten times the work.
os.environ["OPENBLAS_NUM_THREADS"] = "1"


SLOW = DATA / "slow.txt"
TOO_SLOW = 0.25      # seconds for three cases
SPENT: dict[str, float] = defaultdict(float)
"""The seconds of each test function."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true",
                     help="write what the tests see into the golden files; then read the diff")
    parser.addoption("--cases", type=int, metavar="N",
                     help="run at most N cases of each test function, drawn with a fixed seed")
    parser.addoption("--fast", action="store_true",
                     help="run 3 cases of each test function, without those that start processes or"
                          " that tests/data/slow.txt names")
    parser.addoption("--update-slow", action="store_true",
                     help="run 3 cases of each test function, and write into tests/data/slow.txt"
                          " which of these take long now")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if SEED is not None and config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = SEED
    config.pluginmanager.register(Watch())
    if (config.option.fast or config.option.update_slow) and config.option.cases is None:
        config.option.cases = 3


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases of test functions that have more than --cases, and with --fast slow ones."""
    most = config.option.cases
    if most is None:
        return
    slow = SLOW.read_text().split() if config.option.fast else ()
    cases: dict[str, list[int]] = defaultdict(list)
    for k, item in enumerate(items):
        if not config.option.fast or not (
                "home" in item.fixturenames     # type: ignore[attr-defined]
                or item.get_closest_marker("slow") or function(item.nodeid) in slow):
            cases[item.nodeid.partition("[")[0]].append(k)
    kept = {k for function, found in cases.items()
            for k in random.Random(function).sample(found, min(most, len(found)))}
    config.hook.pytest_deselected(items=[item for k, item in enumerate(items) if k not in kept])
    items[:] = [item for k, item in enumerate(items) if k in kept]


def function(nodeid: str) -> str:
    """Return the file and name of a test function, whatever the folder and the case."""
    return nodeid.partition("[")[0].rpartition("/")[2]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    SPENT[function(report.nodeid)] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.option.update_slow and not hasattr(session.config, "workerinput"):
        others = set(SLOW.read_text().split()) - SPENT.keys()
        SLOW.write_text("".join([f"{name}\n" for name in sorted(
            {*others, *[name for name in SPENT if SPENT[name] > TOO_SLOW]})]))


def pytest_report_header() -> str:
    return f"generated tests: GRADCLI_SEED={SEED}" if SEED else "generated tests: the fixed seeds"


HANGS, AGAIN = 300, 10     # seconds


class Watch:
    """A test that hangs says where, and ends its process: continuous integration goes on.

    The time starts anew every few seconds, not for each test as pytest's own limit: the thread that
    waits takes a millisecond to end, and there are 20,000 tests.
    """

    def __init__(self) -> None:
        self.errors = os.dup(2)     # what pytest catches is not seen
        self.since = -float("inf")

    def pytest_runtest_setup(self) -> None:
        if monotonic() - self.since > AGAIN:
            self.since = monotonic()
            faulthandler.dump_traceback_later(HANGS + AGAIN, exit=True, file=self.errors)

    def pytest_enter_pdb(self) -> None:
        self.pytest_sessionfinish()
        self.since = float("inf")

    def pytest_sessionfinish(self) -> None:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _one_application() -> Iterator[None]:
    with one_application():
        yield


@contextmanager
def one_application() -> Iterator[None]:
    """Typer's application is built once per process of tests, not for every command line.

    The options are the same each time, and building it takes longer than most tests.
    """
    import typer.main

    from gradcli.cli import app

    chosen = Latest()
    application = app._application(chosen, app.named([]))      # type: ignore[arg-type]
    command, get_command = typer.main.get_command(application), typer.main.get_command

    def kept(latest: list[Any], names: Sequence[str]) -> Any:
        chosen.latest = latest
        return application

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "_application", kept)
        patch.setattr(typer.main, "get_command",
                      lambda of: command if of is application else get_command(of))
        yield


class Latest:
    """What a command line chose goes to the list of the latest one."""

    __slots__ = ("latest",)

    def __init__(self) -> None:
        self.latest: list[Any] = []

    def append(self, chosen: Any) -> None:
        self.latest.append(chosen)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """Variables for a subprocess: this checkout's gradcli, and a cache folder of this session."""
    return {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}


@pytest.fixture(scope="session")
def warm(home: dict[str, str | None]) -> dict[str, str | None]:
    """An environment whose parser tables are cached, as after the first run of any user."""
    loaded_by(command("eval", "-e", "1"), home)
    return home


@pytest.fixture
def gradcli(home: dict[str, str | None]) -> Callable[..., Ran]:
    """`gradcli("grad", "-", stdin="x^2")` runs the command line; keywords are those of `run`."""

    def call(*arguments: str, stdin: str | bytes = b"", env: Environment | None = None,
             cwd: str | Path | None = None, timeout: float = 120) -> Ran:
        return run(sys.executable, "-m", "gradcli", *arguments, stdin=stdin, cwd=cwd,
                   env={**home, **(env or {})}, timeout=timeout)

    return call


@pytest.fixture
def fresh_trace() -> Iterator[None]:
    """What tests before did is of no use to a question why, and takes time to look through."""
    from gradcli.engine.record import provenance
    from gradcli.engine.record import record as records

    record = records.current()
    before, record.trace = record.trace, provenance.PythonEvents()
    others = list(provenance.traces)
    provenance.traces.clear()
    yield
    record.trace = before
    provenance.traces.extend(others)


@pytest.fixture
def prunings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Records of loops are pruned from a thousand entries on, in place of a hundred thousand; the
    entries that each pruning left, in order. test_memory.py has loops of the real length.
    """
    from gradcli.engine.record import recording
    from gradcli.lang.running import run

    left: list[int] = []
    prune = recording.prune

    def counted(record: Any, live: Any) -> int:
        left.append(prune(record, live))
        return left[-1]

    monkeypatch.setattr(run, "PRUNE_AT", 1_000)
    monkeypatch.setattr(recording, "prune", counted)
    return left


PARAMETERS = type(pytest.param())
SHARE = 100


def folded(test: Callable[..., None]) -> Callable[..., None]:
    """Make one test of up to SHARE cases of its parameters, which names all that fail: for cases
    that take less time than a test of its own, 4 ms.
    """
    marks = [mark for mark in test.pytestmark   # type: ignore[attr-defined]
             if mark.name == "parametrize"]
    cases: list[dict[str, tuple[Any, str]]] = [{}]
    for mark in marks:
        cases = [{**case, **one} for one in _named(*mark.args, **mark.kwargs) for case in cases]
    shares = -(-len(cases) // SHARE)

    @functools.wraps(test)
    def together(share: int, pytestconfig: pytest.Config) -> None:
        asked, most = cases[share::shares], pytestconfig.option.cases
        if most is not None:
            asked = random.Random(test.__name__).sample(
                asked, min(-(-most // shares), len(asked)))
        wrong, told = [], ""
        for case in asked:
            try:
                test(**{name: value for name, (value, _) in case.items()})
            except (Exception, pytest.fail.Exception, pytest.skip.Exception) as problem:
                wrong.append("-".join([id for _, id in case.values() if id]))
                if len(wrong) <= 10:
                    lines = traceback.format_exception(problem, limit=-3)
                    told += f"\n\n{wrong[-1]}\n{''.join(lines)}"
        if wrong:
            pytest.fail(f"{len(wrong)} of {len(asked)}: {', '.join(wrong)}{told}", pytrace=False)

    together.__signature__ = inspect.signature(together, follow_wrapped=False)  # type: ignore[attr-defined]
    together.pytestmark = [     # type: ignore[attr-defined]
        mark for mark in together.pytestmark if mark not in marks]
    return pytest.mark.parametrize("share", range(shares))(together)


def _named(names: str | Sequence[str], values: Iterable[Any], ids: Any = None
           ) -> list[dict[str, tuple[Any, str]]]:
    """The values of each case of pytest.mark.parametrize, by name, with what the case is called."""
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    found = []
    for k, one in enumerate(values):
        row = one.values if isinstance(one, PARAMETERS) else one if len(names) > 1 else (one,)
        id = one.id if isinstance(one, PARAMETERS) else None
        if id is None and ids is not None:
            id = "-".join([str(ids(value)) for value in row]) if callable(ids) else [*ids][k]
        told = [id or repr(row if len(names) > 1 else row[0])] + [""]*(len(names) - 1)
        found.append(dict(zip(names, zip(row, told, strict=True), strict=True)))
    return found


Golden = Callable[[Path, str], None]
OnPage = Callable[[Path, str, str, str], None]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """`golden(path, text)` compares with a file, or writes it under --update-golden."""

    def check(path: Path, text: str) -> None:
        expected = path.read_bytes().decode() if path.exists() else "(no golden file)"
        text = as_shown(text, expected)
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
            return
        assert text == expected, f"{path.name} differs; see --update-golden"

    return check


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `gradcli` command that runs this checkout."""
    path = tmp_path_factory.mktemp("bin") / "gradcli"
    path.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec'
                    f' {shlex.quote(sys.executable)} -m gradcli "$@"\n')
    path.chmod(0o755)
    return path.parent


@pytest.fixture
def on_page(request: pytest.FixtureRequest) -> OnPage:
    """`on_page(page, command, shown, printed)` compares what a command printed with what a page
    shows below it, or writes it there under --update-golden.
    """

    def check(page: Path, command: str, shown: str, printed: str) -> None:
        expected = shown.rstrip("\n")
        found = as_shown(printed.rstrip("\n"), expected)
        if found != expected and request.config.getoption("--update-golden"):
            text = page.read_text(encoding="utf-8")
            page.write_text(text.replace(f"$ {command}\n{shown}", f"$ {command}\n{found}\n"),
                            encoding="utf-8")
            return
        assert found == expected

    return check
