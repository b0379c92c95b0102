"""A table of the user's own, as a question joins it: told apart by its content, one row for each key."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import QueryError
from discreet.words import nearest


@dataclass(frozen=True, eq=False)
class Own:
    """A table of the user's own; `relation` is its name in the engine, the same for the same content only."""

    name: str
    table: pa.Table

    @cached_property
    def relation(self) -> str:
        found = hashlib.sha256()
        plain = self.table.replace_schema_metadata(None)
        with pa.ipc.new_stream(_Into(found), plain.schema) as stream:
            stream.write_table(plain)
        return f"own {found.hexdigest()[:32]}"

    @cached_property
    def columns(self) -> dict[str, int]:
        """The place of each column, by its name in small letters."""
        found = {name.lower(): at for at, name in enumerate(self.table.column_names)}
        if len(found) < self.table.num_columns:
            raise QueryError(f"two columns of `{self.name}` have the same name", hint="capitals make no difference")
        return found

    def place(self, name: str) -> int:
        """The place of a column, which must be there."""
        if name.lower() not in self.columns:
            hint = nearest(name, self.table.column_names)
            raise QueryError(f"`{self.name}` has no column `{name}`", hint=hint)
        return self.columns[name.lower()]

    def kind(self, at: int) -> str:
        """Whether the values of a column are text or numbers, if either."""
        type_ = self.table.schema.field(at).type
        plain = type_.value_type if pa.types.is_dictionary(type_) else type_
        if pa.types.is_string(plain) or pa.types.is_large_string(plain):
            return "text"
        return "numbers" if pa.types.is_integer(plain) or pa.types.is_floating(plain) else ""

    def loaded(self) -> pa.Table:
        """The table as the engine has it: under names that no column of a release has, and a column that is true."""
        plain = [_plain(column) for column in self.table.columns]
        names = [self.called(at) for at in range(len(plain))]
        return pa.table([*plain, pa.array([True] * len(self.table), pa.bool_())], names=[*names, self.called(None)])

    def called(self, at: int | None) -> str:
        """The name of a column in the engine, or of the one that is true."""
        return f"{self.relation} {'there' if at is None else at}"

    def check_unique(self, keys: list[int]) -> None:
        """Raise if a key has several rows."""
        some = self.table.select(keys).drop_null()
        names = [f"k{at}" for at in keys]
        some = pa.table([_plain(column) for column in some.columns], names=names)
        counts = some.group_by(names).aggregate([([], "count_all")])
        most = pc.max(counts["count_all"]).as_py() or 0
        if most > 1:
            [row] = counts.filter(pc.equal(counts["count_all"], most)).slice(0, 1).select(names).to_pylist()
            called = ", ".join(f"`{self.table.column_names[at]}`" for at in keys)
            shown = ", ".join(str(value) for value in row.values())
            raise QueryError(
                f"in `{self.name}`, {called} has several rows for one value ({shown}: {most}); joined with it, people"
                " would be counted several times",
                hint=f"keep one row for each {called}, or join on more columns",
            )


class _Into:
    """What is written, digested."""

    closed = False

    def __init__(self, digest: object) -> None:
        self._update = digest.update  # type: ignore[attr-defined]

    def write(self, data: object) -> int:
        self._update(data)
        return len(data)  # type: ignore[arg-type]


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without codes for its values."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
