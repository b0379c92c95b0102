"""Texts in a CSV file that a spreadsheet takes for formulas.

To write them otherwise would change the data, and an answer with it; so they are written as they are, and told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from discreet.errors import DiscreetWarning
from discreet.publication.draft import Prepared
from discreet.words import counted

FORMULA = r"^[=@\t\r]|^[+-].*[^0-9., ]"  # a number with its sign is none


def formulas(prepared: Prepared) -> Iterator[DiscreetWarning]:
    """Published columns of text with values, or names, that begin like a formula; in one pass over the table."""
    table, names = prepared.table, prepared.policy.columns
    held = [name for name in names if table[name].kind == "string"]
    found = dict.fromkeys(names, 0)
    if held:
        rows = table.select(held).subquery("texts")
        pattern = exp.Literal.string(FORMULA)
        like = (exp.RegexpLike(this=exp.column(name, quoted=True), expression=pattern.copy()) for name in held)
        told = table.engine.run(exp.select(*(exp.CountIf(this=each) for each in like)).from_(rows))
        found |= {name: int(count[0].as_py() or 0) for name, count in zip(held, told.columns, strict=True)}
    for name, count in found.items():
        itself = re.search(FORMULA, name)
        if count or itself:
            what = (
                f"the name of the column `{name}` begins"
                if itself
                else f"{counted(count, 'value')} of `{name}` {'begins' if count == 1 else 'begin'}"
            )
            yield DiscreetWarning(
                f"formulas.{name}",
                f"{what} like a formula, with `=`, `+`, `-` or `@`: a spreadsheet that opens the CSV file may run it",
                hint="publish as Parquet, or change these values first",
            )
