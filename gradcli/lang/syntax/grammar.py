"""The text of a grammar and its parser's tables, loaded in the quickest way available.

`tables()` are those of programs, `load()` those of any grammar (`gradcli.lang.paper` has one of its
own, which is not loaded here). There are three sources: a module such as
`gradcli/lang/syntax/_tables.py`, which the wheel's build writes with `module_text()`; a cache file
in the user's own cache folder; and, when both are missing, stock Lark, which `export` imports and
nothing else. Nothing read from the cache is ever executed: it is `marshal` data behind a checksum,
in a folder that only the user can write.

A `Machine` is what a parser drives: the tables, with actions in the place of their names, and the
ends of chains of rules.
"""

from __future__ import annotations

import os

from gradcli.lang.syntax.lexer import KIND_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gradcli.lang.syntax.export import Kinds, Tables


class Machine:
    """The tables that a parser drives.

    rows: those of the tables. rules: (symbol, length, action or name of an operation or None).

    jumps: `state below << 16 | symbol << 8 | next token` to the state behind a symbol and the rules
    that only pass it on. They fill while texts are read: 13 steps of a chain such as power ->
    coefficient -> unary -> ... -> test become one.
    """

    __slots__ = ("_gotos", "jumps", "rows", "rules")

    def __init__(self, tables: Tables, actions: Mapping[str, Callable[..., Any]]) -> None:
        self.rows, self._gotos, rules = tables
        self.rules: list[tuple[int, int, Any]] = [
            (symbol, size, name and actions.get(name, name)) for symbol, size, name, _ in rules]
        self.jumps: dict[int, int] = {}

    def jump(self, key: int) -> int:
        """Return the state behind a key of `jumps`, and store it there."""
        gotos = self._gotos[key >> 16]
        symbol, kind = key >> 8 & 255, key & 255
        state = gotos[symbol]
        while (step := self.rows[state].get(kind, 0)) < 0:
            symbol, size, action = self.rules[-step]
            if action is not None or size != 1:
                break
            state = gotos[symbol]
        self.jumps[key] = state
        return state


FORMAT = 1  # of the tables; part of the cache's key
GRAMMARS = ("program.lark", "expression.lark")
MODULE = "gradcli.lang.syntax._tables"

_loaded: Tables | None = None


def grammar_text(files: tuple[str, ...] = GRAMMARS) -> str:
    """Return the joined grammars, from `gradcli/grammars` in a wheel, else beside the package."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for folder in (package, os.path.dirname(package)):
        try:
            texts = []
            for name in files:
                with open(os.path.join(folder, "grammars", name), encoding="utf-8") as file:
                    texts.append(file.read())
            return "\n".join(texts)
        except FileNotFoundError:
            continue
    raise FileNotFoundError(f"the grammars {', '.join(files)} are missing beside {package}")


def tables() -> Tables:
    """Return the parser's tables; the same object every time."""
    global _loaded
    if _loaded is None:
        _loaded = load(MODULE, GRAMMARS, KIND_NAMES)
    return _loaded


def load(module: str, files: tuple[str, ...], kinds: Kinds) -> Tables:
    """Return the tables of a grammar.

    module: the generated module.
    files: the grammars.
    kinds: the tokens of its lexer.
    """
    return _from_module(module) or _from_cache_or_lark(files, kinds)


def _from_module(name: str) -> Tables | None:
    try:
        module = __import__(name, fromlist=("TABLES",))
    except ImportError:
        return None
    found: Tables | None = module.TABLES if module.FORMAT == FORMAT else None
    return found


def _from_cache_or_lark(files: tuple[str, ...], kinds: Kinds) -> Tables:
    import marshal
    import sys
    import zlib

    text = grammar_text(files)
    key = zlib.crc32(f"{FORMAT} {sys.version} {' '.join(kinds.values())}\n{text}".encode())
    folder = cache_folder()
    path = os.path.join(folder, f"grammar-{key:08x}.tables") if folder else ""
    try:
        if path and _is_ours(folder):
            with open(path, "rb") as file:
                data = file.read()
            if int.from_bytes(data[:4], "little") == zlib.crc32(data[4:]):
                found: Tables = marshal.loads(data[4:])
                return found
    except (OSError, ValueError, EOFError, TypeError):
        pass

    from gradcli.lang.syntax.export import build

    built = build(text, kinds)
    if path:
        payload = marshal.dumps(built)
        _write(folder, path, zlib.crc32(payload).to_bytes(4, "little") + payload)
    return built


def module_text(files: tuple[str, ...] = GRAMMARS, kinds: Kinds = KIND_NAMES) -> str:
    """Return the source of a module of tables, by default `gradcli/lang/syntax/_tables.py`."""
    from gradcli.lang.syntax.export import build

    return (f'"""Generated by gradcli.lang.syntax.grammar; not to be edited."""\n\n'
            f"FORMAT = {FORMAT}\nTABLES = {build(grammar_text(files), kinds)!r}\n")


def cache_folder() -> str:
    """Return `$XDG_CACHE_HOME/gradcli`, else `~/.cache/gradcli`; empty where there is no home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # as the XDG specification says: relative ones are ignored
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "gradcli") if os.path.isabs(base) else ""


def _is_ours(folder: str) -> bool:
    """Return whether the folder belongs to the user and nobody else may write into it."""
    found = os.lstat(folder)
    if not hasattr(os, "geteuid"):
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _write(folder: str, path: str, data: bytes) -> None:
    """Write a file in one step, so that a reader sees all or nothing; a failure is no error."""
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o700)
        if not _is_ours(folder):
            return
        try:
            with open(temporary, "xb") as file:
                file.write(data)
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)
    except OSError:
        pass
