"""Where chance comes from: the operating system's generator, or a seed that makes a release unfit for publication."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from discreet.errors import InputError


class RandomSource:
    """A source of 64-bit random words.

    Without a seed every word comes from the operating system's cryptographic generator and
    nothing is kept. A seed is for tests and reproductions only.
    """

    def __init__(self, seed: int | None = None) -> None:
        if seed is not None and (not isinstance(seed, int) or seed < 0):
            raise InputError(f"a seed is a whole number from 0, got {seed!r}", hint="leave it out to publish for real")
        self._generator = None if seed is None else np.random.default_rng(seed)

    @property
    def seeded(self) -> bool:
        return self._generator is not None

    def words(self, n: int) -> npt.NDArray[np.uint64]:
        """`n` independent uniform 64-bit words."""
        if self._generator is None:
            return np.frombuffer(os.urandom(8 * n), dtype=np.uint64)
        return self._generator.integers(0, 2**64, n, dtype=np.uint64)

    def branch(self) -> RandomSource:
        """Another source, for work that goes on at the same time: what it draws does not depend on when."""
        return self if self._generator is None else RandomSource(int(self.words(1)[0]))
