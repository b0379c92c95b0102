"""Tables of a database: described when they are opened, and read when rows are needed, or counted where they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from discreet.engines import Engine
from discreet.errors import InputError, InternalError
from discreet.table.table import RELATION, Table
from discreet.values.codes import Codes, encode
from discreet.values.columns import Column
from discreet.values.written import Csv

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.engines.postgres.engine import Postgres
    from discreet.engines.postgres.source import Origin

ENDS = {
    "date": ("0001-01-01", "9999-12-31"),
    "timestamp": ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"),
    "time": ("00:00:00", "23:59:59.999999"),
}


class Remote(Table):
    """A table of a database, all rows of which are read at one moment, when the first of them is needed."""

    if TYPE_CHECKING:
        origin: Origin

    def __init__(self, origin: Origin, columns: tuple[Column, ...], name: str, reading: Callable[[], Engine]) -> None:
        self.__dict__.update(
            origin=origin, columns=columns, name=name, path=None, csv=Csv(), kept=None, _mark=(), _opening=reading
        )

    @cached_property
    def engine(self) -> Engine:  # type: ignore[override] # which is there from the beginning elsewhere
        opening: Callable[[], Engine] = self.__dict__["_opening"]
        return opening()

    def close(self) -> None:
        if "engine" in self.__dict__:
            super().close()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<Table {self.name}: {len(self.columns)} columns of a database>"


class Counted(Table):
    """A table that stays in its server: what is known of it are counts, and no row.

    Its codes are those of all rows, but in the order of values.
    """

    engine: Postgres

    def codes(self, name: str, *, present: str | None = None, at: npt.NDArray[np.integer[Any]] | None = None) -> Codes:
        if at is not None:
            raise InternalError("rows of a server have no places")
        [codes] = self._counted([name], self.select([name], present=present))
        return codes

    def together(self, name: str, other: str, *, present: str | None, most: int) -> tuple[Codes, Codes]:
        """Two columns of the same rows, of all or of about so many that are drawn by chance."""
        rows = self.select([name, other], present=present)
        if self.rows > most:
            share = exp.Literal.number(most / self.rows)
            rows = rows.where(exp.LT(this=exp.Rand(), expression=share))
        one, two = self._counted([name, other], rows)
        return one, two

    def _counted(self, names: Sequence[str], rows: exp.Select) -> list[Codes]:
        columns = [exp.column(name, quoted=True) for name in names]
        numbered = [exp.alias_(column.copy(), f"c{i}") for i, column in enumerate(columns)]
        query = exp.select(*numbered, exp.alias_(exp.Count(this=exp.Star()), "n")).from_(rows.subquery("rows"))
        with self._reading():
            found = self.engine.copied(query.group_by(*(column.copy() for column in columns)))
        times = found.column("n").to_numpy()
        coded = [encode(found.column(i).cast(self[name].type)) for i, name in enumerate(names)]
        order = np.argsort(coded[0].codes, kind="stable")
        return [Codes(np.repeat(each.codes[order], times[order]), each.domain, each.missing) for each in coded]

    def check_in_range(self, names: Sequence[str]) -> None:
        """Raise if a date or time is infinite, or one that a file could not hold."""
        for name in names:
            if (ends := ENDS.get(self[name].kind or "")) is None:
                continue
            low, high = (exp.cast(exp.Literal.string(end), exp.DataType.build(self[name].kind or "")) for end in ends)
            inside = exp.Between(this=exp.column(name, quoted=True), low=low, high=high)
            query = exp.select(exp.CountIf(this=exp.not_(inside))).from_(exp.to_identifier(RELATION, quoted=True))
            if self._column(query)[0].as_py():
                raise InputError(
                    f"a date or time of `{name}` is infinite or out of range",
                    hint="leave such rows out with a query, or make the value missing with NULLIF",
                )
