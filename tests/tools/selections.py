"""Selections of test files: what is run again on other processors, and with other dependencies.

    python tests/tools/selections.py      what `make test-oldest` runs
"""

from __future__ import annotations

from collections.abc import Iterable

from folders import ROOT, TESTS

FILES = {path.stem: path.relative_to(ROOT) for path in TESTS.glob("*/test_*.py")}

# All that compares numbers as printed with a page, a sample or a golden file.
PRINTING = """
    test_calculus_commands test_derive test_docs test_errors_golden test_formats
    test_homework_samples test_none_catalogue test_plot_docs test_printed test_readme test_run
    test_samples test_seeds test_steps test_why
""".split()

# Of these files, what takes long and compares no computed number as it is printed: values, which
# are held to a reference, but to a tolerance; verdicts, statuses, messages, LaTeX; rows of tables.
UNPRINTED = """
    test_calculus_commands::test_functions_of_matrices
    test_calculus_commands::test_help_shows_every_option_and_example
    test_calculus_commands::test_implicit_to_order_100
    test_calculus_commands::test_nothing_is_a_bug
    test_calculus_commands::test_orders_up_to_a_hundred
    test_calculus_commands::test_other_commands_load_none_of_this
    test_calculus_commands::test_series_are_derivatives_of_derivatives
    test_calculus_commands::test_several_variables_to_any_order
    test_calculus_commands::test_the_option_loads_what_verifies_and_no_more
    test_derive::test_a_long_sum_takes_time_in_proportion
    test_derive::test_first_derivatives_of_a_corpus_evaluate_to_the_reference
    test_derive::test_formulas_of_the_samples_evaluate_to_the_gradient
    test_derive::test_second_derivatives_of_a_corpus_evaluate_to_the_reference
    test_derive::test_texts_do_not_grow_with_every_way_through_the_terms
    test_derive::test_what_sympy_finds_is_checked_and_shorter
    test_errors_golden::test_messages_follow_the_house_style
    test_errors_golden::test_the_samples_are_all_codes
    test_homework_samples::test_each_mistake_has_an_example
    test_homework_samples::test_status_of_a_run
    test_homework_samples::test_verdicts_do_not_depend_on_the_points
    test_readme::test_command_without_output_works
    test_run::test_a_closed_pipe_ends_quietly
    test_run::test_a_progress_bar_is_gone_before_an_error
    test_run::test_a_progress_bar_leaves_nothing_behind
    test_seeds::test_digits_are_learnt
    test_seeds::test_optimizer_goes_the_way_of_keras
    test_steps::test_adjoints_are_the_gradients
    test_steps::test_every_elementwise_rule_has_a_name
    test_steps::test_every_operation_has_steps
    test_steps::test_latex_of_every_row_is_balanced
    test_steps::test_long_traces_are_quick
    test_why::test_a_fix_is_shown_and_made_and_works
    test_why::test_nothing_is_wider_than_the_terminal
""".split()

# Dependency to the tests of all that calls it; none for tools that run, but are not called. Left
# out is what calls NumPy's functions on more numbers, as all generated programs do, what reads and
# checks formulas, and MATHEMATICS.
DEPENDENCIES = {
    "contourpy": "test_plot test_plot_docs",
    "distributed": "test_cluster test_homework_cluster test_homework_executors",
    "hatchling": "test_packaging",
    "hypothesis": "test_homework_sheet test_homework_submissions test_reading",
    "interegular": "test_grammar",
    "jsonschema": "test_diagnostics test_render test_steps",
    "latex2mathml": "test_homework_pages test_html",
    "lark": "test_blocks_syntax test_grammar test_parser",
    "llvmlite": "test_jit",
    "matplotlib": "test_plot test_plot_docs",
    "mpmath": "test_ops_layers",
    "mypy": "",
    "numpy": """
        test_custom_gradients test_memory test_numpy_protocol
        test_ops_arrays test_ops_edges test_ops_linalg test_ops_repeated test_ops_shapes
        test_oracle test_points test_prepared test_run test_samples test_tape test_why_python
        """,
    "openpyxl": "test_who_is_who",
    "pint": "test_units",
    "plotille": "test_plot test_plot_docs",
    "prompt-toolkit": "test_session",
    "pyarrow": "test_points_io",
    "pytest": "",
    "pytest-xdist": "",
    "pyyaml": "test_who_is_who",
    "rich": """
        test_check_cli test_formats test_homework_reports_text test_readme test_render_table
        test_sheets test_terminal test_why
        """,
    "ruff": "",
    "scipy": "test_bessel_orders test_derive test_ops_layers test_special_floats",
    "sympy": "test_derive",
    "typer": "test_cli test_hw_cli test_man test_streams",
}

# Of these files, what asks for nothing of a dependency that its neighbours do not: derivatives of
# derivatives, sums of our own rules, what is written of each row; what is about lengths, and about
# where a curve has its kinks and poles.
MATHEMATICS = """
    test_blocks_syntax::test_a_slip_is_read_or_explained
    test_blocks_syntax::test_long_blocks_take_linear_time
    test_cluster::test_a_worker_that_is_killed_loses_nothing
    test_derive::test_a_long_sum_takes_time_in_proportion
    test_derive::test_formulas_of_the_samples_evaluate_to_the_gradient
    test_derive::test_second_derivatives_of_a_corpus_evaluate_to_the_reference
    test_derive::test_texts_do_not_grow_with_every_way_through_the_terms
    test_grammar::test_whatever_is_not_accepted_is_explained
    test_graph::test_a_loop_is_one_node_for_each_place
    test_homework_cluster::test_whoever_checks_the_file_is_the_same
    test_homework_executors::test_an_item_that_takes_too_long
    test_homework_pages::test_a_page_of_a_student_opens_in_a_browser
    test_homework_pages::test_a_report_opens_in_a_browser_and_prints_on_a4
    test_homework_submissions::test_a_pattern_that_takes_hours
    test_hw_cli::test_an_interrupted_run_is_continued
    test_memory::test_a_long_loop_in_a_file_in_flat_memory
    test_memory::test_loops_of_every_kind_in_flat_memory
    test_memory::test_thousands_of_steps_of_training_in_flat_memory
    test_ops_arrays::test_second_derivatives[
    test_ops_arrays::test_texts_are_refused_where_numbers_are_computed
    test_ops_layers::test_second_derivatives[
    test_ops_layers::test_wide_ranges
    test_ops_linalg::test_det_of_a_singular_matrix_has_cofactors_and_their_slopes
    test_ops_linalg::test_second_derivatives_both_ways
    test_ops_shapes::test_second_derivatives[
    test_oracle::test_own_semantics
    test_parser::test_long_inputs
    test_plot::test_a_derivative_that_oscillates_without_end_does_not_hide_the_function
    test_plot::test_a_pole_between_points_is_no_jump
    test_plot::test_derivatives_to_the_third
    test_plot::test_no_derivative_makes_the_function_flat
    test_plot::test_poles_are_found
    test_plot::test_rounding_beside_removable_singularities_is_no_kink
    test_plot::test_rounding_of_high_derivatives_and_of_several_targets
    test_plot::test_the_end_of_a_domain_is_no_kink_and_small_poles_are_poles
    test_plot::test_what_is_steep_is_no_pole_and_no_jump
    test_points::test_gradients_at_hard_points
    test_points::test_hessians_at_hard_points
    test_points_io::test_objects_are_those_of_the_json_module
    test_prepared::test_every_row_at_other_points
    test_prepared::test_long_programs_to_the_last_bit
    test_prepared::test_random_programs_over_arrays
    test_reading::test_reading_of_the_table
    test_reading::test_what_is_written_is_read_the_same_by_all
    test_readme::test_command_without_output_works
    test_steps::test_adjoints_are_the_gradients
    test_steps::test_every_elementwise_rule_has_a_name
    test_steps::test_every_operation_has_steps
    test_steps::test_latex_of_every_row_is_balanced
    test_steps::test_long_traces_are_quick
    test_streams::test_a_sum_of_100_000_terms
    test_why::test_nothing_is_wider_than_the_terminal
""".split()


def paths(names: Iterable[str]) -> list[str]:
    """The files of these names, each once."""
    return [str(ROOT / FILES[name]) for name in sorted(set(names))]


def oldest() -> list[str]:
    """The files that all dependencies have to pass."""
    return paths(" ".join(DEPENDENCIES.values()).split())


def left_out(names: Iterable[str]) -> list[str]:
    """The options by which pytest leaves out tests of these names."""
    found = [name.partition("::") for name in names]
    return [f"--deselect={FILES[file]}::{function}" for file, _, function in found]


if __name__ == "__main__":
    print(*oldest(), *left_out(MATHEMATICS))
