"""Publishing on Spark beside Spark itself: a standalone master and two workers on this machine.

    python bench/spark.py times [ROWS ...]      deal (at most 4 times) and local (at most 8 times) beside Spark's own
                                                shuffle-and-write of the same table; seconds of every stage, and the
                                                most memory that this process, its Java and the executors have taken
    python bench/spark.py error [ROWS]          error of the standard workload beside DuckDB's local (at most 15% worse)
    python bench/spark.py kills [ROWS] [KILLS]  workers killed at random moments of a release: it is whole or not there,
                                                and what a task wrote before it was run again is what it wrote then
    python bench/spark.py constants             what tasks take, in seconds of CPU and in memory, without Spark

`error` cuts its rows into sixteen cells at least, however few they are. Rows are those of `bench/data.py`: eight
columns. Executors have 2 GB each.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import threading
import time
from contextlib import suppress
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Self

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "spark"))

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from cluster import Cluster
from data import QUASI, SENSITIVE, table
from discreet.audit.utility.answered import answers
from discreet.comparison.workload import workload
from discreet.errors import DiscreetError
from discreet.partition import cells
from measure import verdict
from spark_tasks import constants

QUESTIONS = 400
LIMITS = {"deal": 4, "local": 8}
MEMORY = "2g"
AS_IT_COMES = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.adaptive.enabled": "true",
}  # and not as for tests, which are short
HELD = ("this process (Python)", "its Java (the driver)", "a worker with all its executors (Java and Python)")
PARTS = 8  # files that the rows lie in
WRITTEN = ("blocks/[!.]*.parquet", "shuffled/[!.]*.arrow", "[!.]*.parquet")  # by tasks that may be run again


def policy(partition: str) -> dict[str, object]:
    return {"quasi": list(QUASI), "sensitive": SENSITIVE, "guarantee": {"l": 10}, "partition": partition}


def lake(rows: int, place: Path) -> str:
    """The rows as several files of a folder, written by another process: what this one holds is measured."""
    folder = place / f"rows-{rows}"
    folder.mkdir()
    writing = get_context("spawn").Process(target=_written, args=(rows, folder))
    writing.start()
    writing.join()
    if writing.exitcode:
        raise SystemExit("the rows could not be written")
    return f"{folder}/*.parquet"


def _written(rows: int, folder: Path) -> None:
    with pq.ParquetFile(table(rows)) as file:
        for i, batch in enumerate(file.iter_batches(batch_size=-(-rows // PARTS))):
            pq.write_table(pa.Table.from_batches([batch]), folder / f"{i}.parquet")


class Memory:
    """The most bytes held while they are watched: by this process, its Java, and all of one worker's executors.

    An executor is its Java with the Python processes below, which do the work: these are added up.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.most, self.done = cluster, dict.fromkeys(HELD, 0), threading.Event()

    def __enter__(self) -> Self:
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()

    def _watch(self) -> None:
        own = os.getpid()
        while not self.done.wait(0.2):
            workers = {worker.pid for worker in self.cluster.workers}  # some may have been replaced
            parents, held = _processes()
            java = [each for each in _below(own, parents) if each not in workers and each != self.cluster.master.pid]
            below = (sum(held.get(each, 0) for each in _all_below(worker, parents)) for worker in workers)
            driver = max((held.get(each, 0) for each in java), default=0)
            for name, found in zip(HELD, (held.get(own, 0), driver, max(below, default=0)), strict=True):
                self.most[name] = max(self.most[name], found)

    def __str__(self) -> str:
        return "; ".join(f"{name} {held / 1e6:,.0f} MB" for name, held in self.most.items())


def _below(process: int, parents: dict[int, int]) -> list[int]:
    return [each for each, parent in parents.items() if parent == process]


def _all_below(process: int, parents: dict[int, int]) -> list[int]:
    """What a process has started, and what that has started, and so on."""
    own = _below(process, parents)
    return [*own, *(further for each in own for further in _all_below(each, parents))]


def _processes() -> tuple[dict[int, int], dict[int, int]]:
    """The parent and the memory of every process."""
    parents, held = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            told = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
            parents[int(folder.name)] = int(told["PPid"])
            held[int(folder.name)] = int(told.get("VmRSS", "0 kB").split()[0]) * 1024
    return parents, held


def timed(act) -> tuple[float, object]:
    start = time.perf_counter()
    found = act()
    return time.perf_counter() - start, found


def times(place: Path, *sizes: int) -> None:
    cluster = Cluster(memory=MEMORY, java="", settings={"spark.sql.shuffle.partitions": "16", **AS_IT_COMES})
    try:
        session = cluster.start().session()
        warm = lake(20_000, place)
        for partition in LIMITS:
            discreet.publish(warm, policy(partition), to=place / f"warm-{partition}", engine=session)
        for rows in sizes:
            source = lake(rows, place)
            frame = session.read.parquet(source)
            alone = lambda: frame.repartition(16, "age", "country").write.parquet(f"file://{place}/shuffled-{rows}")  # noqa: B023, E731
            own, _ = timed(alone)
            print(f"{rows:,} rows x {len(QUASI) + 1}: shuffled and written by Spark in {own:.1f} s")
            for partition, limit in LIMITS.items():
                stages: list[tuple[str, float]] = []
                note = lambda name: stages.append((name, time.perf_counter()))  # noqa: B023, E731
                to = place / f"{partition}-{rows}"
                with Memory(cluster) as memory:
                    took, release = timed(
                        lambda: discreet.publish(source, policy(partition), to=to, engine=session, progress=note)  # noqa: B023
                    )
                ends = [at for _, at in stages[1:]] + [time.perf_counter()]
                told = ", ".join(f"{name} {end - at:.1f}" for (name, at), end in zip(stages, ends, strict=True))
                print(f"  {partition}: {took:.1f} s, as Spark alone times {verdict(took / own, limit)}")
                print(f"    {release.promise.groups:,} groups; {told}")
                print(f"    most memory: {memory}", flush=True)
                shutil.rmtree(to)
    finally:
        cluster.stop()


def error(place: Path, rows: int = 300_000) -> None:
    cluster = Cluster(memory=MEMORY, java="", settings=AS_IT_COMES)
    try:
        session = cluster.start().session()
        found = {}
        cells.SIZE = min(cells.SIZE, rows // 16)  # so that there are several, as of a large table
        private = discreet.read(table(rows))
        rules = discreet.Policy(**policy("local"))
        asked = workload(private, rules, QUESTIONS, np.random.default_rng(1))
        for name, given in {"duckdb": table(rows), "spark": lake(rows, place)}.items():
            engine = session if name == "spark" else "duckdb"
            release = discreet.publish(given, rules, to=place / name, engine=engine)
            errors = [each.error for each in answers(release, asked, None).found if not each.exact]
            found[name] = float(np.mean(errors))
            told = f"mean error {found[name]:.4f}, median {np.median(errors):.4f}"
            print(f"{name}: {release.promise.groups:,} groups, {told}")
        ratio = found["spark"] / found["duckdb"]
        print(f"Spark's error is {ratio:.2f} times DuckDB's (at most 1.15) {verdict(ratio, 1.15)}")
    finally:
        cluster.stop()


class Attempts:
    """Everything that tasks of a release write on the way, kept: whoever is run again must write the same.

    Then two attempts together tell no more than one.
    """

    def __init__(self, place: Path) -> None:
        self.place, self.kept, self.done = place, Path(tempfile.mkdtemp(dir=place)), threading.Event()

    def __enter__(self) -> Self:
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.done.wait(0.01):
            for pattern in WRITTEN:
                for path in self.place.glob(f".*/work/{pattern}"):
                    with suppress(OSError):
                        known = f"{path.parent.name}-{path.name}"
                        (self.kept / f"{known}.{path.stat().st_ino}").hardlink_to(path)

    def compared(self) -> tuple[int, int]:
        """How many files were written, and how many of these again; raise if otherwise than before."""
        found: dict[str, set[bytes]] = {}
        files = list(self.kept.iterdir())
        for path in files:
            found.setdefault(path.stem, set()).add(sha256(path.read_bytes()).digest())
        shutil.rmtree(self.kept)
        if any(len(each) > 1 for each in found.values()):
            raise SystemExit("a task that was run again wrote something else")
        return len(files), len(files) - len(found)


def shown_of(rows: pa.Table) -> tuple[bytes, bytes]:
    """What a release by anatomy must show of rows: how often each combination of quasi-identifiers, and each value."""
    return _counted(rows, QUASI, None), _counted(rows, (SENSITIVE,), None)


def shown_in(release: discreet.Release) -> tuple[bytes, bytes]:
    """What it shows."""
    qit, st = (pa.concat_tables(map(pq.read_table, release.files(name))) for name in ("qit", "st"))
    return _counted(qit, QUASI, None), _counted(st, (SENSITIVE,), "count")


def _counted(rows: pa.Table, names: tuple[str, ...], times: str | None) -> bytes:
    """A digest of how often each combination of values occurs in all rows, or in rows that stand for several."""
    by = rows.group_by(list(names), use_threads=False)
    found = by.aggregate([([], "count_all")] if times is None else [(times, "sum")])
    columns = [found[name].to_numpy().astype(np.int64) for name in found.column_names]
    ordered = np.stack(columns)[:, np.lexsort([columns[found.column_names.index(name)] for name in names])]
    by_name = [found.column_names.index(name) for name in names]
    counts = [i for i in range(len(columns)) if i not in by_name]
    return sha256(ordered[[*by_name, *counts]].tobytes()).digest()


def kills(place: Path, rows: int = 300_000, number: int = 20) -> None:
    """One worker with its executors is killed at a random moment of a release, and replaced, until so many were.

    Moments are drawn from how long a release by that partition takes once all is warm; a worker that would be killed
    after the end of its release is not, and does not count.
    """
    cluster = Cluster(memory=MEMORY, java="", settings=AS_IT_COMES)
    try:
        session = cluster.start().session()
        source, whole, failed, again, killed, turn = lake(rows, place), 0, 0, 0, 0, 0
        expected = shown_of(pq.read_table(table(rows)))
        usual = {}
        for partition in LIMITS:
            for name in ("cold", "warm"):  # the second time counts
                publish = lambda: discreet.publish(source, policy(partition), to=place / f"{name}-{partition}", engine=session)  # noqa: B023, E501, E731 # fmt: skip
                usual[partition], _ = timed(publish)
        while killed < number:
            turn += 1
            i = turn - 1
            partition, to = tuple(LIMITS)[i % 2], place / f"kill-{i}"
            after = random.uniform(0.05, 0.95) * usual[partition]  # noqa: S311 - when to kill
            timer = threading.Timer(after, cluster.kill_worker, [i % 2])
            timer.start()
            attempts, in_time = Attempts(place), False
            try:
                with attempts:
                    try:
                        release = discreet.publish(source, policy(partition), to=to, engine=session)
                    finally:
                        in_time = not timer.is_alive()
                        timer.cancel()
            except DiscreetError as caught:
                failed += 1
                print(f"  {i + 1}: {partition}, killed after {after:.1f} s: failed, {caught.message}")
                if to.exists() or list(place.glob(f".{to.name}*")):
                    raise SystemExit("a release that failed has left files") from None
            else:
                whole += in_time
                if not release.verify().ok or shown_in(release) != expected:
                    raise SystemExit("a release is not whole")
                told = "killed" if in_time else "ended before it was to be killed,"
                print(f"  {i + 1}: {partition}, {told} after {after:.1f} s: whole")
                shutil.rmtree(to)
            killed += in_time
            again += attempts.compared()[1]
            timer.join()
            cluster.mend()
        print(f"{number} kills: {whole} releases whole, {failed} failed and left nothing")
        print(f"{again} files on the way were written again by other tasks, each as before")
    finally:
        cluster.stop()


def main() -> None:
    act, *numbers = sys.argv[1:] or ["times"]
    place = Path(tempfile.mkdtemp(prefix="discreet-bench-spark-"))
    try:
        given = [int(each.replace("_", "")) for each in numbers]
        {
            "times": lambda: times(place, *(given or [300_000])),
            "error": lambda: error(place, *given),
            "kills": lambda: kills(place, *given),
            "constants": lambda: constants(place),
        }[act]()
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
