"""Chance that a task which is run again draws again: words of SHAKE-256 under a key that is drawn once and thrown away.

A lost executor's tasks are run anew, and slow ones twice. If each drew chance of its own, rows would be in two groups
or in none, or a value would be shown in two draws. So chance follows from a key of 256 bits, from what it is for,
and from which row or cell it is of. The key travels inside functions that executors run, as bytes of a closure:
plans, `EXPLAIN` and Spark's event log show such a function by its name alone.
Claim: draws_are_repeated — the same key, purpose and number give the same words, and others independent ones.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from discreet.values.random import RandomSource


def words(key: bytes, purpose: str, number: int, n: int) -> npt.NDArray[np.uint64]:
    """The first `n` words of a purpose and a number."""
    told = purpose.encode()
    state = hashlib.shake_256(key + len(told).to_bytes(4, "big") + told + number.to_bytes(8, "big"))
    return np.frombuffer(state.digest(8 * n), np.dtype("<u8")).astype(np.uint64)


class Drawn(RandomSource):
    """A source of words for one purpose and number; each call goes on where the last ended."""

    def __init__(self, key: bytes, purpose: str, number: int = 0) -> None:
        super().__init__()
        self._key, self._purpose, self._number, self._calls = key, purpose, number, 0

    def words(self, n: int) -> npt.NDArray[np.uint64]:
        self._calls += 1
        return words(self._key, f"{self._purpose} {self._calls}", self._number, n)

    def branch(self) -> Drawn:
        self._calls += 1
        return Drawn(self._key, f"{self._purpose} {self._calls} branch", self._number)
