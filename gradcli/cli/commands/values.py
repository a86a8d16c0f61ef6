"""From the texts of the options to what the library takes."""

from __future__ import annotations

from gradcli.answers import Ask
from gradcli.cli.options import memory, seconds, split
from gradcli.errors import Diagnostic, GradcliError
from gradcli.program import Program, constant
from gradcli.source import Source, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.cli.environment import Environment


def program_from(values: dict[str, Any], environment: Environment) -> Program:
    """The program in the file, on standard input or behind -e."""
    if values["expression"] is not None:
        return Program(Source(values["expression"], "-e"))
    stdin = environment.input() if values["file"] == "-" else None
    return Program(read(values["file"], stdin))


def ask_from(command: str, program: Program, values: dict[str, Any]) -> Ask:
    """The question that the options put to a program."""
    if values.get("tape") is not None:
        raise GradcliError(Diagnostic(
            "E0505", f"`{program.source.name}` has no tape named `{values['tape']}`",
            span=(0, len(values["tape"])), source=Source(values["tape"], "--tape"), help="leave out --tape: one tape covers the whole file"))
    if values["timeout"] is not None:
        _stop_after(seconds(values["timeout"]) or 0.0)
    weights = values.get("output_gradient")
    ask = Ask(
        program, at=values_at(values["at"]), of=[_tidy(text) for text in values["of"]],
        wrt=_names(values.get("wrt", ())), mode=values.get("mode", "reverse"),
        unconnected=values.get("unconnected", "none"), watch=_names(values.get("watch", ())),
        output_gradient=None if weights is None else constant(weights, "--output-gradient"),
        tf=bool(values.get("tf")), verify=bool(values.get("verify")), eig=bool(values.get("eig")),
        verbose=values["verbose"] > 0)
    if values["max_steps"] is not None:
        ask.max_steps = values["max_steps"]
    if values["max_memory"] is not None:
        ask.max_bytes = memory(values["max_memory"])
    return ask


def values_at(texts: list[str]) -> dict[str, Any]:
    """`--at x=3,y=[1,2]`, repeated: name to value. The last value of a name counts."""
    found = {}
    for text in texts:
        for part in split(text):
            name, _, value = part.partition("=")
            found[name.strip()] = constant(value.strip(), "--at")
    return found


def _names(texts: list[str]) -> list[str]:
    names = [name.strip() for text in texts for name in text.split(",")]
    return list(dict.fromkeys(name for name in names if name))


def _tidy(text: str) -> str:
    return ",".join(name.strip() for name in text.split(",") if name.strip())


def _stop_after(limit: float) -> None:
    """Raise E0406 after so many seconds of wall time, where the system has such an alarm."""
    import signal

    def stop(number: int, frame: Any) -> None:
        raise GradcliError(Diagnostic(
            "E0406", f"stopped after {limit:g} seconds, as --timeout asks", help="raise --timeout"))

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, limit)
