"""What functions on executors need beside their rows, kept in a file of the private folder and read once by each.

A function travels with all that it refers to: a long plan would be sent with every task, and Spark would put whatever
is large into files of its own. So what may be long goes into one file here, and a function carries its path alone. The
key of a release is never in it: that is short, and travels in the function.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Held:
    """A thing in a file that every executor sees; its path was drawn, and is never used for another."""

    path: str

    @classmethod
    def put(cls, folder: Path, name: str, thing: Any) -> Held:
        path = folder / f"{name}.held"
        path.write_bytes(pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL))
        return cls(str(path))

    def get(self) -> Any:
        return _read(self.path)


@lru_cache(maxsize=4)
def _read(path: str) -> Any:
    return pickle.loads(Path(path).read_bytes())  # noqa: S301 - this very release has written it
