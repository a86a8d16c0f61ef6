"""run and why of a Python script: it runs on gradcli's engine, and its gradients are explained."""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout

from gradcli.cli.commands.output import Destination
from gradcli.cli.environment import OK, WRONG
from gradcli.render.layouts import scripts
from gradcli.tf import script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.cli.environment import Environment
    from gradcli.cli.options.programs import WhyOptions


def run(options: WhyOptions, environment: Environment) -> int:
    """Run a script with TensorFlow's names; its own status, 1 where an exception ended it."""
    return _run(options, environment).status


def why(options: WhyOptions, environment: Environment) -> int:
    """Run a script, then tell what its gradients show; with --strict 1 if one is wrong."""
    made = _run(options, environment)
    answer = script.findings(made)
    if options.framework is not None:
        from gradcli.explain.frameworks import in_words

        answer["framework"] = in_words([one["code"] for one in answer["findings"]],
                                       options.framework)
    destination = Destination(options, environment)
    destination.write(answer, pages=None if destination.format in ("json", "ndjson") else
                      scripts.pages(answer), whole=True)
    if made.status:
        return made.status
    return WRONG if options.strict and answer["findings"] else OK


def _run(options: WhyOptions, environment: Environment) -> script.Run:
    with redirect_stdout(environment.stdout), redirect_stderr(environment.stderr):
        made = script.run(options.file or "", options.arguments, options.real)
    environment.stdout.flush()
    if made.problem is not None:
        environment.tell(script.told(made.problem))
    return made
