"""Whether executors have what groups are formed by: the same `discreet`, and what that rests on, as this process.

Functions that executors run are sent to them, but for what they import. A kernel of another version could draw
otherwise than its neighbour, and a task that is run again elsewhere would not make the same block. And they must see
the private folder: Spark makes what is not there, and rows would be left on a disk that nobody here looks at.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.engines.spark.errors import translating
from discreet.engines.spark.tasks import NEEDED, SAME, SHARED
from discreet.errors import EngineError

TASKS = 4  # enough to meet some executors; every task that makes anything asks its own (`tasks.py`)
FOLDER, SEEN = "the private folder", "is seen"


def check_workers(session: Any, folder: Path, needed: tuple[str, ...] = NEEDED) -> None:
    """Raise if an executor lacks a package, or has another version of it, or does not see a folder."""
    place = str(folder)
    here = {name: version(name) for name in needed} | {"Python": _python(), FOLDER: SEEN}

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from importlib import metadata  # nothing of this module, which an executor may lack

        for _ in batches:
            found = {"Python": ".".join(map(str, sys.version_info[:2]))}
            for name in needed:
                try:
                    found[name] = metadata.version(name)
                except metadata.PackageNotFoundError:
                    found[name] = ""
            try:
                Path(place).stat()  # what they may not open is told as such
                found[FOLDER] = SEEN
            except FileNotFoundError:
                found[FOLDER] = ""
            yield pa.record_batch({"name": list(found), "version": list(found.values())})

    with translating():
        rows = session.range(0, TASKS, 1, TASKS).mapInArrow(look, "name string, version string").toArrow()
    for name, there in sorted({*zip(rows["name"].to_pylist(), rows["version"].to_pylist(), strict=True)}):
        if there == here[name]:
            continue
        if name == FOLDER:
            raise EngineError(f"the executors of Spark do not see the folder `{folder.parent}`", hint=SHARED)
        what = f"have no `{name}`" if not there else f"have `{name}` {there}, and this process {here[name]}"
        raise EngineError(f"the executors of Spark {what}", hint=SAME)


def _python() -> str:
    return ".".join(map(str, sys.version_info[:2]))
