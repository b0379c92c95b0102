"""Put discreet beside its peers: the same table, the same k and l, judged from the files that each of them wrote.

    python bench/peers/compare.py [rows] [few]

Each works in a process of its own, from a file to a file, in turn: CPU seconds, the most memory it took, and NCP by
one function (`loss.py`), which also counts k and l. Of `few` rows pycanon counts them again, and anonypy joins in,
which takes minutes for more. If a release of discreet has less than was promised, or pycanon counts anything else than
we do, that is told at the end, and the exit code is 1. What discreet takes includes all that `publish` does, verifying
too. Hierarchies are intervals whose length doubles. ARX joins in if $DISCREET_ARX names its jar or a checkout of its
source, and there is a Java compiler; its local recoding is asked for. l counts distinct values, as all of them
understand it. Cuts that look at values are named `fitted`; those of anonypy and ARX always do. At the most rows, CPU
and memory of `compact` are held against 8 seconds and 1 GB, and its NCP in trees, of one table and one guarantee,
against that of ARX, if it was run. The census-like table of issue 19 was another one (`mondrian` lost .0230 there, and
.0141 of ours): its figures, those of ARX among them, cannot be held against these.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from loss import Boxes, kept, kept_by_pycanon, ncp, read_discreet, read_labels
from people import FREQUENCIES, QUASI, SENSITIVE, people
from pyarrow import csv

HERE, K, L = Path(__file__).parent, 10, 10
SECONDS, GIGABYTES = 8, 1
sys.path.append(str(HERE.parent))
from measure import verdict  # noqa: E402 - it lies beside this folder

ANONYPY = """
import sys, pandas as pd
from anonypy import Preserver
path, out, k, l, sensitive = sys.argv[1:]
table = pd.read_csv(path)
quasi = [name for name in table.columns if name != sensitive]
by = Preserver(table, quasi, sensitive)
k, l = int(k), int(l)
rows = by.anonymize_l_diversity(k=k, l=l) if l > 1 else by.anonymize_k_anonymity(k=k)
found = pd.DataFrame(rows)
for name in quasi:
    found[name] = [cell[0] if isinstance(cell, list) else cell for cell in found[name]]
found.loc[found.index.repeat(found["count"])].drop(columns="count").to_csv(out, index=False)
"""


@dataclass(frozen=True)
class Ran:
    processor: float
    gigabytes: float
    boxes: Boxes
    sensitive: np.ndarray


def run(command: list[str], read: Callable[[], tuple[Boxes, np.ndarray]]) -> Ran:
    """Run a command to its end; what it cost, and what it wrote."""
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # noqa: S603
    told = started.stderr.read()
    _, status, used = os.wait4(started.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} failed:\n{told.decode()}")
    return Ran(used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20, *read())


def policy(folder: Path, partition: str, l: int, options: dict[str, str], *, trees: bool) -> Path:
    asked = {"k": K, **({"distinct_l": l} if l > 1 else {})}
    lines = [
        f"quasi = {json.dumps(QUASI)}",
        f'sensitive = "{SENSITIVE}"',
        'publication = "generalization"',
        f'partition = "{partition}"',
        f"guarantee = {{ {', '.join(f'{name} = {value}' for name, value in asked.items())} }}",
        f"options = {{ {', '.join(f'{name} = {json.dumps(value)}' for name, value in options.items())} }}",
    ]
    if options:
        lines += ["[accept]", 'looks = "a benchmark on made-up people"']
    if trees:
        lines += ["[hierarchies]", *(f"{name} = {{ intervals = {json.dumps(doubled(name))} }}" for name in QUASI)]
    path = folder / "policy.toml"
    path.write_text("\n".join(lines))
    return path


def doubled(name: str) -> list[int]:
    """Lengths of intervals, each twice the one before, up to half the column."""
    lengths = [2]
    while 2 * lengths[-1] < len(FREQUENCIES[name]):
        lengths.append(2 * lengths[-1])
    return lengths


def arx(folder: Path) -> list[str] | None:
    """The start of a command that runs ARX, compiled here; none if it was not given."""
    given, compiler = os.environ.get("DISCREET_ARX"), shutil.which("javac")
    if given is None or compiler is None:
        print("ARX is left out: set DISCREET_ARX to its jar or to a checkout of its source, and have javac at hand")
        return None
    place = Path(given).resolve()
    if not place.exists():
        raise SystemExit(f"DISCREET_ARX names `{given}`, which does not exist; expected the jar or a folder")
    path = str(place) if place.is_file() else f"{place / 'lib'}/*"
    source = [] if place.is_file() else ["-sourcepath", str(place / "src" / "main")]
    command = [compiler, "-nowarn", "-cp", path, *source, "-d", str(folder), str(HERE / "Arx.java")]
    subprocess.run(command, check=True)  # noqa: S603
    return ["java", "-Xmx4g", "-cp", f"{path}{os.pathsep}{folder}", "Arx"]


def hierarchies(folder: Path) -> Path:
    """The same intervals as level tables, which ARX reads."""
    folder.mkdir()
    for name in QUASI:
        size = len(FREQUENCIES[name])
        columns = {"0": [str(code) for code in range(size)]}
        for length in doubled(name):
            lows = [code // length * length for code in range(size)]
            columns[str(length)] = [f"{low}-{low + length - 1}" for low in lows]
        columns["all"] = ["*"] * size
        plain = csv.WriteOptions(include_header=False, quoting_style="none")
        csv.write_csv(pa.table(columns), folder / f"{name}.csv", plain)
    return folder


def compare(rows: int, few: int) -> list[str]:
    """Print one table; what is wrong with what was counted."""
    faults = list[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = people(rows)
        pq.write_table(table, folder / "people.parquet")
        csv.write_csv(table, folder / "people.csv", csv.WriteOptions(quoting_style="none"))
        domains = {q: (int(column.min()), int(column.max())) for q in QUASI if (column := table[q].to_numpy()).size}
        java, levels = arx(folder), hierarchies(folder / "levels")
        print(f"\n{rows:,} people, {len(QUASI)} quasi-identifiers")
        print(f"{'':34}{'k, l':>8}{'CPU s':>9}{'GB':>7}{'NCP':>9}{'k':>6}{'l':>5}  pycanon")
        for l in (1, L):
            ways = dict(by_discreet(folder, l))
            if rows <= few and find_spec("anonypy"):
                ways["anonypy, ranges"] = partial(by_labels, folder, [sys.executable, "-c", ANONYPY], [], l)
            if java:
                ways["ARX, trees"] = partial(by_labels, folder, java, [str(levels)], l)
            losses = {}
            for title, way in ways.items():
                ran = way()
                counted = kept(ran.boxes, ran.sensitive)
                by_others = kept_by_pycanon(ran.boxes, ran.sensitive) if rows <= few else None
                again = "" if by_others is None else " {}, {}".format(*by_others)
                faults += [f"{title}, l = {l}: {fault}" for fault in broken(title, l, counted, by_others)]
                lost = losses[title] = ncp(ran.boxes, domains, rows)
                asked = f"{K}, {l}" if l > 1 else f"{K}"
                costs = f"{ran.processor:9.1f}{ran.gigabytes:7.2f}{lost:9.4f}"
                print(f"{title:34}{asked:>8}{costs}{counted[0]:6}{counted[1]:5}  {again}", flush=True)
                if rows > few and "compact" in title:
                    told = f"CPU s {verdict(ran.processor, SECONDS)}, GB {verdict(ran.gigabytes, GIGABYTES)}"
                    print(f"{'':34}{told}", flush=True)
            beside_arx(losses)
    return faults


def broken(title: str, l: int, counted: tuple[int, int], by_others: tuple[int, int] | None) -> Iterator[str]:
    """What is wrong with the k and l of what was written, counted by us and, of few rows, by pycanon."""
    for who, found in (("we", counted), ("pycanon", by_others)):
        if found is not None and title.startswith("discreet") and (found[0] < K or found[1] < l):
            yield f"{who} count k = {found[0]} and l = {found[1]}, promised were {K} and {l}"
    if by_others is not None and counted != by_others:
        yield f"we count k = {counted[0]} and l = {counted[1]}, pycanon {by_others[0]} and {by_others[1]}"


def beside_arx(losses: dict[str, float]) -> None:
    """Whether trees by `compact` lose no more than ARX does with the same hierarchies."""
    mine = next(lost for title, lost in losses.items() if "compact, trees" in title)
    if "ARX, trees" in losses:
        print(f"  compact in trees, times the NCP of ARX {verdict(mine / losses['ARX, trees'], 1)}")
    else:
        print("  ARX was not run: whether trees by compact are as fine as its own is not measured")


def by_discreet(folder: Path, l: int) -> Iterator[tuple[str, Callable[[], Ran]]]:
    """Every way to ask discreet."""
    fitted = {"cuts": "fitted"} if l > 1 else {}
    for partition in ("mondrian", "compact"):
        for title, options, trees in (("ranges", fitted, False), ("trees", fitted, True), ("ranges, blind", {}, False)):
            if l > 1 or "blind" not in title:
                told = f"discreet {partition}, {title}{', fitted' if options else ''}"
                yield told, partial(published, folder, partition, l, options, trees=trees)


def published(folder: Path, partition: str, l: int, options: dict[str, str], *, trees: bool) -> Ran:
    to = folder / f"release-{time.monotonic_ns()}"
    asked = policy(folder, partition, l, options, trees=trees)
    command = [sys.executable, "-m", "discreet", "publish", str(folder / "people.parquet")]
    ran = run([*command, "--policy", str(asked), "--to", str(to)], lambda: read_discreet(to, QUASI, SENSITIVE))
    shutil.rmtree(to)
    return ran


def by_labels(folder: Path, command: list[str], given: list[str], l: int) -> Ran:
    """A peer that reads and writes CSV."""
    table, out = str(folder / "people.csv"), folder / "out.csv"
    asked = [*command, table, *given, str(out), str(K), str(l), SENSITIVE]
    return run(asked, lambda: read_labels(out, QUASI, SENSITIVE))


if __name__ == "__main__":
    most, small = (int(given) for given in (*sys.argv[1:], *("1000000", "10000")[len(sys.argv) - 1 :]))
    wrong = [fault for size in (small, most) for fault in compare(size, small)]
    if wrong:
        raise SystemExit("\n".join(["\nNOT AS PROMISED", *wrong]))
