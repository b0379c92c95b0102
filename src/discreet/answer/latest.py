"""What was computed for the latest questions, for the next one that needs it again."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Latest(dict[K, V]):
    """A dictionary that holds so many entries at most: of more, those that were put in last."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key, None)
        while len(self) >= self._most:
            self.pop(next(iter(self)))
        super().__setitem__(key, value)
