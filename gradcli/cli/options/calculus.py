"""The options of verify and of the commands of calculus, as data; see `cli.options.table`."""

from __future__ import annotations

from gradcli.cli.options.table import Option, misused_at, same, seconds, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERIFY = ("verify",)
FIELDS = ("divergence", "curl", "laplacian")
CALCULUS = ("taylor", "tangent", "directional", *FIELDS, "implicit", "newton", "propagate")
ALL = (*VERIFY, *CALCULUS)

OPTIONS = (
    *same("expression latex", ALL),
    Option("wrt", "--wrt", "list", "Variables, such as x,y; by default every trainable variable"
           " and input.", commands=ALL, metavar="NAME[,NAME]"),
    Option("of", "--of", "list", "The target; by default the last result. Repeated, each is"
           " answered for itself.", commands=ALL, metavar="NAME[,NAME]"),
    Option("at", "--at", "list", "The point: values of inputs and variables, x=3,y=[1,2].",
           commands=ALL, metavar="NAME=VALUE"),
    Option("order", "--order", "number", "How far: the highest power of a polynomial, the highest"
           " derivative of an implicit function.", commands=("taylor", "implicit"), metavar="N"),
    Option("dependent", "--dependent", "text", "The variable that the equation makes a function of"
           " the others; several for a system: u,v.", commands=("implicit",),
           metavar="NAME[,NAME]"),
    Option("direction", "--direction", "text", "The direction, a number for each variable: 3,4 or"
           " x=3,y=4.", commands=("directional",), metavar="A,B"),
    Option("minimum", "--minimum", "flag", "Look for a minimum, not for a root.",
           commands=("newton",)),
    Option("iterations", "--iterations", "number", "How many steps at most (50).",
           commands=("newton",), metavar="N"),
    Option("tolerance", "--tolerance", "text", "The relative length of a step at which to stop"
           " (1e-12).", commands=("newton",), metavar="T"),
    Option("sigma", "--sigma", "list", "Standard uncertainties of the inputs: x=0.1,y=0.2.",
           commands=("propagate",), metavar="NAME=VALUE"),
    Option("correlation", "--correlation", "list", "Correlations of pairs of inputs: x:y=0.5.",
           commands=("propagate",), metavar="NAME:NAME=VALUE"),
    Option("second_order", "--second-order", "flag", "Look at the second order, too: the shift of"
           " the mean, and whether the first order is enough.", commands=("propagate",)),
    *same("watch tape format digits output color quiet", ALL),
    Option("verbose", "-v --verbose", "count", "Say more; all rows, however many.",
           commands=ALL),
    *same("max_steps max_memory timeout", ALL),
)

ARGUMENTS: dict[str, tuple[str, ...]] = dict.fromkeys(ALL, ("file",))

SUMMARIES = {
    "verify": "Check derivatives by four methods, side by side.",
    "taylor": "The Taylor polynomial at a point.",
    "tangent": "Tangent line, plane or vector at a point, and the normal.",
    "directional": "The derivative in a direction.",
    "divergence": "The divergence of a vector field at a point.",
    "curl": "The curl of a vector field of two or three components.",
    "laplacian": "The Laplacian of a function, or of each element of a vector.",
    "implicit": "Derivatives of a function that F(x, y) = 0 defines.",
    "newton": "A root or a minimum by Newton's method, step by step.",
    "propagate": "The uncertainty of a result from those of its inputs.",
}

EXAMPLES = {
    "verify": ("gradcli verify model.txt", "gradcli verify -e 'x^2*sin(y)' --at x=1.5,y=0.5",
               "gradcli verify model.txt --of loss --wrt w --format json"),
    "taylor": ("gradcli taylor -e 'sin(x)' --at x=0 --order 7",
               "gradcli taylor -e 'exp(x)*cos(y)' --at x=0,y=0 --order 2 --format latex"),
    "tangent": ("gradcli tangent -e 'x^2' --at x=3",
                "gradcli tangent -e 'x^2 + y^2' --at x=1,y=2",
                "gradcli tangent -e '[cos(t), sin(t), t]' --at t=0"),
    "directional": ("gradcli directional -e 'x^2*y' --at x=1,y=2 --direction 3,4",),
    "divergence": ("gradcli divergence -e '[x*y, y*z, z*x]' --at x=1,y=2,z=3",),
    "curl": ("gradcli curl -e '[-y, x, z]' --wrt x,y,z --at x=1,y=2,z=3",
             "gradcli curl -e '[-y, x]' --wrt x,y --at x=1,y=2"),
    "laplacian": ("gradcli laplacian -e 'log(x^2 + y^2)' --at x=1,y=2",),
    "implicit": ("gradcli implicit -e 'x^2 + y^2 - 25' --wrt x --dependent y --at x=3,y=4",
                 "gradcli implicit -e 'x^2 + y^2 - 25' --wrt x --dependent y --at x=3,y=4"
                 " --order 3"),
    "newton": ("gradcli newton -e 'x^2 - 2' --at x=1",
               "gradcli newton -e '100(y-x^2)^2+(1-x)^2' --minimum --at x=-1.2,y=1"),
    "propagate": ("gradcli propagate -e 'U/I' --at U=12,I=0.4 --sigma U=0.1,I=0.02",
                  "gradcli propagate -e 'a*b' --at a=2,b=3 --sigma a=0.1,b=0.1"
                  " --correlation a:b=0.5"),
}


def misused(command: str, values: dict[str, Any]) -> tuple[str, str] | None:
    """As `cli.options.misused`, what that does not know."""
    wrong = misused_at(values.get("sigma") or [])
    if wrong is not None:
        return wrong[0], "--sigma"
    for part in [part for text in values.get("correlation") or () for part in split(text)]:
        pair, equals, number = part.partition("=")
        first, colon, second = pair.partition(":")
        if not (equals and colon and first.strip() and second.strip() and number.strip()):
            return f"`{part}` is not of the form NAME:NAME=VALUE, such as x:y=0.5.", "--correlation"
    for name, missing in (("dependent", "which variable depends on the other?"),
                          ("direction", "which direction?")):
        if name in values and not (values[name] or "").strip(" ,"):
            return f"it is missing: {missing}", f"--{name}"
    if command == "propagate" and not values["sigma"]:
        return "it is missing: give at least one uncertainty, such as x=0.1.", "--sigma"
    tolerance = values.get("tolerance")
    if tolerance is not None and seconds(tolerance) is None:
        return f"{tolerance!r} is not a positive number.", "--tolerance"
    return None
