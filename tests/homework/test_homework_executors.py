"""Who checks the answers of a class: always the same verdicts in the same order, whoever it is,
and whatever an answer does to its process.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from folders import ROOT, TESTS
from homework_made import TWO_PROBLEMS
from hostile_work import make

from gradcli.base.errors import GradcliError
from gradcli.base.workers import batches, guarded
from gradcli.base.workers.batches import Job, run_batches
from gradcli.base.workers.guarded import DIED, TOO_LONG, Guarded, Lost, guards
from gradcli.base.workers.pools import pool
from gradcli.homework.check import check, prepare
from gradcli.homework.checking.fields import from_fields
from gradcli.homework.checking.outcome import unchecked
from gradcli.homework.handed_in.records import Answer
from gradcli.homework.marking.executors import check_answers, prepared, seed_of
from gradcli.homework.sheets.formats import parse
from gradcli.homework.sheets.sheet import Sheet

Batch = Sequence[Any]


@pytest.fixture
def one() -> Iterator[Guarded]:
    found = Guarded()
    yield found
    found.close()


# --- one process --------------------------------------------------------------------------------

@pytest.mark.parametrize(("item", "reason"), [
    ("exit", DIED), ("crash", DIED), ("raise", "ValueError: what is that"),
    ("memory", "it takes too much memory"), ("deep", "RecursionError")])
def test_an_item_costs_itself(one: Guarded, item: str, reason: str) -> None:
    items = [*"abc", item, *"def", item, "g"]
    found = one.run(make, "k", "p", items)
    assert [outcome for outcome in found if outcome[0]] == [(True, f"p{c}") for c in "abcdefg"]
    for k in (3, 7):
        assert not found[k][0]
        assert found[k][1].startswith(reason)


@pytest.mark.parametrize("item", ["forever", "hold"])
def test_an_item_that_takes_too_long(one: Guarded, item: str) -> None:
    one.run(make, "k", "p", ["a"])
    begin = time.monotonic()
    assert one.run(make, "k", "p", ["a", item, "b"]) == [
        (True, "pa"), (False, TOO_LONG), (True, "pb")]
    assert guarded.LIMIT - 2 * guarded.STEP < time.monotonic() - begin


def test_whoever_kills_the_process_from_outside_costs_nothing(one: Guarded, tmp_path: Path) -> None:
    file = tmp_path / "there"
    file.touch()
    assert one.run(make, "k", "p", ["a", f"once:{file}", "b"]) == [
        (True, "pa"), (True, "ponce"), (True, "pb")]
    (_, pid), = one.run(make, "k", "p", ["pid"])
    os.kill(pid, signal.SIGKILL)
    assert one.run(make, "k", "p", ["a"]) == [(True, "pa")]


def test_what_is_printed_is_no_answer(one: Guarded) -> None:
    assert one.run(make, "k", "p", ["print", "exit", "a"]) == [
        (True, "pprint"), (False, DIED), (True, "pa")]


def test_several_payloads(one: Guarded) -> None:
    for _ in range(2):
        for k in range(7):
            assert one.run(make, str(k), str(k), ["a"]) == [(True, f"{k}a")]


def test_a_payload_that_is_wrong(one: Guarded) -> None:
    with pytest.raises(GradcliError) as caught:
        one.run(make, "1", "refused", ["a"])
    assert (caught.value.code, caught.value.span, caught.value.help) == (
        "E0704", (1, 2), "write another one")
    with pytest.raises(ZeroDivisionError):
        one.run(make, "2", "broken", ["a"])
    with pytest.raises(Lost):
        one.run(make, "3", "deadly", ["a"])
    assert one.run(make, "k", "p", ["a"]) == [(True, "pa")]


def test_a_process_with_nothing_to_do_ends(one: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    (_, pid), = one.run(make, "k", "p", ["pid"])
    monkeypatch.setattr(guarded, "IDLE", 0.3)
    assert _gone(pid)
    assert one.run(make, "k", "p", ["a"]) == [(True, "pa")]


def _gone(pid: int, within: float = 20) -> bool:
    """Whether a process ends in that time."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        threading.Event().wait(0.02)
    return False


def test_processes_end_with_the_one_that_began_them() -> None:
    """Also when it is killed while an item takes for ever."""
    program = (
        f"import sys, threading; sys.path[:0] = [{str(ROOT)!r}, {str(TESTS / 'tools')!r}]\n"
        "from gradcli.base.workers import guarded\nfrom hostile_work import make\n"
        "guarded.LIMIT = 1000\none = guarded.Guarded()\n"
        "print(one.run(make, 'k', 'p', ['pid'])[0][1], flush=True)\n"
        "one.run(make, 'k', 'p', ['forever'])\n")
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    assert _gone(pid)


# --- batches ------------------------------------------------------------------------------------

def job(payload: str = "p") -> Job:
    return Job(make, payload, payload, str.lower)


def ran(executor: Executor | None, all_batches: Sequence[Batch], payload: str = "p"
        ) -> list[tuple[Batch, list[tuple[bool, Any]]]]:
    found: list[tuple[Batch, list[tuple[bool, Any]]]] = []
    run_batches(executor, 2, job(payload), iter(all_batches), lambda b, o: found.append((b, o)))
    return found


BATCHES = [[f"{k}:{i}" for i in range(k % 5)] for k in range(40)]
BATCHES[7] = ["A", "EXIT", "B"]
BATCHES[8] = ["CRASH"]
EXPECTED = [(batch, [(False, DIED) if item in ("EXIT", "CRASH") else (True, f"p{item.lower()}")
                     for item in batch]) for batch in BATCHES]


def test_threads_with_processes() -> None:
    with guards(2) as executor:
        assert ran(executor, BATCHES) == EXPECTED


def test_items_that_are_alike_share_an_outcome() -> None:
    """Whoever does them; whatever became of the first; and no more are kept than told."""
    told = [["a", "A", "b"], ["EXIT", "a"], [], ["exit", "B", "b"]]
    expected = [(batch, [(False, DIED) if item in ("EXIT", "exit") else (True, f"p{item.lower()}")
                         for item in batch]) for batch in told]
    with guards(2) as executor:
        found: list[tuple[Batch, list[tuple[bool, Any]]]] = []
        alike = Job(make, "p", "p", str.lower, str.lower)
        for part in (told[:2], told[2:]):
            run_batches(executor, 2, alike, part, lambda b, o: found.append((b, o)))
    assert found == expected
    done: list[str] = []

    def counted(payload: str) -> Any:
        return done.append

    for kept, count in ((100, 3), (2, 5), (1, 7)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(batches, "OUTCOMES", kept)
            done.clear()
            run_batches(None, 1, Job(counted, "", "", str, str), [
                [*"ab"], [*"ab"], ["c"], [*"ab"], ["c"]], lambda *_: None)
            assert len(done) == count
            patch.setattr(batches, "CHARACTERS", 2)
            done.clear()
            run_batches(None, 1, Job(counted, "", "", str, str), [["abc"]] * 2, lambda *_: None)
            assert len(done) == 2


def test_any_executor() -> None:
    with ProcessPoolExecutor(2) as executor:
        assert ran(executor, BATCHES) == EXPECTED


def test_this_process() -> None:
    items = [["a", "RAISE"], ["b"]]
    assert ran(None, items) == [
        (items[0], [(True, "pa"), (False, "ValueError: what is that")]), (items[1], [(True, "pb")])]


class Clumsy(Executor):
    """Loses tasks: `lose` says which, by their items and how often they came."""

    def __init__(self, lose: Any) -> None:
        self.lose = lose
        self.came: dict[tuple[str, ...], int] = {}
        self.payloads: list[Any] = []
        self.most = self.open = 0

    def submit(self, work: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        *_, payload, items = arguments
        self.payloads.append(payload)
        self.open += 1
        self.most = max(self.most, self.open)
        self.came[tuple(items)] = count = self.came.get(tuple(items), 0) + 1
        future: Future[Any] = Late(self)
        lost = self.lose(items, count)
        if lost:
            future.set_exception(lost)
        else:
            answer = batches.task(*pickle.loads(pickle.dumps(arguments)))
            future.set_result(answer)
        return future


class Late(Future[Any]):
    def __init__(self, executor: Clumsy) -> None:
        super().__init__()
        self.executor = executor

    def result(self, timeout: float | None = None) -> Any:
        self.executor.open -= 1
        return super().result(timeout)


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without processes of its own, so that only what the executor does is tested."""
    def run(make: Any, key: str, payload: Any, items: Batch) -> list[tuple[bool, Any]]:
        work = make(payload)
        return [(True, work(item)) for item in items]

    monkeypatch.setattr(guarded, "run", run)
    monkeypatch.setattr(batches, "_payloads", {})


@pytest.mark.usefixtures("in_this_process")
def test_a_worker_that_is_lost_with_its_machine() -> None:
    """A batch that is lost goes again, an answer at a time."""
    executor = Clumsy(lambda items, count: OSError("gone") if len(items) > 1 and "b" in items
                      else None)
    assert ran(executor, [["a", "B", "c"], ["d"]]) == [
        (["a", "B", "c"], [(True, "pa"), (True, "pb"), (True, "pc")]), (["d"], [(True, "pd")])]


@pytest.mark.usefixtures("in_this_process")
def test_an_answer_that_takes_every_worker_with_it() -> None:
    executor = Clumsy(lambda items, count: RuntimeError("killed") if "b" in items else None)
    assert ran(executor, [["a", "b", "c"], ["d"], ["b"]]) == [
        (["a", "b", "c"], [(True, "pa"), (False, DIED), (True, "pc")]), (["d"], [(True, "pd")]),
        (["b"], [(False, DIED)])]


@pytest.mark.usefixtures("in_this_process")
def test_workers_that_cannot_do_anything() -> None:
    for all_batches in ([["a", "b"], ["c"]], [["a"]]):
        with pytest.raises(GradcliError, match="No module named 'gradcli'") as caught:
            ran(Clumsy(lambda *_: ModuleNotFoundError("No module named 'gradcli'")), all_batches)
        assert caught.value.code == "E0738"
    fallen = Clumsy(lambda items, _: None if "a" in items else RuntimeError("machines are down"))
    with pytest.raises(GradcliError, match="machines are down"):
        ran(fallen, [["a"], ["b", "c"]])
    closed = ThreadPoolExecutor(1)
    closed.shutdown()
    with pytest.raises(GradcliError) as caught:
        ran(closed, [["a"]])
    assert caught.value.code == "E0738"


@pytest.mark.usefixtures("in_this_process")
def test_the_payload_goes_once_and_not_too_much_is_under_way() -> None:
    executor = Clumsy(lambda *_: None)
    sent = executor.payloads
    ran(executor, [[str(k)] for k in range(50)])
    assert executor.most == batches.AHEAD * 2
    # All that are under way before the first answer ask for it; nobody does later.
    assert [payload for payload in sent if payload is not None] == ["p"] * sent.count("p")
    assert sent.count("p") <= batches.AHEAD * 2
    ran(executor, [["x"]])
    assert sent[-1] is None


@pytest.mark.usefixtures("in_this_process")
def test_a_payload_that_is_wrong_is_told() -> None:
    with pytest.raises(GradcliError) as caught:
        ran(Clumsy(lambda *_: None), [["a"], ["b"]], "refused")
    assert caught.value.code == "E0704"


def test_an_interrupt_keeps_what_is_finished() -> None:
    """The first batch is under way when the user interrupts, the next ones are finished."""
    held = threading.Event()
    executor = ThreadPoolExecutor(4)
    found: list[Batch] = []
    futures: list[Future[Any]] = []

    class Slow(Executor):
        def submit(self, work: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
            *_, items = arguments
            first = not futures
            futures.append(executor.submit(
                lambda: [(held.wait(60), "a")] if first else [(True, item) for item in items]))
            return futures[-1]

    def all_batches() -> Iterator[list[str]]:
        for k in range(3):
            yield [str(k)]
        for future in futures[1:]:
            future.result()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_batches(Slow(), 2, job(), all_batches(), lambda batch, _: found.append(batch))
    held.set()
    executor.shutdown()
    assert found == [["1"], ["2"]]


def test_an_interrupt_ends_what_is_under_way() -> None:
    """In its end it would take half an hour, and pytest ends a test after five minutes."""
    with pytest.raises(KeyboardInterrupt), guards(2) as executor:   # noqa: PT012
        for _ in range(6):
            executor.submit(batches.task, make, "k", "p", ["forever"] * 1000)
        threading.Event().wait(0.5)
        raise KeyboardInterrupt


# --- answers ------------------------------------------------------------------------------------

SHEET = TWO_PROBLEMS + '''\
[[problem]]
id = "3"
function = "ln(x)"
at = {x = 2}
'''
TYPED = {"1": ["2x sin x + x^2 cos x", "2x cos x", "x^2 cos x + 2 x sin(x)", "", "sin(", "x" * 3000,
               "9^9^9^9^9", "(" * 500],
         "2": ["<2x+3y, 3x>", "(2x + 3y, 3y)", "[2x, 3x]"], "3": ["1/2", "0.5", "0.49", "ln 2"]}


@pytest.fixture
def sheet() -> Sheet:
    return parse(SHEET, "hw.toml")


def class_of(count: int) -> list[Answer]:
    answers = [Answer(f"s{k}", id, typed[k % len(typed)] + " " * (k % 3))
               for k in range(count) for id, typed in TYPED.items()]
    answers[5].fault = "a.txt cannot be read: not a text"
    return answers


def verdicts(sheet: Sheet, answers: list[Answer], **who: Any) -> list[Any]:
    found: list[Any] = []

    def tell(batch: list[tuple[Answer, dict[str, Any]]]) -> None:
        for answer, outcome in batch:
            assert {*outcome} == {*unchecked("blank", "")}
            found.append((answer.student, answer.problem, {**outcome, "ms": 0}))

    check_answers(sheet, answers, tell, **who)
    return found


def test_the_same_verdicts_from_all(sheet: Sheet) -> None:
    answers = class_of(60)
    alone = verdicts(sheet, answers)
    assert [(student, problem) for student, problem, _ in alone] == [
        (a.student, a.problem) for a in answers]
    assert [outcome["verdict"] for _, _, outcome in alone[:12]] == [
        "correct", "correct", "correct", "wrong", "wrong", "unreadable", "correct", "wrong",
        "wrong", "blank", "correct", "wrong"]
    assert alone[5][2]["message"] == "a.txt cannot be read: not a text"
    for jobs in (2, 3):
        with pool(jobs, None, guarded=True) as (executor, workers):
            assert verdicts(sheet, answers, executor=executor, workers=workers) == alone
            assert verdicts(sheet, answers[::-1], executor=executor, workers=workers
                            )[::-1] == alone


def test_what_the_points_depend_on(sheet: Sheet) -> None:
    assert seed_of(sheet) == "hw/autumn"
    assert seed_of(sheet, 7) == "hw/7"
    one, other = prepared(sheet)["1"], prepared(sheet, 7)["1"]
    assert (one.inputs["x"] != other.inputs["x"]).any()
    assert (one.inputs["x"] == prepared(sheet)["1"].inputs["x"]).all()


def test_what_is_wrong_with_problems_has_its_place_in_the_sheet() -> None:
    text = SHEET.replace("x^2 sin(x)", "x^2 snn(x").replace("ln(x)", "ln(y)")
    broken = parse(text, "hw.toml")
    with pytest.raises(GradcliError) as caught:
        prepared(broken)
    places = []
    for one in caught.value.diagnostics:
        assert one.source is broken.source
        assert one.span is not None
        start, end = one.span
        places.append(text.count("\n", 0, start) + 1)
        assert end > start
    assert places == [6, 14]    # the function, and `at` with a letter that it has not
    with pool(2, None, guarded=True) as (executor, workers), pytest.raises(GradcliError) as again:
        verdicts(broken, [Answer("s", "1", "x")], executor=executor, workers=workers)
    assert [one.span for one in again.value.diagnostics] == [
        one.span for one in caught.value.diagnostics]


# --- a cluster ----------------------------------------------------------------------------------

@pytest.mark.filterwarnings("default")
def test_a_cluster(sheet: Sheet, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same verdicts; items that kill cost themselves, and a worker that is killed nothing."""
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{TESTS / 'tools'}")
    from distributed import LocalCluster

    answers = class_of(60)
    alone = verdicts(sheet, answers)
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
                      ) as cluster:
        with pool(1, cluster.scheduler_address, guarded=True) as (executor, workers):
            assert workers == 2
            assert executor is not None
            assert verdicts(sheet, answers, executor=executor, workers=workers) == alone
            assert ran(executor, BATCHES) == EXPECTED
            pids = [worker.process.pid for worker in cluster.workers.values()]
            found: list[Any] = []

            def tell(batch: Batch, outcomes: list[tuple[bool, Any]]) -> None:
                if not found:
                    os.kill(pids[0], signal.SIGKILL)
                found.append((batch, outcomes))

            many = [[f"{k}.{i}" for i in range(200)] for k in range(60)]
            run_batches(executor, workers, job(), many, tell)
            assert found == [(batch, [(True, f"p{item}") for item in batch]) for batch in many]


def test_what_was_not_checked_has_the_fields_of_what_was_and_no_points() -> None:
    """JSON, CSV and the review list take both the same way."""
    checked = check(prepare(from_fields({"function": "x^2"})), "2x")
    found = unchecked("undecided", "it takes too long")
    assert found.keys() == checked.keys()
    assert found["points"] == dict.fromkeys(checked["points"], 0)
    assert (found["verdict"], found["score"], found["message"]) == (
        "undecided", 0.0, "it takes too long")
