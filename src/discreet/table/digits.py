"""Numbers as people write them: with a decimal comma, and with a sign between thousands.

DuckDB 2.0 finds the types of columns as if it had been told of no such sign once a file has more than 2,048 rows, and
where it knows of one it drops it wherever it stands, so that 1.9.8 becomes 198. So a column with such a sign is
read as text, and is a column of numbers if every value of it is one with the sign between thousands. Cost: one pass
over the columns of text of a file whose policy says `thousands`.
Claim: thousands_are_read_in_files_of_any_length — and a column with one other value stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa
from sqlglot import exp

from discreet.engines import Engine
from discreet.engines.dialect import sql_type
from discreet.values.written import Csv

WHOLE = r"[+-]?(0|[1-9]\d*)"
EXACT = 18  # digits that any 64-bit integer can have


def grouped(sign: str) -> str:
    """The pattern of a whole number with at least one sign between thousands."""
    return rf"[+-]?[1-9]\d{{0,2}}({re.escape(sign)}\d{{3}})+"


def number(decimal: str, sign: str | None = None) -> str:
    """The pattern of a number with or without decimals, and with or without the signs between thousands."""
    whole = WHOLE if sign is None else f"({WHOLE}|{grouped(sign)})"
    return rf"{whole}({re.escape(decimal)}\d+)?"


def is_like(value: exp.Expr, pattern: str) -> exp.Expr:
    """Whether a text matches a pattern from its first to its last letter, small or capital."""
    return exp.RegexpLike(this=value, expression=exp.Literal.string(f"(?i)^({pattern})$"))


def numbers(engine: Engine, source: str, texts: Sequence[str], csv: Csv) -> Mapping[str, pa.DataType]:
    """Those columns of text whose values are all numbers with the sign that a file has between thousands."""
    if csv.thousands is None or not texts:
        return {}
    whole = rf"{WHOLE}|{grouped(csv.thousands)}"
    found = exp.select()
    for name in texts:
        value = exp.column(name, quoted=True)
        length = exp.Max(this=exp.Length(this=value.copy()))
        counts = (number(csv.decimal, csv.thousands), whole, rf"{grouped(csv.thousands)}.*")
        found = found.select(
            exp.Count(this=value), *(exp.CountIf(this=is_like(value, each)) for each in counts), length
        )
    row = [column[0].as_py() for column in engine.run(found.from_(exp.to_identifier(source, quoted=True))).columns]
    types: dict[str, pa.DataType] = {}
    for i, name in enumerate(texts):
        held, fitting, integers, signed, longest = row[5 * i : 5 * i + 5]
        if held == fitting and signed:
            types[name] = pa.int64() if held == integers and longest <= EXACT else pa.float64()
    return types


def as_number(value: exp.Expr, type_: pa.DataType, csv: Csv) -> exp.Expr:
    """A text that is such a number, as one."""
    plain = exp.func("REPLACE", value, exp.Literal.string(csv.thousands or ""), exp.Literal.string(""))
    point = exp.func("REPLACE", plain, exp.Literal.string(csv.decimal), exp.Literal.string("."))
    return exp.cast(point, sql_type(type_))
