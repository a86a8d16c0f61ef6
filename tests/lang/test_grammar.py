"""The grammars, the exported tables, and the driver against stock Lark's own."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import folded
from draws import drawn
from lark import Lark
from stock_lark import stock, stock_reductions

from gradcli.base.errors import GradcliError, Source
from gradcli.lang.syntax import grammar, parser
from gradcli.lang.syntax.blocks import BLOCK_ACTIONS
from gradcli.lang.syntax.export import build
from gradcli.lang.syntax.expressions import ACTIONS
from gradcli.lang.syntax.grammar import Machine, grammar_text, module_text, tables
from gradcli.lang.syntax.lexer import KIND_NAMES, MAX_NESTING
from gradcli.lang.syntax.parser import STATEMENT_ACTIONS

PROJECT = Path(grammar.__file__).parents[2]

# ---- the grammars ---------------------------------------------------------------------------


def test_grammar_is_lalr_without_conflicts_or_colliding_terminals() -> None:
    Lark(grammar_text(), parser="lalr", lexer="basic", strict=True)


def test_every_terminal_has_a_name_and_a_kind() -> None:
    lark, _ = stock()
    used = {symbol.name for rule in lark.rules for symbol in rule.expansion if symbol.is_term}
    assert not [name for name in used if name.startswith("__")]
    assert used == set(KIND_NAMES.values()) - {"ERROR", "END"}


def test_aliases_are_actions_or_operations() -> None:
    lark, _ = stock()
    actions = ACTIONS.keys() | STATEMENT_ACTIONS.keys()
    assert BLOCK_ACTIONS.keys() < STATEMENT_ACTIONS.keys()
    aliases = {rule.alias for rule in lark.rules if rule.alias}
    assert actions <= aliases
    assert aliases - actions == {
        "add", "subtract", "multiply", "divide", "floor_divide", "mod", "matmul", "power", "equal",
        "not_equal", "less", "less_equal", "greater", "greater_equal", "negative", "positive",
        "logical_not"}


# ---- tables ---------------------------------------------------------------------------------


def test_tables_do_not_depend_on_the_process() -> None:
    script = ("from gradcli.lang.syntax.grammar import module_text; import zlib, sys;"
              "sys.stdout.write(str(zlib.crc32(module_text().encode())))")
    found = {
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True,
                       cwd=PROJECT, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")}
    assert len(found) == 1


def test_module_text_is_literals_only() -> None:
    import ast

    module = ast.parse(module_text())
    values = {node.targets[0].id: ast.literal_eval(node.value)  # type: ignore[attr-defined]
              for node in module.body if isinstance(node, ast.Assign)}
    assert values["FORMAT"] == grammar.FORMAT
    assert values["TABLES"] == build(grammar_text())


def test_numbers_fit_the_jump_keys() -> None:
    _, gotos, rules = tables()
    assert max(symbol for row in gotos for symbol in row) < 256
    assert max(symbol for symbol, _, _, _ in rules) < 256


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No tables loaded, no generated module, an empty cache; the cache folder."""
    monkeypatch.setattr(grammar, "_loaded", None)
    monkeypatch.setitem(sys.modules, "gradcli.lang.syntax._tables", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "gradcli"


def cached_tables(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The tables with Lark out of reach."""
    monkeypatch.setattr(grammar, "_loaded", None)
    monkeypatch.setitem(sys.modules, "gradcli.lang.syntax.export", None)
    return tables()


def test_cache_is_private_and_is_read_again(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = tables()
    assert fresh.stat().st_mode & 0o777 == 0o700
    (file,) = fresh.iterdir()
    assert marshal.loads(file.read_bytes()[4:]) == built
    assert cached_tables(monkeypatch) == built


def test_generated_module_comes_first(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import types

    module = types.ModuleType("gradcli.lang.syntax._tables")
    exec(module_text(), module.__dict__)
    monkeypatch.setitem(sys.modules, "gradcli.lang.syntax._tables", module)
    monkeypatch.setattr("gradcli.lang.syntax._tables", module, raising=False)
    assert tables() is module.TABLES
    assert not fresh.exists()


def test_damaged_cache_is_built_again(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = tables()
    (file,) = fresh.iterdir()
    whole = file.read_bytes()
    for damaged in (b"", whole[:3], whole[:500], whole[:100] + b"?" + whole[101:]):
        file.write_bytes(damaged)
        monkeypatch.setattr(grammar, "_loaded", None)
        assert tables() == built
        assert marshal.loads(file.read_bytes()[4:]) == built


def test_cache_of_somebody_else_is_neither_read_nor_written(
        fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = tables()
    (file,) = fresh.iterdir()
    file.unlink()
    monkeypatch.setattr(os, "geteuid", lambda: fresh.stat().st_uid + 1)
    monkeypatch.setattr(grammar, "_loaded", None)
    assert tables() == built
    assert not list(fresh.iterdir())


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_cache_open_to_others_is_not_used(fresh: Path, mode: int) -> None:
    fresh.mkdir(parents=True)
    fresh.chmod(mode)
    assert tables()
    assert not list(fresh.iterdir())


def test_cache_that_cannot_be_written_is_no_error(fresh: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert tables() == build(grammar_text())


def test_failing_write_leaves_nothing(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    assert tables()
    assert not list(fresh.iterdir())


def test_relative_cache_folder_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "somewhere")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert grammar.cache_folder() == str(tmp_path / ".cache" / "gradcli")


# ---- the driver against stock Lark ----------------------------------------------------------

SAMPLES = {
    "NAME": ["x", "y", "sin", "f", "θ", "_a1", "e"], "NUMBER": ["2", ".5", "1e-3", "10", "3."],
    "PRIMED": ["f'", "g''"], "STRING": ['"w"', "'a b'"], "SUPERSCRIPT": ["²", "⁻¹", "¹⁰"],
    "PLUS": ["+"], "MINUS": ["-", "−"], "STAR": ["*", "·", "×"], "SLASH": ["/", "÷"],
    "DOUBLE_SLASH": ["//"], "PERCENT": ["%"], "AT": ["@"], "CIRCUMFLEX": ["^", "**"], "SQRT": ["√"],
    "PI": ["π"], "EQUAL_EQUAL": ["=="], "NOT_EQUAL": ["!=", "≠"], "LESS": ["<"],
    "LESS_EQUAL": ["<=", "≤"], "GREATER": [">"], "GREATER_EQUAL": [">=", "≥"], "EQUAL": ["="],
    "DOT": ["."], "COMMA": [","], "COLON": [":"], "LPAR": ["("], "RPAR": [")"], "LSQB": ["["],
    "RSQB": ["]"], "LBRACE": ["{"], "RBRACE": ["}"], "SEMICOLON": [";"], "AUGMENTED": ["+=", "^="],
    "NEWLINE": ["\n"], "TRUE": ["true", "True"], "FALSE": ["false"], "NONE": ["none"],
    "IF": ["if"], "ELSE": ["else"], "AND": ["and"], "OR": ["or"], "NOT": ["not"],
    "VAR": ["var"], "CONST": ["const"], "INPUT": ["input"], "TAPE": ["tape"],
    "FORWARD": ["forward"], "STOP_RECORDING": ["stop_recording"], "RESUME": ["resume"],
    "NEAR": ["~="], "INDENT": ["\x0e"], "DEDENT": ["\x0f"], "ELIF": ["elif"], "WHILE": ["while"],
    "FOR": ["for"], "IN": ["in"], "BREAK": ["break"], "CONTINUE": ["continue"], "DEF": ["def"],
    "RETURN": ["return"], "EXPECT": ["expect"], "PASS": ["pass"],
}


def spelled(words: list[str], glue: str) -> str:
    """The words as text: with `glue` between them, and lines indented as INDENT and DEDENT say."""
    text, level = "", 0
    for word in words:
        if word in ("\x0e", "\x0f"):
            level = max(0, level + (1 if word == "\x0e" else -1))
            continue
        text += ("  " * level if text[-1:] in ("", "\n") else glue) + word
    return text


class Generator:
    """Sentences of the grammar: random rules up to a number of them, then the shortest ones."""

    def __init__(self, seed: int) -> None:
        self.random = drawn(seed)
        lark, _ = stock()
        self.rules: dict[str, list[Any]] = {}
        for rule in lark.rules:
            self.rules.setdefault(rule.origin.name, []).append(rule.expansion)
        self.shortest = dict.fromkeys(self.rules, 1000)  # in words
        for _ in self.rules:
            for name, expansions in self.rules.items():
                self.shortest[name] = min(map(self.length, expansions))

    def length(self, expansion: Any) -> int:
        return sum(1 if symbol.is_term else self.shortest[symbol.name] for symbol in expansion)

    def sentence(self, rules: int) -> list[str]:
        """The words of one or two lines."""
        words: list[str] = []
        stack = [("statement", False)] * self.random.randint(1, 2)
        while stack:
            name, is_term = stack.pop()
            if is_term:
                words.append(self.random.choice(SAMPLES[name]))
                continue
            expansions = self.rules[name]
            if rules <= 0:
                expansions = [e for e in expansions if self.length(e) == self.shortest[name]]
            chosen = self.random.choice(expansions)
            rules -= len(expansions) > 1
            stack += [(symbol.name, symbol.is_term) for symbol in reversed(chosen)]
        return words

    def mutated(self, words: list[str]) -> list[str]:
        """One word removed, doubled, replaced or exchanged with its neighbour."""
        words = list(words)
        place = self.random.randrange(len(words))
        what = self.random.randrange(4)
        if what == 0:
            del words[place]
        elif what == 1:
            words.insert(place, words[place])
        elif what == 2:
            words[place] = self.random.choice(self.random.choice(list(SAMPLES.values())))
        else:
            words[place - 1], words[place] = words[place], words[place - 1]
        return words


def driver_reductions(text: str, monkeypatch: pytest.MonkeyPatch) -> list[str] | None:
    """The same as `stock_reductions`, by our lexer, tables and driver; no action runs."""
    done: list[str] = []

    def recorder(alias: str) -> Any:
        return lambda *_: done.append(alias)

    machine = Machine(tables(), {alias: recorder(alias) for _, _, alias, _ in tables()[2] if alias})
    with monkeypatch.context() as patch:
        patch.setattr(parser, "_machine", machine)
        try:
            parser.Parser(text).run(0)
        except GradcliError:
            return None
    return done


def texts(count: int) -> list[str]:
    """Sentences, each followed by two mutations of it; every third one without spaces."""
    generator = Generator(20240602)
    found: list[str] = []
    while len(found) < count:
        words = generator.sentence(generator.random.randint(5, 80))
        for _ in range(3):
            glue = "" if len(found) % 3 == 2 else " "
            found.append(spelled(words, glue))
            words = generator.mutated(words) or ["x"]
    return found


def test_driver_agrees_with_stock_lark(monkeypatch: pytest.MonkeyPatch) -> None:
    accepted = 0
    reduced: set[str] = set()
    for text in texts(3000):
        expected = stock_reductions(text)
        assert driver_reductions(text, monkeypatch) == expected, text
        if expected is not None:
            accepted += 1
            reduced.update(expected)
    assert accepted > 1000
    assert reduced == {alias for _, _, alias, _ in tables()[2] if alias}  # every rule was seen


def error_of(text: str) -> GradcliError | None:
    """The error of a text, checked for what every error has to have; None if there is none."""
    source = Source(text)
    try:
        parser.parse(source)
    except GradcliError as error:
        found = error
    else:
        return None
    for diagnostic in found.diagnostics:
        assert diagnostic.source is source
        assert diagnostic.span is not None, text
        start, end = diagnostic.span
        assert 0 <= start < end <= len(text), (text, diagnostic)
        assert diagnostic.code.startswith("E01")
        assert diagnostic.message
        assert not diagnostic.message.endswith(".")
    return found


def test_whatever_is_not_accepted_is_explained() -> None:
    """No text makes the parser fail in another way than by a `GradcliError` with a place."""
    refused = {"E0102", "E0104", "E0105", "E0106", "E0107", "E0111", "E0113", "E0114"}
    for text in texts(3000):
        error = error_of(text)
        if stock_reductions(text) is None:
            assert error is not None, text
        elif error is not None:
            assert {d.code for d in error.diagnostics} <= refused, text


@folded
@pytest.mark.parametrize("rest", ["1", "", "x", ")", "'"])
@pytest.mark.parametrize("start", ["(", "[", "{", "((", "f(", "x^(", "var x = (", "a, (", '"'])
def test_truncated_texts_are_explained(start: str, rest: str) -> None:
    for text in (start + rest, start + "\n" + rest, start * (MAX_NESTING + 1) + rest):
        accepted = stock_reductions(text) is not None
        assert accepted or error_of(text) is not None


def test_every_prefix_of_a_program_is_read_or_explained() -> None:
    text = ("# a comment\nvar w: float32[3, :] = normal(3, 2, seed=1), trainable=false\n"
            "f(x, y) = 2x^2*sin(y) if x > 0 and not y else √x\na, b = f''(w.T[0, ::2])\n"
            'd = {"w": [1, 2,], "b": π²}; t.gradient(a, d, k="é\\n")\n')
    for size in range(len(text)):
        error_of(text[:size])
    assert len(parser.parse(Source(text))) == 5
