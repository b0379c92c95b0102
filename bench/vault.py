"""Append 1,000 rows to a vault of 10,000, and to one of a million: the second may take three times as long.

The cost of an append must grow with its rows and the groups they touch, not with the vault. It is measured one append
after the other, where groups that were not released yet are made anew, and with a release before each, where none are.
Beside it stands what an append and a release cost the processor, held against what the new rows alone would cost, in a
vault that has no others: twice as much is allowed.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa

import discreet
from discreet.table.people import people
from measure import verdict

SMALL, INCREMENT, TIMES, LIMIT, TWICE = 10_000, 1_000, 5, 3, 2
POLICY = discreet.Policy(
    identifiers=["name"],
    quasi=["age", "sex", "zipcode", "education", "marital_status", "country"],
    sensitive="diagnosis",
    drop=["salary"],
    publication="generalization",
    guarantee={"l": 5},
    accept={"looks": "these people are invented"},
)


def main(rows: int) -> None:
    everybody = people(rows + 2 * (TIMES + 1) * INCREMENT, seed=11)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        growing = [Growing(everybody, size, Path(folder)) for size in (SMALL, rows)]
        for vault in growing:
            stack.enter_context(vault.vault)
        for released in (False, True):
            for vault in growing:
                vault.taken.clear()
            for _ in range(TIMES + 1):  # the first is a warm-up; by turns, so that both meet the same machine
                for vault in growing:
                    if released:
                        vault.release()
                    vault.append()
            print(f"\n{INCREMENT:,} rows more, {'after a release each' if released else 'no release between'}")
            for vault in growing:
                vault.tell()
            small, large = (vault.seconds for vault in growing)
            print(f"{'the larger one':>15}  {verdict(large / small, LIMIT)}")
        print(f"\nCPU seconds of {INCREMENT:,} new rows, medians of {TIMES}")
        alone = [Growing(everybody, INCREMENT, Path(folder) / f"{turn}", quiet=True) for turn in range(TIMES)]
        append, release = (statistics.median(cost[i] for cost in [of.first for of in alone]) for i in range(2))
        print(f"{'alone':>15}  append {append:6.2f}, release {release:6.2f}")
        for vault in growing:
            more = statistics.median(vault.appended[1:]), statistics.median(vault.released[1:])
            print(f"{vault.size:>10,} rows  append {more[0]:6.2f}, release {more[1]:6.2f}; beside alone", end=" ")
            print(verdict(more[0] / append, TWICE), verdict(more[1] / release, TWICE))
        for vault in alone:
            vault.vault.close()


class Growing:
    """A vault of so many rows that has been released, and the rows that will come."""

    def __init__(self, everybody: pa.Table, size: int, folder: Path, *, quiet: bool = False) -> None:
        self.everybody, self.size, self.folder = everybody, size, folder
        self.vault = discreet.Vault.create(folder / f"vault of {size}", POLICY)
        self.rows, self.taken, self.releases = 0, list[float](), 0
        self.appended, self.released = list[float](), list[float]()  # seconds of the processor
        self.append(size)
        self.release()
        self.first = self.appended.pop(), self.released.pop()
        if not quiet:
            print(f"{size:>10,} rows  CPU: taken in in {self.first[0]:.1f} s, released in {self.first[1]:.1f} s")

    def append(self, rows: int = INCREMENT) -> None:
        more = self.everybody.slice(self.rows, rows)
        start, processor = time.perf_counter(), time.process_time()
        self.vault.append(more)
        self.taken.append(time.perf_counter() - start)
        self.appended.append(time.process_time() - processor)
        self.rows += rows

    def release(self) -> None:
        start = time.process_time()
        self.vault.release(self.folder / f"{self.size}-{self.releases}")
        self.released.append(time.process_time() - start)
        self.releases += 1

    @property
    def seconds(self) -> float:
        return statistics.median(self.taken[1:])

    def tell(self) -> None:
        waiting = self.vault.status().waiting.rows
        print(f"{self.size:>10,} rows  {self.seconds * 1e3:6.0f} ms, median of {TIMES}; {waiting:,} rows wait")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
