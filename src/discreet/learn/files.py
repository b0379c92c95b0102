"""Plausible tables as files of their own, all of them or none."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from discreet.learn.plausible import Plausible
from discreet.release.rows import store_rows
from discreet.release.write import hidden, reveal, settle


def save(tables: Plausible, to: str | Path, *, format: Literal["parquet", "csv"] = "parquet") -> list[Path]:
    """Write one file per table into the folder `to`, which must not exist; killed at any moment, it does not.

    Rows lie as in the tables, in the order of what they show.
    """
    folder = Path(to)
    names = [f"table_{number:0{len(str(len(tables)))}}.{format}" for number in range(1, len(tables) + 1)]
    with hidden(folder) as place:
        for name, table in zip(names, tables, strict=True):
            store_rows(table, place / name)
        settle(place)
        reveal(place, folder)
    return [folder / name for name in names]
