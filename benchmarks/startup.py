"""Start-up: whole-process times of small commands beside `python -c pass`, interleaved.

    python benchmarks/startup.py [--runs N] [--python PATH]

Measured on an installed wheel whose files are compiled, in an environment of its own that is made
and thrown away; --python takes an interpreter that has gradcli already. The baseline runs in the
same environment. Each round runs every case once, so that a busy moment of the machine meets all
of them; medians and ratios to the baseline are printed.
"""

from __future__ import annotations

import argparse
import os
import pty
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = str(ROOT / "samples" / "expr.txt")
FORMULA = ["-e", "x^2*sin(y)+exp(x*y)", "--wrt", "x,y", "--at", "x=1.5,y=0.5"]
MAIN = "from gradcli.cli.main import main; main()"


class Case:
    """A command, and whether its output goes to a terminal instead of a pipe."""

    def __init__(self, name: str, command: list[str], terminal: bool = False) -> None:
        self.name = name
        self.command = command
        self.terminal = terminal
        self.times: list[float] = []

    def run(self) -> None:
        """Run once and note the time from start to the end of its output."""
        began = time.perf_counter()
        output, code = (to_terminal if self.terminal else to_pipe)(self.command)
        self.times.append(time.perf_counter() - began)
        if code or not (output or "pass" in self.command):
            raise SystemExit(f"{self.name} failed ({code}):\n{output.decode()}")


def to_pipe(command: list[str]) -> tuple[bytes, int]:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return done.stdout, done.returncode


def to_terminal(command: list[str]) -> tuple[bytes, int]:
    """As `to_pipe`, with a pseudo-terminal as standard input, output and error."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    output = b""
    try:
        while piece := os.read(ours, 65536):
            output += piece
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    return output, process.wait()


def cases(python: str) -> list[Case]:
    script = str(Path(python).parent / "gradcli")
    direct = [python, "-c", MAIN]  # without what pip's script and `-m` import themselves
    grad = ["grad", *FORMULA, "--format", "json"]
    return [
        Case("python -c pass", [python, "-c", "pass"]),
        Case("python -c 'import re'", [python, "-c", "import re; print()"]),
        Case("gradcli --version", [script, "--version"]),
        Case("gradcli grad -e ... | (json)", [script, *grad]),
        Case("  the same, main() called directly", [*direct, *grad]),
        Case("  the same, python -m gradcli", [python, "-m", "gradcli", *grad]),
        Case("gradcli grad expr.txt | (plain)", [script, "grad", SAMPLE, "--wrt", "x"]),
        Case("gradcli hess -e ... | (json)", [script, "hess", *FORMULA, "--format", "json"]),
        Case("gradcli grad -e 'sum(x^2)' | (NumPy)",
             [script, "grad", "-e", "sum(x^2)", "--at", "x=[1,2]"]),
        Case("gradcli grad -e ... on a terminal", [script, "grad", *FORMULA], terminal=True),
        Case("gradcli --help", [script, "--help"]),
    ]


def install(folder: str) -> str:
    """A fresh environment with gradcli's wheel in it; pip compiles what it installs."""
    print("installing gradcli's wheel into an environment of its own ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(Path(folder) / "bin" / "python")
    subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
                    "--compile", str(ROOT)], check=True)
    return python


def table(measured: list[Case]) -> str:
    baseline = statistics.median(measured[0].times)
    lines = [f"{'':38}{'median ms':>10}{'min ms':>9}{'x python':>10}"]
    for case in measured:
        median = statistics.median(case.times)
        lines.append(f"{case.name:38}{1e3 * median:10.1f}{1e3 * min(case.times):9.1f}"
                     f"{median / baseline:10.2f}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=25, help="rounds (default 25)")
    parser.add_argument("--python", help="an interpreter whose environment has gradcli installed")
    options = parser.parse_args()
    os.environ.update(TERM="xterm-256color", COLUMNS="80", LINES="24")
    with tempfile.TemporaryDirectory(prefix="gradcli-startup-") as folder:
        measured = cases(options.python or install(folder))
        os.chdir(folder)  # not the checkout: `python -c` looks for modules here first
        for case in measured * 2:  # twice: files into the page cache, tables into the user's
            case.run()
        for case in measured:
            case.times.clear()
        for _ in range(options.runs):
            for case in measured:
                case.run()
    version = sys.version.split()[0] if not options.python else options.python
    print(f"Python {version}, {options.runs} interleaved rounds\n\n{table(measured)}")


if __name__ == "__main__":
    main()
