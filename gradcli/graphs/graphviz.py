"""Pictures of graphs by Graphviz's `dot`, a program of its own."""

from __future__ import annotations

from gradcli.errors import error

# Seconds; a graph that takes longer cannot be read either.
PATIENCE = 60.0


def picture(text: str, format: str) -> bytes:
    """What `dot` makes of a graph: svg, png or pdf.

    Raises E0821 where it is not installed, E0822 where it fails or takes longer than a minute.
    """
    import shutil
    import subprocess

    program = shutil.which("dot")
    if program is None:
        raise error("E0821", "a picture of a graph needs Graphviz's `dot`, which is not installed",
                    help="install graphviz, or write .dot or .mermaid and draw that elsewhere")
    try:
        done = subprocess.run(  # no shell; the text goes through standard input
            [program, f"-T{format}"], input=text.encode(), capture_output=True, timeout=PATIENCE,
            check=False)
    except subprocess.TimeoutExpired:
        raise error("E0822", f"`dot` was stopped after {PATIENCE:g} seconds",
                    help="draw fewer nodes: --max-nodes 50") from None
    except OSError as problem:
        raise error("E0822", f"`dot` cannot be run: {problem.strerror}",
                    help="write .dot or .mermaid and draw that elsewhere") from None
    if done.returncode or not done.stdout:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise error("E0822", f"`dot` failed: {said[0] if said else 'it wrote nothing'}",
                    help="write .dot or .mermaid and draw that elsewhere")
    return done.stdout
