"""Run the tests that print numbers as other processors compute them, one after another.

    python tests/tools/processors.py [ARGUMENTS OF PYTEST]

OpenBLAS and NumPy choose their kernels by the processor, and another kernel rounds the last digits
otherwise. Each setting below takes kernels away from both, so a new processor stands for an older
one. Which tests: those that compare computed numbers as they are printed with a page, a sample or a
golden file, where one digit counts. What holds values to a reference up to a tolerance, and what
looks at messages, statuses, tables and loaded modules, is the same on every processor
(`selections.UNPRINTED`).
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys

from folders import ROOT
from selections import PRINTING, UNPRINTED, left_out, paths

X86 = ("x86_64", "AMD64")


def settings() -> dict[str, dict[str, str]]:
    """What each setting adds to the environment. Only these processors have any."""
    if platform.machine() not in X86:
        return {}
    # Older NumPy calls its kernels AVX512F and AVX2, newer X86_V4 and X86_V3; it warns of a name
    # that is not among its own.
    from numpy._core._multiarray_umath import __cpu_dispatch__ as kernels

    wide = [name for name in kernels if "512" in name or name == "X86_V4"]
    return {
        "Haswell, without AVX-512": {
            "OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": " ".join(wide)},
        "Prescott, without AVX": {
            "OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": " ".join(kernels)},
    }


def main(arguments: list[str]) -> int:
    failed = []
    chosen = settings()
    for name, variables in chosen.items():
        print(f"--- {name}: {variables}", flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-m", "not slow", *paths(PRINTING),
             *left_out(UNPRINTED), *arguments],
            cwd=ROOT, env={**os.environ, **variables}, check=False)
        if done.returncode:
            failed.append(name)
    for name in failed:
        print(f"FAILED {name}")
    print(f"processors: {len(chosen) - len(failed)} passed, {len(failed)} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
