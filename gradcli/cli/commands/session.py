"""repl: a session, in which names and functions stay.

A session is an expression file that grows. What is entered is a statement of it, or a command,
which gets the lines that its formula needs in front of it. A name that is bound again takes the
place of what it was, and what depends on it follows; one that is bound by itself, x = x + 1, by
its value.
"""

from __future__ import annotations

import os
import re
import shlex

from gradcli.base.errors import GradcliError
from gradcli.cli.commands.output import complain, deliver
from gradcli.cli.commands.question import guarded, question_from
from gradcli.cli.environment import BAD_INPUT, OK, USAGE, WRONG
from gradcli.cli.options import commands, find, read
from gradcli.questions import evaluate
from gradcli.render.numbers import exact, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.cli.environment import Environment
    from gradcli.cli.options import Command
    from gradcli.cli.options.programs import SessionOptions
    from gradcli.cli.options.questions import QuestionOptions
    from gradcli.lang.running.program import Program

ANSWER = "ans"
PROMPT, MORE = "> ", "... "
HISTORY = 1_000
"""So many lines are remembered from one session to the next."""
NAME = re.compile(r"[^\W\d]\w*")
BINDING = re.compile(r"\s*(?:(?:var|const)\s+)?([^\W\d]\w*)\s*=(?!=)(.*)", re.DOTALL)
FUNCTION = re.compile(r"\s*([^\W\d]\w*)\s*\(([\w\s,]*)\)\s*=(?!=)")
STATEMENT = re.compile(r"\s*(print|expect|assert|watch|import)\b")
PRINTS = re.compile(r"^\s*print\(.*\n?", re.MULTILINE)
OWN = {"names": "what is defined", "clear": "forget all, or the names behind it",
       "save": "write the session to a file: save FILE", "help": "this", "quit": "leave, as Ctrl-D"}
HELP = """\
A formula shows its value, or its derivative while it has letters: x^2 sin x.
x = 3, y = x^2, f(x) = x^2 + 1 and var w = [1, 2] stay; `ans` is the last answer.
A block, for i in range(3):, ends with an empty line.
Commands are those of gradcli; formulas need no quotes: grad x^2 y --wrt x
`why` alone explains the last answer."""


class Leave(Exception):
    """The session is to end."""


class Entry:
    """A statement of the session. binds, reads: its names; bound: parameters of a function. plain:
    one binding, whose place does not matter. shown: a function with its parameters.
    """

    __slots__ = ("binds", "plain", "reads", "shown", "text")

    def __init__(self, text: str, binds: Sequence[str], plain: bool, bound: Sequence[str] = ()
                 ) -> None:
        self.text = text
        self.binds = list(dict.fromkeys(binds))
        self.plain = plain
        self.shown = f"{binds[0]}({', '.join(bound)})" if bound else ""
        self.reads = [name for name in dict.fromkeys(NAME.findall(text))
                      if name not in binds and name not in bound]


def run(options: SessionOptions, environment: Environment) -> int:
    """Read and answer line by line; in a pipe the first error ends it, with its status, unless
    --keep-going.
    """
    session = Session(options, environment)
    alone = environment.stdin is None and environment.terminal(environment.stdout) and (
        os.isatty(0))
    status = OK
    try:
        for text in Terminal(session).inputs() if alone else _piped(environment):
            try:
                made = session.enter(text)
            except KeyboardInterrupt:
                if not alone:
                    raise
                environment.tell("interrupted\n")
                continue
            environment.stdout.flush()
            status = status or (0 if alone else made)
            if made not in (OK, WRONG) and not alone and not options.keep_going:
                return made
    except Leave:
        pass
    return status


class Session:
    """The statements so far, and the question that was put last."""

    __slots__ = ("entries", "environment", "last", "options")

    def __init__(self, options: SessionOptions, environment: Environment) -> None:
        self.options = options
        self.environment = environment
        self.entries: list[Entry] = []
        self.last: QuestionOptions | None = None

    def names(self) -> list[str]:
        """Return the names that are bound, in order."""
        return list(dict.fromkeys([name for entry in self.entries for name in entry.binds]))

    def enter(self, text: str) -> int:
        """Answer one input; return its status."""
        text = text.strip("\n").rstrip()
        word, _, rest = text.strip().partition(" ")
        if not word or word.startswith("#"):
            return OK
        free = word not in self.names() and not rest.lstrip().startswith("=")
        if word in ("quit", "exit", ":q") and free:
            raise Leave
        if word in OWN and free:
            return self._own(word, rest.split())
        command = find(word)
        if command is not None and free and word not in ("hw", "repl"):
            return self._command(command, rest.strip())
        return self._statement(text)

    # ---- the file that the session is ----------------------------------------------------------

    def lines(self, text: str) -> list[str]:
        """Return the statements that a text needs, in an order in which they can run."""
        found: dict[int, Entry] = {}

        def need(names: list[str], before: int) -> None:
            for name in names:
                at = max([k for k, entry in enumerate(self.entries) if name in entry.binds and (
                    entry.plain or k < before)], default=None)
                if at is not None and at not in found:
                    entry = self.entries[at]
                    found[at] = entry
                    need(entry.reads + ([] if entry.plain else entry.binds), at)
                    found[at] = found.pop(at)       # behind what it needs

        need(NAME.findall(text), len(self.entries))
        return [entry.text for entry in found.values()]

    def program(self, text: str) -> str:
        """Return a text with what it needs in front."""
        return "\n".join([*self.lines(text), text])

    def keep(self, entry: Entry) -> None:
        """Add a statement; of plain ones that bind the same name it takes the place."""
        if entry.plain:
            self.entries = [one for one in self.entries
                            if not (one.plain and one.binds == entry.binds)]
        self.entries.append(entry)

    # ---- statements ----------------------------------------------------------------------------

    def _statement(self, text: str) -> int:
        function, binding = FUNCTION.match(text), BINDING.fullmatch(text)
        if "\n" in text or text.endswith(":") or STATEMENT.match(text):
            return self._block(text)
        if function is not None:
            name, parameters = function[1], NAME.findall(function[2])
            return self._kept(text, Entry(text, [name], True, parameters))
        try:
            if text.strip() in self.names():
                return self._named(text.strip())
            if binding is not None:
                return self._value(binding[1], text, binding[2])
            return self._value(ANSWER, f"{ANSWER} = {text}", text)
        except GradcliError as problem:
            if binding is not None or problem.code[:3] != "E01":
                return self._wrong(problem)
        return self._block(text)    # print(x), assign, x += 1: no formula

    def _named(self, name: str) -> int:
        """Show the value of a name, which is the last answer then."""
        call = next((one.shown for one in self.entries if one.shown and name in one.binds), "")
        if call:
            return self._value(ANSWER, f"{ANSWER} = {call}", call)
        options = self._asking("eval", "\n".join(self.lines(name)))
        options.of = [name]
        try:
            found = guarded(options, self.environment, lambda program, options: evaluate(
                question_from(program, options)))
        except GradcliError as problem:
            if problem.code != "E0203":
                raise
            options = self._asking("derive", options.expression)
            options.of = [name]
            return self._run(options)
        deliver(found, options, self.environment)
        self.last = options
        if name != ANSWER and isinstance(found["results"][-1]["value"], float | int | list):
            self.keep(Entry(f"var {ANSWER} = {exact(found['results'][-1]['value'])}", [ANSWER],
                            True))
        return OK

    def _value(self, name: str, text: str, formula: str) -> int:
        """Bind a name to a formula, and show its value; the formula itself if it has letters."""
        needed = self.lines(formula)
        around = any(name in entry.binds for entry in self.entries if entry.text in needed)
        options = self._asking("eval", "\n".join([*needed, text]))
        read_as: list[str] = []     # the lines as they were understood, the last one is the text's

        def work(program: Program, options: QuestionOptions) -> dict[str, Any]:
            read_as.extend((program.source.read_as or program.source.text).rstrip().splitlines())
            return evaluate(question_from(program, options))

        try:
            found = guarded(options, self.environment, work)
        except GradcliError as problem:
            if problem.code == "E0203" and not around:
                return self._letters(name, read_as[-1] if read_as else text)
            raise
        deliver(found, options, self.environment)
        self.last = options
        value = found["results"][-1]["value"]
        kept = isinstance(value, float | int | list) and (around or name == ANSWER)
        last = f"{name} = {exact(value)}" if kept else read_as[-1]
        if last.startswith(name) and not Entry(last, [name], True).reads:
            last = f"var {last}"    # a number is what one differentiates by
        self.keep(Entry(last, [name], True))
        return OK

    def _letters(self, name: str, text: str) -> int:
        """Keep a formula of letters, and show it, or its derivative if nobody named it."""
        if name != ANSWER:
            return self._kept(text, Entry(text, [name], True))
        formula = NAME.sub(lambda found: self._inlined(found[0]), text.partition("=")[2].strip())
        status = self._run(self._asking("derive", self.program(formula)))
        if status == OK:
            self.keep(Entry(f"{name} = {formula}", [name], True))
        return status

    def _inlined(self, name: str) -> str:
        """Return a name, or what the last answer was."""
        for entry in self.entries:
            if name == ANSWER and ANSWER in entry.binds:
                return f"({entry.text.partition('=')[2].strip()})"
        return name

    def _kept(self, text: str, entry: Entry) -> int:
        """Keep a statement that has no value, if it can be read."""
        options = self._asking("eval", self.program(text))
        try:
            guarded(options, self.environment, lambda program, options: None)
        except GradcliError as problem:
            return self._wrong(problem, options)
        self.keep(entry)
        self.environment.stdout.write(f"{visible(text)}\n")
        return OK

    def _block(self, text: str) -> int:
        """Run statements, and keep them but for what they print."""
        status = self._run(self._asking("run", self.program(text)))
        left = PRINTS.sub("", text)
        if status != OK or not left.strip():
            return status
        options = self._asking("run", self.program(left))
        options.quiet = True        # how it was read was told
        try:
            names = guarded(options, self.environment, lambda program, options: {
                *program.names.bound, *program.names.functions})
        except GradcliError:        # a block that only prints is none without that
            return status
        self.keep(Entry(left, [name for name in NAME.findall(left) if name in names], False))
        return status

    # ---- commands ------------------------------------------------------------------------------

    def _command(self, command: Command, rest: str) -> int:
        """Run a command of gradcli. What stands before its first option is one formula."""
        flags = {flag for one in command.options for flag in one.flags} | {"-h", "--help"}
        try:
            words = shlex.split(rest) if rest[:1] in "'\"" else rest.split()
            k = next((k for k, word in enumerate(words) if word.partition("=")[0] in flags),
                     len(words))
            more = shlex.split(rest)[-(len(words) - k):] if k < len(words) else []
        except ValueError as problem:
            self.environment.tell(f"gradcli {command.name}: {problem}\n")
            return USAGE
        takes = [one.name for one in command.arguments]
        if "file" not in takes:
            from gradcli.cli.main import run as run_line

            return run_line([command.name, *shlex.split(rest)], self.environment)
        formula = " ".join(words[:k])
        argv = [command.name, *self._program_of(command, formula), *more]
        if not formula and not more and self.last is not None:
            return self._again(command)
        options: Any = read(argv)
        if options is None:
            from gradcli.cli import app

            options = app.read(argv, self.environment)
        return options if isinstance(options, int) else self._run(options)

    def _program_of(self, command: Command, formula: str) -> list[str]:
        """Return the options that give a command its program; a name of the session is a target."""
        if not formula:
            return []
        if formula in self.names() and any(one.name == "of" for one in command.options):
            return ["-e", "\n".join(self.lines(formula)), "--of", formula]
        return ["-e", self.program(formula)]

    def _again(self, command: Command) -> int:
        """Put the last question to another command."""
        assert self.last is not None
        options: Any = command.kind(command)
        for one in command.options:
            if hasattr(self.last, one.name) and one.name not in ("format", "output"):
                setattr(options, one.name, getattr(self.last, one.name))
        return self._run(options)

    def _run(self, options: Any) -> int:
        from gradcli.cli.main import dispatch

        for name in ("timeout", "max_steps", "max_memory"):
            if getattr(options, name, None) is None and hasattr(options, name):
                setattr(options, name, getattr(self.options, name))
        status = dispatch(options, self.environment)
        if status in (OK, WRONG) and getattr(options, "expression", None) is not None:
            self.last = options
        return status

    def _asking(self, command: str, text: str) -> Any:
        """Return the options of a command about a text."""
        row = find(command)
        assert row is not None
        options: Any = row.kind(row)
        options.expression = text
        options.color = self.options.color
        for name in ("timeout", "max_steps", "max_memory"):
            setattr(options, name, getattr(self.options, name))
        return options

    def _wrong(self, problem: GradcliError, options: Any = None) -> int:
        complain(problem.diagnostics, options or self.options, self.environment)
        return BAD_INPUT

    # ---- words of the session itself -----------------------------------------------------------

    def _own(self, word: str, rest: list[str]) -> int:
        out = self.environment.stdout
        if word == "help":
            width = max(map(len, OWN))
            out.write(HELP + "\n\n" + "".join([
                f"{name:{width}}  {what}\n" for name, what in OWN.items()]))
        elif word == "names":
            out.write("".join([f"{visible(line)}\n" for entry in self.entries
                               for line in entry.text.splitlines()]))
        elif word == "clear":
            self.entries = [one for one in self.entries if rest and not set(one.binds) & set(rest)]
        elif not rest:
            self.environment.tell("save: give the name of a file, such as session.txt\n")
            return USAGE
        else:
            return self._save(" ".join(rest))
        return OK

    def _save(self, path: str) -> int:
        from gradcli.cli.files import write_file

        text = "".join([f"{line}\n" for line in self.lines(" ".join(self.names()))])
        try:
            write_file(path, text)
        except GradcliError as problem:
            return self._wrong(problem)
        return OK


# --------------------------------------------------------------------------------------------------
# Where lines come from.

def _piped(environment: Environment) -> Iterator[str]:
    """Yield inputs of a pipe: a block goes on as long as lines are indented."""
    block: list[str] = []
    with environment.input() as stream:
        for line in stream:
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if block and (not text.strip() or text[:1].isspace()):
                block.append(text)
                continue
            if block:
                yield "\n".join(block)
                block = []
            if text.rstrip().endswith(":"):
                block = [text]
            else:
                yield text
    if block:
        yield "\n".join(block)


class Terminal:
    """Lines that a person types: edited, remembered and completed by prompt_toolkit, or else by
    the standard library.
    """

    __slots__ = ("ask", "session")

    def __init__(self, session: Session) -> None:
        self.session = session
        try:
            self.ask = self._with_toolkit()
        except ImportError:
            self.ask = self._with_readline()

    def inputs(self) -> Iterator[str]:
        """Yield what is typed; a block ends with an empty line, Ctrl-C drops what was begun."""
        from gradcli._version import __version__

        out = self.session.environment.stdout
        out.write(f"gradcli {__version__}; help tells more, Ctrl-D leaves\n")
        while True:
            try:
                text = self.ask(PROMPT)
                while text.rstrip().endswith(":") or "\n" in text:
                    more = self.ask(MORE)
                    if not more.strip():
                        break
                    text += "\n" + more
            except KeyboardInterrupt:
                out.write("\n")
                continue
            except EOFError:
                out.write("\n")
                return
            yield text

    def words(self) -> list[str]:
        """Return what can be completed."""
        from gradcli.ops import PUBLIC

        return sorted({*[row.name for row in commands() if " " not in row.name], *OWN,
                       *self.session.names(), *PUBLIC})

    def _history(self) -> str | None:
        """Return the file of earlier lines, None where there is to be none."""
        if self.session.options.no_history:
            return None
        variables = self.session.environment.variables
        state = variables.get("XDG_STATE_HOME") or os.path.join(
            os.path.expanduser("~"), ".local", "state")
        path = os.path.join(state, "gradcli", "history")
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        except OSError:
            return None
        return path

    def _with_toolkit(self) -> Any:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.history import FileHistory, InMemoryHistory

        path = self._history()
        prompt: Any = PromptSession(
            history=FileHistory(path) if path else InMemoryHistory(), complete_while_typing=False,
            completer=WordCompleter(self.words, pattern=NAME))
        return prompt.prompt

    def _with_readline(self) -> Any:
        try:
            import readline
        except ImportError:     # Windows has none
            return input
        import atexit

        def complete(text: str, state: int) -> str | None:
            found = [word for word in self.words() if word.startswith(text)]
            return found[state] if state < len(found) else None

        readline.set_completer(complete)
        readline.set_completer_delims(" \t\n+-*/^=()[]{},;:<>|&'\"")
        readline.parse_and_bind("tab: complete")
        path = self._history()
        if path is not None:
            try:
                readline.read_history_file(path)
            except OSError:
                return input
            readline.set_history_length(HISTORY)
            atexit.register(readline.write_history_file, path)
        return input
