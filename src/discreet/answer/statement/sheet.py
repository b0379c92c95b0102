"""The rows that a step computes with: estimates in a small table of the engine, and a cell for every column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from discreet.answer.estimators.columns import floats, is_number
from discreet.answer.statement.arithmetic import Arithmetic
from discreet.answer.statement.cells import Cell, Flags, certain, opaque
from discreet.answer.statement.division import cut, doubtful, of_figures
from discreet.engines import Engine
from discreet.errors import QueryError
from discreet.release.layouts.file import named

TEXTS = (exp.DPipe, exp.Concat, exp.Cast)
ROWS, NUMBER = "rows of a statement", "number of the row"
Within = Callable[[str, str], bool]


@dataclass(frozen=True, eq=False)
class Sheet:
    """Rows as a table of estimates and as cells.

    `sure` are rows that are there whatever the private table is, and `complete` says that no other row may be. `made`
    says by which estimators the figures of a column were made; a column without any is a key or a constant.
    """

    engine: Engine
    table: pa.Table
    cells: Mapping[str, Cell]
    sure: Flags
    complete: bool
    made: Mapping[str, frozenset[str]]
    within: Within

    def computed(self, *nodes: exp.Expr) -> pa.Table:
        """Expressions at the estimates, by row."""
        self.check(*nodes)
        placed = cut(self.cells, self._figures)
        items = [exp.alias_(node.copy().transform(placed), f"c{at}", quoted=True) for at, node in enumerate(nodes)]
        with self._loaded():
            query = exp.select(*items).from_(named(ROWS)).order_by(exp.column(NUMBER, quoted=True))
            return self.engine.run(query)

    def exactly(self, node: exp.Expr) -> Cell:
        """What the engine says of an expression that is exact."""
        return exact_cell(self.computed(node).column(0))

    @property
    def arithmetic(self) -> Arithmetic:
        doubts = partial(doubtful, cells=self.cells, figures=self._figures)
        return Arithmetic(self.cells, len(self.table), self.exactly, self.within, doubts)

    @property
    def _figures(self) -> set[str]:
        """Columns whose numbers the engine sees as floating-point, whatever the private table has."""
        return {
            name
            for name in self.cells
            if self.made.get(name) and pa.types.is_floating(self.table.schema.field(name).type)
        }

    def check(self, *nodes: exp.Expr) -> None:
        """Raise for columns that are not there, as only figures have bounds to be named; and for figures in texts."""
        for node in nodes:
            if any(of_figures(text, self._figures) for text in node.find_all(*TEXTS) if _is_text(text)):
                raise QueryError(
                    "the question puts a figure into a text, which would hide that it may be an estimate",
                    hint="ask for the figure in a column of its own",
                )
            for column in node.find_all(exp.Column):
                if column.name not in self.cells and column.name != NUMBER:
                    raise QueryError(
                        "the question names the bounds of a column that has none", hint="only figures have low and high"
                    )

    def taken(self, rows: npt.NDArray[np.int64]) -> Sheet:
        """Some rows, in some order."""
        cells = {name: cell.taken(rows) for name, cell in self.cells.items()}
        return replace(self, table=self.table.take(pa.array(rows)), cells=cells, sure=self.sure[rows])

    def beside(self, name: str, column: pa.ChunkedArray, cell: Cell, made: frozenset[str]) -> Sheet:
        """With one more column."""
        table = self.table.append_column(name, column)
        return replace(self, table=table, cells={**self.cells, name: cell}, made={**self.made, name: made})

    def makers(self, *nodes: exp.Expr) -> frozenset[str]:
        """By which estimators expressions were made."""
        return frozenset().union(*(self.made[each.name] for node in nodes for each in node.find_all(exp.Column)))

    @contextmanager
    def _loaded(self) -> Iterator[None]:
        numbers = pa.array(np.arange(len(self.table)))
        self.engine.load(ROWS, self.table.append_column(NUMBER, numbers), keep=False)
        try:
            yield
        finally:
            self.engine.forget(ROWS)


def _is_text(node: exp.Expr) -> bool:
    return not isinstance(node, exp.Cast) or node.to.is_type(*exp.DataType.TEXT_TYPES)


def exact_cell(column: pa.ChunkedArray) -> Cell:
    """A column that is known: as numbers, if it holds such, or as what can only be told from others."""
    if is_number(column.type) or pa.types.is_boolean(column.type):
        number = column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column
        return certain(floats(number), whole=bool(pa.types.is_integer(column.type)))
    missing = np.asarray(column.is_null().to_numpy(), np.bool_)
    found = opaque(np.ones(len(column), np.bool_))
    low, high = (np.where(missing, np.nan, end) for end in (found.low, found.high))
    return replace(found, absent=missing, low=low, high=high)


def same(one: pa.ChunkedArray, other: pa.ChunkedArray) -> Flags:
    """Where two columns hold the same, a missing value nowhere."""
    return np.asarray(pc.equal(one, other).fill_null(False).to_numpy(), np.bool_)
