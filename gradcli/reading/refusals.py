"""Why an answer cannot be read, told to a student: one place, one reason, one suggestion.

    E0710  nothing to read, or too much of it        E0716  a bracket
    E0711  a word                                    E0717  a bar
    E0712  a function that is not known              E0718  a comma or a list
    E0713  a number                                  E0719  an equation or an apostrophe
    E0714  a character                               E0720  LaTeX
    E0715  a function without its argument           E0721  anything else that is out of place
"""

from __future__ import annotations

from gradcli.errors import error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.reading.names import Names


def refuse_run(names: Names, run: str, called: bool, at: int) -> None:
    """Raise E0711 or E0712 for a run of letters that is no product."""
    from gradcli.reading.names import NO_FORMULA

    span = (at, at + len(run))
    if run.lower() in NO_FORMULA:
        raise error("E0711", f"`{run}` is not a formula", span, help="give a formula such as 2x")
