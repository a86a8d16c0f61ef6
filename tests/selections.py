"""Selections of test files: what is run again on other processors, and with other dependencies.

    python tests/selections.py      the files of `make test-oldest`
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent

# All that compares numbers as printed with a page, a sample or a golden file.
PRINTING = """
    test_calculus_commands test_derive test_docs test_errors_golden test_formats
    test_homework_samples test_none_catalogue test_plot_docs test_printed test_readme test_run
    test_samples test_seeds test_steps test_why
""".split()

# Dependency to the tests of all that calls it; none for tools that run, but are not called. Left
# out is what calls NumPy's functions on more numbers, as all generated programs do, and what reads
# and checks formulas.
DEPENDENCIES = {
    "contourpy": "test_plot test_plot_docs",
    "distributed": "test_cluster test_homework_cluster test_homework_executors",
    "hatchling": "test_packaging",
    "hypothesis": "test_homework_sheet test_homework_submissions test_reading",
    "interegular": "test_grammar",
    "jsonschema": "test_diagnostics test_graph test_render",
    "lark": "test_blocks_syntax test_grammar test_parser",
    "matplotlib": "test_plot test_plot_docs",
    "mpmath": "test_ops_layers test_special_floats",
    "mypy": "",
    "numpy": """
        test_custom_gradients test_executors_agree test_memory test_numpy_protocol
        test_ops_arrays test_ops_edges test_ops_linalg test_ops_repeated test_ops_shapes
        test_oracle test_points test_prepared test_run test_samples test_tape test_why_python
        """,
    "plotille": "test_plot test_plot_docs",
    "pyarrow": "test_crossings test_points_io",
    "pytest": "test_fuzz_commands",
    "pytest-xdist": "",
    "rich": """
        test_check_cli test_formats test_homework_reports_text test_readme test_render_table
        test_sheets test_terminal test_why
        """,
    "ruff": "",
    "scipy": "test_derive",
    "sympy": "test_derive",
    "typer": "test_cli test_hw_cli test_man test_streams",
}


def paths(names: Iterable[str]) -> list[str]:
    """The files of these names, each once."""
    return [str(HERE / f"{name}.py") for name in sorted(set(names))]


def oldest() -> list[str]:
    """The files that all dependencies have to pass."""
    return paths(" ".join(DEPENDENCIES.values()).split())


if __name__ == "__main__":
    print(*oldest())
