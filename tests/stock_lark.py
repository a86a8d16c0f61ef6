"""The grammar run by stock Lark, with nothing of gradcli but the grammar's text.

Lark reads the terminals; `Shaper` does what the grammar leaves to a lexer: words, newlines,
margins.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedInput

from gradcli.lang.grammar import grammar_text

WORDS = {
    "if": "IF", "else": "ELSE", "and": "AND", "or": "OR", "not": "NOT", "true": "TRUE",
    "True": "TRUE", "false": "FALSE", "False": "FALSE", "none": "NONE", "None": "NONE",
    "var": "VAR", "const": "CONST", "input": "INPUT", "tape": "TAPE", "forward": "FORWARD",
    "stop_recording": "STOP_RECORDING", "resume": "RESUME",
}
RESERVED = (
    "as assert async await break class continue def del elif except expect finally for from global"
    " import in is lambda nonlocal pass raise return try while with yield").split()


class Shaper:
    """Between Lark's lexer and its parser."""

    always_accept = ()
    text = ""

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        depth, fresh, margin = 0, True, None
        for token in stream:
            if token.type == "NEWLINE":
                if depth or fresh:
                    continue
                fresh = True
                yield token
                continue
            if fresh:
                line = self.text.rfind("\n", 0, token.start_pos) + 1
                indentation = self.text[line:token.start_pos].rpartition("\f")[2]
                margin = indentation if margin is None else margin
                if indentation != margin:
                    yield Token("ERROR", indentation, start_pos=line, end_pos=token.start_pos)
                fresh = False
            if token.type == "NAME":
                kind = "ERROR" if token in RESERVED else WORDS.get(token, "NAME")
                token = Token.new_borrow_pos(kind, token, token)
            depth += token.type in ("LPAR", "LSQB", "LBRACE")
            depth -= bool(depth) and token.type in ("RPAR", "RSQB", "RBRACE")
            yield token
        if not fresh:
            size = len(self.text)
            yield Token("NEWLINE", "", start_pos=size, end_pos=size)


@cache
def stock() -> tuple[Lark, Shaper]:
    shaper = Shaper()
    lark = Lark(grammar_text(), parser="lalr", lexer="basic", maybe_placeholders=False,
                postlex=shaper)
    lark.lexer = lark._build_lexer()  # which `lex` would build anew for every text
    return lark, shaper


def stock_tokens(text: str) -> list[tuple[str, int, int]] | None:
    """(terminal, start, end) of each token; None if Lark meets a character it cannot read."""
    lark, shaper = stock()
    shaper.text = text
    try:
        return [(t.type, t.start_pos, t.end_pos) for t in lark.lex(text)]
    except UnexpectedInput:
        return None


def stock_reductions(text: str) -> list[str] | None:
    """The aliases of the rules reduced, in order; None if Lark rejects the text."""
    lark, shaper = stock()
    shaper.text = text
    done: list[str] = []

    def recorder(alias: str | None) -> Any:
        return lambda children: done.append(alias) if alias else None

    machine = lark.parser.parser.parser
    machine.callbacks = {rule: recorder(rule.alias) for rule in machine.callbacks}
    try:
        lark.parse(text)
    except UnexpectedInput:
        return None
    return done
