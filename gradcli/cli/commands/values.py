"""From the texts of the options to what the library takes."""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, Source, read
from gradcli.cli.options.table import memory, split
from gradcli.lang.running.program import Program, constant, plain_value
from gradcli.questions import Ask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment


# Options with names of the program in them.
NAMING = ("at", "wrt", "of", "watch", "points", "over", "sigma", "correlation", "dependent",
          "direction")


def program_from(values: dict[str, Any], environment: Environment) -> Program:
    """The program in the file, on standard input or behind -e."""
    if values["expression"] is not None:
        source = Source(values["expression"], "-e")
    else:
        source = read(values["file"], environment.input() if values["file"] == "-" else None)
    if values.get("latex"):
        return _from_latex(source, values)
    return Program(source)


def _from_latex(source: Source, values: dict[str, Any]) -> Program:
    """The program that LaTeX stands for; Greek names in the options may have either spelling."""
    import re

    from gradcli.lang.paper import documents

    program = documents.program(source)
    names = {word: letter for word, letter in documents.SPELLINGS.items()
             if letter in program.names.reads or letter in program.names.bound}
    if names:
        word = re.compile(rf"\b({'|'.join(names)})\b")
        for option in NAMING:
            given = values.get(option)
            if isinstance(given, str):
                values[option] = word.sub(lambda found: names[found.group()], given)
            elif given:
                values[option] = [word.sub(lambda found: names[found.group()], text)
                                  for text in given]
    return program


def ask_from(program: Program, values: dict[str, Any]) -> Ask:
    """The question that the options put to a program."""
    return Ask(program, **asked(values))


def asked(values: dict[str, Any]) -> dict[str, Any]:
    """The same without a program: the arguments of `Ask`."""
    weights = values.get("output_gradient")
    found = {
        "at": values_at(values["at"]), "of": [_tidy(text) for text in values.get("of", ())],
        "wrt": _names(values.get("wrt", ())), "mode": values.get("mode", "reverse"),
        "unconnected": values.get("unconnected", "none"),
        "watch": _names(values.get("watch", ())),
        "output_gradient": None if weights is None else _weights(weights),
        "tf": bool(values.get("tf")), "verify": bool(values.get("verify")),
        "eig": bool(values.get("eig")), "sparse": bool(values.get("sparse")),
        "verbose": values["verbose"] > 0, "tape": values.get("tape")}
    if values["max_steps"] is not None:
        found["max_steps"] = values["max_steps"]
    if values["max_memory"] is not None:
        found["max_bytes"] = memory(values["max_memory"])
    return found


def values_at(texts: list[str], where: str = "--at") -> dict[str, Any]:
    """`--at x=3,y=[1,2]`, repeated: name to value. Raises E0204 for a name that has two."""
    found: dict[str, Any] = {}
    for text in texts:
        for part in split(text):
            name, _, value = part.partition("=")
            name = name.strip()
            if name in found:
                start = text.rindex(part)
                raise GradcliError(Diagnostic(
                    "E0204", f"{where} gives `{name}` two values",
                    span=(start, start + len(part)), source=Source(text, where),
                    help="give each name one value; `gradcli grad --points` takes many"
                    if where == "--at" else "give each name one value"))
            found[name] = _number(name, value.strip(), where)
    return found


def _weights(text: str) -> Any:
    where = "--output-gradient"
    value = _number(where, text, where)
    if isinstance(value, str):
        raise GradcliError(Diagnostic(
            "E0306", f"{where} takes a number or an array of numbers, not a text",
            span=(0, len(text)), source=Source(text, where), help="such as 2 or [1, 0, 2]"))
    return value


def _number(name: str, text: str, where: str) -> Any:
    """The value of a constant expression as the engine holds it; E0306 has its place here."""
    value = constant(text, where)
    try:
        return plain_value(name, value)
    except GradcliError as problem:
        for one in problem.diagnostics:
            one.source, one.span = Source(text, where), (0, len(text))
        raise


def _names(texts: list[str]) -> list[str]:
    names = [name.strip() for text in texts for name in text.split(",")]
    return list(dict.fromkeys(name for name in names if name))


def _tidy(text: str) -> str:
    return ",".join(name.strip() for name in text.split(",") if name.strip())
