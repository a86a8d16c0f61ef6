"""The language: parsed by Lark's tables, emitted as flat code, run on a record."""
