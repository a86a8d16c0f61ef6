"""run and why of a Python script: it runs on gradcli's engine, and its gradients are explained."""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout

from gradcli.base.errors import Source
from gradcli.cli.commands.output import Destination
from gradcli.cli.commands.why import show
from gradcli.cli.environment import OK, WRONG
from gradcli.render.entries import listed
from gradcli.render.layouts import scripts
from gradcli.render.numbers import visible
from gradcli.tf.scripts import script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcli.cli.environment import Environment
    from gradcli.cli.options.programs import WhyOptions
    from gradcli.tf.scripts.mending import Mended


def run(options: WhyOptions, environment: Environment) -> int:
    """Run a script with TensorFlow's names; its own status, 1 where an exception ended it."""
    return _run(options, environment).status


def why(options: WhyOptions, environment: Environment) -> int:
    """Run a script, then tell what its gradients show; with --strict 1 if one is wrong.

    With --fix it is run again with each change that may help, and those that do are shown.
    """
    destination = Destination(options, environment)
    # A program that reads the answer does not get the prints of the script in it.
    made = _run(options, environment, aside=destination.path is None and (
        options.fix or destination.format not in ("table", "plain")))
    if options.fix:
        return _mend(made, options, environment)
    answer = script.findings(made)
    if options.framework is not None:
        from gradcli.explain.frameworks import in_words

        answer["framework"] = in_words([one["code"] for one in answer["findings"]],
                                       options.framework)
    destination.write(answer, pages=None if destination.format in ("json", "ndjson") else
                      scripts.pages(answer), whole=True)
    if made.status:
        return made.status
    return WRONG if options.strict and answer["findings"] else OK


def _run(options: WhyOptions, environment: Environment, aside: bool = False) -> script.Run:
    """Run the script. aside: with its prints on standard error."""
    with redirect_stdout(environment.stderr if aside else environment.stdout), \
            redirect_stderr(environment.stderr):
        made = script.run(options.file or "", options.arguments, options.real)
    environment.stdout.flush()
    if isinstance(made.problem, KeyboardInterrupt) and not made.heard.gradients:
        raise made.problem
    if made.problem is not None:
        environment.tell(script.told(made.problem))
    return made


def _mend(made: script.Run, options: WhyOptions, environment: Environment) -> int:
    """Show the diff of the changes that help, and tell what they are and what is left."""
    from gradcli.tf.scripts import mending

    mended = mending.mended(made, options.arguments, options.real)
    show(Source(made.text, made.path), mended.text, options, environment)
    if not options.quiet:
        environment.tell("".join([f"{visible(line)}\n" for line in _summary(made, mended)]))
    if mended.interrupted or made.status == script.INTERRUPTED:
        return script.INTERRUPTED
    return WRONG if options.strict and mended.left else OK


def _summary(made: script.Run, mended: Mended) -> Iterator[str]:
    if not script.grouped(made):
        yield "nothing to mend: no gradient is None, NaN, infinite or 0 each time"
    if mended.interrupted:
        yield "interrupted: not all changes were tried"
    yield from mended.words
    if mended.gained:
        yield "with this the script was run again: " + (
            "1 gradient more is right" if mended.gained == 1 else
            f"{mended.gained} gradients more are right")
    for finding, why in mended.left:
        of = f" of {finding.target}" if finding.target else ""
        yield f"the gradient{of} with respect to {listed(finding.sources)} stays" \
            f" {finding.answer}: {why}"
