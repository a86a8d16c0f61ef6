"""All benchmarks, beside whichever engines are installed: a table of ratios.

    python benchmarks/run.py [--only points,startup] [--quick] [--peers PYTHON] [--write]

Each engine runs in a process of its own that builds and warms up first; then all take turns, one
round each, bound to the same cores, so that a machine that changes its speed changes it for all.
Engines are looked for in the running Python, then in those of --peers (or of GRADCLI_PEERS, joined
as in PATH); one that is nowhere is named as missing. benchmarks/README.md tells what each case is.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.cases import CASES
from benchmarks.harness import report, rounds
from benchmarks.harness.case import ROOT
from benchmarks.harness.engines import Engines
from gradcli import __version__

# Cases whose ratios stand in the project's README, half a page of it.
IN_README = ("startup-pipe", "first-gradient", "points-waves", "csv", "hessian-rosenbrock",
             "jacobian-sparse", "memory")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    keys = ", ".join(case.key for case in CASES)
    parser.add_argument("--only", default="", metavar="KEYS",
                        help=f"cases whose keys begin with one of these: {keys}")
    parser.add_argument("--rounds", type=int, default=15, help="(default 15)")
    parser.add_argument("--quick", action="store_true", help="three short rounds, to try it out")
    parser.add_argument("--peers", action="append", default=[], metavar="PYTHON",
                        help="an interpreter that has other engines; may be repeated")
    parser.add_argument("--installed", metavar="PYTHON",
                        help="one that has gradcli's wheel (default: an environment is made)")
    parser.add_argument("--write", action="store_true",
                        help="write benchmarks/results.md and the table of the README, too")
    given = parser.parse_args()
    if given.write and (given.only or given.quick):
        parser.error("--write is for a whole run")
    return given


def main() -> None:
    given = options()
    wanted = tuple(key.strip() for key in given.only.split(",") if key.strip())
    cases = [case for case in CASES if case.key.startswith(wanted or "")
             and (wanted or case.quick or not given.quick)]
    peers = [*given.peers, *filter(None, os.environ.get("GRADCLI_PEERS", "").split(os.pathsep))]
    count, minimum = (3, 0.02) if given.quick else (given.rounds, 0.1)
    engines = Engines({side.needs for case in cases for side in case.sides}, peers,
                      given.installed)
    results = []
    try:
        for case in cases:
            print(f"{case.key}: {case.title}", file=sys.stderr, flush=True)
            results.append(rounds.run(case, engines, count, minimum))
    finally:
        engines.close()
    text = report.whole(results, {"gradcli": __version__, **engines.versions}, count)
    print(text)
    if given.write:
        path = ROOT / "benchmarks" / "results.md"
        others = report.sections(path.read_text(encoding="utf-8"))
        path.write_text(f"# Benchmarks: the newest results\n\n{text}\n{others}", encoding="utf-8")
        page = ROOT / "README.md"
        chosen = [result for result in results if result.case.key in IN_README]
        page.write_text(report.between(page.read_text(encoding="utf-8"), report.short(
            chosen, {"gradcli": __version__, **engines.versions}, count)), encoding="utf-8")


if __name__ == "__main__":
    main()
