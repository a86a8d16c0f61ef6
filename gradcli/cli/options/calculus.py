"""The rows of verify and of the commands of calculus."""

from __future__ import annotations

from gradcli.base.errors import listed, split
from gradcli.cli.options import OUTPUT, POINT, Command, misused_at, option, seconds
from gradcli.cli.options.questions import BUDGET, SHOWN, TYPED, QuestionOptions

NAMES = "NAME[,NAME]"
OF_VECTORS = ("tangent", "divergence", "curl", "implicit", "newton")
"""Commands whose target may have components: of a curve, a field or a system of equations."""


class CalculusOptions(QuestionOptions):
    """The options of verify and of the commands of calculus."""

    wrt: list[str] = option(
        "--wrt", "Variables, such as x,y; by default every trainable variable and input.", NAMES)
    of: list[str] = option(
        "--of", "The target; by default the last result. Of several each is answered for itself;"
        " a,b is one of two components where a field, curve or system is meant.", NAMES)
    at: list[str] = option(
        "--at", "The point: values of inputs and variables, x=3,y=[1,2].", "NAME=VALUE", POINT)
    order: int | None = option(
        "--order", "How far: the highest power of a polynomial, the highest derivative of an"
        " implicit function.", "N")
    dependent: str = option(
        "--dependent", "The variable that the equation makes a function of the others, by default"
        " y; several for a system: u,v.", NAMES, default="")
    hint: int | None = option(
        "--hint", "Of a derivation with letters the first steps only.", "N")
    direction: str = option(
        "--direction", "The direction, a number for each variable: 3,4 or x=3,y=4.", "A,B",
        default="", names=True)
    minimum: bool = option("--minimum", "Look for a minimum, not for a root.")
    iterations: int | None = option("--iterations", "How many steps at most (50).", "N")
    tolerance: str | None = option(
        "--tolerance", "The relative length of a step at which to stop (1e-12).", "T")
    sigma: list[str] = option(
        "--sigma", "Standard uncertainties of the inputs: x=0.1,y=0.2.", "NAME=VALUE", POINT)
    correlation: list[str] = option(
        "--correlation", "Correlations of pairs of inputs: x:y=0.5.", "NAME:NAME=VALUE", POINT)
    second_order: bool = option(
        "--second-order", "Look at the second order, too: the shift of the mean, and whether the"
        " first order is enough.")
    over: str | None = option(
        "--over", "The interval to study, such as x=-10:10; by default all of the line.",
        "NAME=A:B")
    side: str | None = option(
        "--side", "From which side: left or right; by default both.", "", POINT,
        choices=("left", "right"))
    verbose: int = option("-v --verbose", "Say more; all rows, however many.", "", OUTPUT)

    def targets(self) -> list[list[str]]:
        return [split(text) for text in self.of] if self.command.name in OF_VECTORS else (
            super().targets())

    def wrong(self) -> tuple[str, str] | None:
        return super().wrong() or self._wrong_calculus()

    def _wrong_calculus(self) -> tuple[str, str] | None:
        wrong = misused_at(self.sigma)
        if wrong is not None:
            return wrong[0], "--sigma"
        for part in listed(self.correlation):
            pair, equals, number = part.partition("=")
            first, colon, second = pair.partition(":")
            if not (equals and colon and first.strip() and second.strip() and number.strip()):
                return (f"`{part}` is not of the form NAME:NAME=VALUE, such as x:y=0.5.",
                        "--correlation")
        needed = [one.name for one in self.command.options]
        if "direction" in needed and not self.direction.strip(" ,"):
            return "it is missing: which direction?", "--direction"
        if "sigma" in needed and not self.sigma:
            return "it is missing: give at least one uncertainty, such as x=0.1.", "--sigma"
        if self.tolerance is not None and seconds(self.tolerance) is None:
            return f"{self.tolerance!r} is not a positive number.", "--tolerance"
        return None


def _row(name: str, summary: str, own: str, question: str, *examples: str) -> Command:
    """Return the row of a command that is one question and one layout. own: its options."""
    return Command(
        name, summary, CalculusOptions, f"file {TYPED} wrt of {own} watch tape at {SHOWN}"
        f" {BUDGET}", "answer.run", *examples, question=question)


ROWS = (
    _row("verify", "Check derivatives by four methods, side by side.", "",
         "verify.verify.verify", "gradcli verify model.txt",
         "gradcli verify -e 'x^2*sin(y)' --at x=1.5,y=0.5",
         "gradcli verify model.txt --of loss --wrt w --format json"),
    _row("taylor", "The Taylor polynomial at a point.", "order exact", "calculus.taylor.taylor",
         "gradcli taylor -e 'sin(x)' --at x=0 --order 7",
         "gradcli taylor -e 'exp(x)*cos(y)' --at x=0,y=0 --order 2 --format latex"),
    _row("tangent", "Tangent line, plane or vector at a point, and the normal.", "exact",
         "calculus.tangents.tangent", "gradcli tangent -e 'x^2' --at x=3",
         "gradcli tangent -e 'x^2*sin(x)' --at x=pi --exact",
         "gradcli tangent -e 'x^2 + y^2' --at x=1,y=2",
         "gradcli tangent -e '[cos(t), sin(t), t]' --at t=0"),
    _row("directional", "The derivative in a direction.", "direction",
         "calculus.tangents.directional",
         "gradcli directional -e 'x^2*y' --at x=1,y=2 --direction 3,4"),
    _row("divergence", "The divergence of a vector field at a point.", "",
         "calculus.taylor.divergence",
         "gradcli divergence -e '[x*y, y*z, z*x]' --at x=1,y=2,z=3"),
    _row("curl", "The curl of a vector field of two or three components.", "",
         "calculus.taylor.curl", "gradcli curl -e '[-y, x, z]' --wrt x,y,z --at x=1,y=2,z=3",
         "gradcli curl -e '[-y, x]' --wrt x,y --at x=1,y=2"),
    _row("laplacian", "The Laplacian of a function, or of each element of a vector.", "",
         "calculus.taylor.laplacian", "gradcli laplacian -e 'log(x^2 + y^2)' --at x=1,y=2"),
    _row("study", "What a curve sketch asks for: zeros, extrema, asymptotes.",
         "over", "calculus.study.study", "gradcli study -e 'x^3 - 3*x'",
         "gradcli study -e '(x^2 + 1)/(x - 1)' --format markdown",
         "gradcli study -e 'x*sin(x)' --over x=-20:20"),
    _row("limit", "The limit at a point, from both sides, or at infinity.", "side",
         "calculus.limit.limit_of", "gradcli limit -e 'sin(x)/x' --at x=0",
         "gradcli limit -e '(1 + 1/x)^x' --at x=inf",
         "gradcli limit -e 'abs(x)/x' --at x=0 --side left"),
    _row("implicit", "Derivatives of a function that F(x, y) = 0 defines.",
         "order dependent hint", "calculus.implicit.implicit",
         "gradcli implicit -e 'x^2 + y^2 - 25' --dependent y",
         "gradcli implicit -e 'x^2 + y^2 - 25' --wrt x --dependent y --at x=3,y=4",
         "gradcli implicit -e 'x^2 + y^2 - 25' --wrt x --dependent y --at x=3,y=4 --order 3"),
    _row("newton", "A root or a minimum by Newton's method, step by step.",
         "minimum iterations tolerance", "calculus.newton.newton",
         "gradcli newton -e 'x^2 - 2' --at x=1",
         "gradcli newton -e '100(y-x^2)^2+(1-x)^2' --minimum --at x=-1.2,y=1"),
    _row("propagate", "The uncertainty of a result from those of its inputs.",
         "second_order sigma correlation", "calculus.tangents.propagate",
         "gradcli propagate -e 'U/I' --at U=12,I=0.4 --sigma U=0.1,I=0.02",
         "gradcli propagate -e 'a*b' --at a=2,b=3 --sigma a=0.1,b=0.1 --correlation a:b=0.5"),
)
