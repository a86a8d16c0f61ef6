"""Where the engines are: interpreters with packages, programs, and gradcli itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.harness.case import CHECKOUT, ROOT, WHEEL

# Which of them another interpreter has, with versions; a package may be published as NAME-cpu.
PROBE = """
import importlib.metadata as m, importlib.util, json, sys
found = {}
for name in sys.argv[1:]:
    for published in (name, name + "-cpu"):
        try:
            if importlib.util.find_spec(name):
                found[name] = m.version(published)
                break
        except (ImportError, m.PackageNotFoundError):
            pass
print(json.dumps(found))
"""
# Program -> what makes it tell its version.
PROGRAMS = {"maxima": "--version", "giac": "--version"}


class Engines:
    """What is installed. pythons: interpreters, looked through in order, the running one first.
    installed: one that has gradcli's wheel; without it an environment is made when one is needed.
    """

    def __init__(self, needed: Iterable[str], pythons: Sequence[str], installed: str | None = None
                 ) -> None:
        self.found = {CHECKOUT: sys.executable}
        self.versions: dict[str, str] = {}
        self.installed = installed
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        needed = sorted(set(needed) - {CHECKOUT, WHEEL})
        packages = [name for name in needed if name not in PROGRAMS]
        # What engines calculate with is told as well.
        for python in [sys.executable, *pythons]:
            for name, version in packages_of(python, [*packages, "numpy"]).items():
                if name not in self.found:
                    self.found[name], self.versions[name] = python, version
        for name in needed:
            if name in PROGRAMS and (path := shutil.which(name)):
                self.found[name] = path
                self.versions[name] = version_of(path, PROGRAMS[name])

    def program(self, needs: str) -> str | None:
        """The interpreter or program that a side needs, if there is one."""
        if needs == WHEEL and WHEEL not in self.found:
            self.found[WHEEL] = self.installed or self._install()
        return self.found.get(needs)

    def _install(self) -> str:
        """A fresh environment with gradcli's wheel in it; pip compiles what it installs."""
        print("installing gradcli's wheel into an environment of its own ...", file=sys.stderr)
        self.folder = tempfile.TemporaryDirectory(prefix="gradcli-wheel-")
        subprocess.run([sys.executable, "-m", "venv", self.folder.name], check=True)
        python = str(Path(self.folder.name) / "bin" / "python")
        subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
                        "--compile", str(ROOT)], check=True)
        return python

    def close(self) -> None:
        if self.folder:
            self.folder.cleanup()


def packages_of(python: str, names: Sequence[str]) -> dict[str, str]:
    """Package -> version, of those that an interpreter has."""
    done = subprocess.run([python, "-c", PROBE, *names], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": ""}, check=False)
    if done.returncode:
        raise SystemExit(f"{python} is no usable interpreter: {done.stderr.strip()[-200:]}")
    found: dict[str, str] = json.loads(done.stdout)
    return found


def version_of(program: str, option: str) -> str:
    done = subprocess.run([program, option], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return found[0] if found else "?"
