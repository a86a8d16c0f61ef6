"""Lark's LALR table as plain numbers, small enough to be read in a fraction of a millisecond.

Used when a wheel is built and where no finished table is found; the only module that imports Lark.
States and rules are renumbered in the order in which they are reached, because Lark numbers states
differently in every process.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Row of a state: kind of token -> the state to shift to (positive) or the rule to reduce by
    # (negative); no entry is an error. Row of gotos: symbol -> state. Rule: (symbol, length, name
    # of the action or None, name of the symbol). Places 0 of rows, gotos and rules are unused;
    # state 1 is the first.
    Row = dict[int, int]
    Rule = tuple[int, int, str | None, str]
    Tables = tuple[tuple[Row, ...], tuple[Row, ...], tuple[Rule, ...]]
    Kinds = dict[int, str]  # the tokens of a lexer: kind to name


def build(text: str, names: Kinds | None = None) -> Tables:
    """Return the tables of a grammar; its terminals must be `names`, by default the lexer's.

    Raises lark.exceptions.GrammarError for a grammar that is not LALR(1).
    """
    from lark import Lark
    from lark.parsers.lalr_analysis import Shift

    from gradcli.lang.syntax.lexer import KIND_NAMES

    kinds = {name: kind for kind, name in (names or KIND_NAMES).items()}
    end = kinds["$END"] = kinds["END"]
    parser = Lark(text, parser="lalr", lexer="basic", maybe_placeholders=False).parser.parser
    table = parser._parse_table  # type: ignore[union-attr, unused-ignore]
    (start,), (last,) = table.start_states.values(), table.end_states.values()

    states = {start: 1}
    order = [start]  # grows while it is gone through
    symbols: dict[str, int] = {}
    rules: dict[object, int] = {}
    exported: list[Rule] = [(0, 0, None, "")]
    rows: list[Row] = [{}]
    gotos: list[Row] = [{}]
    for state in order:
        row: Row = {}
        goto: Row = {}
        for token, (action, argument) in sorted(table.states[state].items()):
            if action is Shift:
                if argument not in states:
                    order.append(argument)
                target = states.setdefault(argument, len(states) + 1)
                if token in kinds:
                    row[kinds[token]] = target
                else:
                    goto[symbols.setdefault(token, len(symbols) + 1)] = target
            else:
                if argument not in rules:
                    rules[argument] = len(rules) + 1
                    symbol = str(argument.origin.name)
                    exported.append((symbols.setdefault(symbol, len(symbols) + 1),
                                     len(argument.expansion), argument.alias, symbol))
                row[kinds[token]] = -rules[argument]
        if state == last:
            row[end] = states[state]  # accept: END is shifted here only
        rows.append(row)
        gotos.append(goto)
    return tuple(rows), tuple(gotos), tuple(exported)
