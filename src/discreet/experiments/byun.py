"""Figures 8 to 11 of Byun et al., "Secure Anonymization for Incremental Datasets", SDM 2006, section 5.

Adult grows from 10,000 to 30,000 rows in 21 releases, with education as the sensitive column. Static I groups all rows
anew each time, Static II the new ones alone; *Dynamic* is a vault, whose groups grow in either of its ways. The static
ways group rows as each of `comparison.static.Cuts` says, because the paper's sentence on its cuts can be read in
several ways. Vulnerable are the rows that those who hold two releases can tell more of than is promised, as the paper
counts them; `by_chains` are those of all releases so far together, which must be none for a vault.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa

import discreet
from discreet.comparison.static import Cuts, static_all, static_new
from discreet.errors import InputError
from discreet.experiments.data import ADULT, Data
from discreet.experiments.experiment import NOISE, Chart, Claim, Experiment, Row, Rows, Settings, back, steady
from discreet.release import Release

PAPER = "Byun et al., Secure Anonymization for Incremental Datasets, SDM 2006, section 5"
SENSITIVE = "education"
QUASI = ("age", *(name for name in ADULT if name != SENSITIVE))
CUTS = get_args(Cuts)
STATIC = {
    f"{name} ({cuts})": (act, cuts)
    for name, act in (("Static I", static_all), ("Static II", static_new))
    for cuts in CUTS
}
FEW = 300  # rows of each lot of a warm-up
ACCEPT = {"looks": "to compare with a paper", "insert": "to compare with a paper"}
SIZE, L, SHARE = 30_000, 7, 0.083  # where the paper says how many rows are vulnerable, and how many
Made = Iterator[tuple[Release, int, float]]  # a release, the rows that wait, the seconds it took


def cells(settings: Settings) -> list[Row]:
    ways = [*STATIC, *(f"Dynamic ({growth})" for growth in settings["growth"])]
    return [
        {"l": l, "method": way}
        for l in settings["l"]
        for way in ways
        if settings["ways"] == ["all"] or way in settings["ways"]
    ]


def published(tables: Sequence[pa.Table], way: str, l: int, to: Path) -> Made:
    """The releases of one way, with what each took by the processor."""
    policy = partial(
        discreet.Policy,
        quasi=QUASI,
        sensitive=SENSITIVE,
        guarantee={"distinct_l": l},
        publication="generalization",
        accept=ACCEPT,
    )
    if way in STATIC:
        act, cuts = STATIC[way]
        start = time.process_time()
        for release in act(tables, policy(options={"cuts": "fitted"}), to, cuts=cuts):
            yield release, 0, (time.process_time() - start) / len(tables)
        return
    growth = way.removeprefix("Dynamic (").removesuffix(")")
    with discreet.Vault.create(to / "vault", policy(options={"growth": growth})) as kept:
        for number, rows in enumerate(tables):
            start = time.process_time()
            waiting = kept.append(rows).waiting
            release = kept.release(to / f"{number:03}")
            yield release, waiting, time.process_time() - start


def grown(cell: Row, settings: Settings, data: Data) -> Iterator[Row]:
    """All that figures 8 to 10 show of one way."""
    found = _grown(data, settings["first"], settings["step"], settings["increments"], cell["method"], cell["l"])
    yield from map(dict, found)


@lru_cache(maxsize=64)  # three figures show the same releases
def _grown(data: Data, first: int, step: int, times: int, method: str, l: int) -> list[Row]:
    tables = _lots(data, first, step, times)
    _warm(tables, method)
    with tempfile.TemporaryDirectory() as folder:
        made = [*published(tables, method, l, Path(folder))]
        audited: Any = discreet.audit([release for release, _, _ in made]).releases
        rows = []
        for number, (release, waiting, seconds) in enumerate(made):
            shown = release.promise
            row = _row(l, method, first + step * number)
            row |= {"published": shown.rows, "groups": shown.groups, "waiting": waiting, "seconds": seconds}
            row |= {"il": discreet.metrics(release).il, "vulnerable": audited[number].by_pairs / shown.rows}
            rows.append(row | {"by_chains": audited[number].vulnerable / shown.rows})
            release.close()
    return rows


def _warm(tables: Sequence[pa.Table], method: str) -> None:
    """Publish a few rows in the same way, so that no time includes compiling or loading what is compiled."""
    with tempfile.TemporaryDirectory() as folder:
        for release, _, _ in published([table.slice(0, FEW) for table in tables[:3]], method, 2, Path(folder)):
            release.close()


def timed(cell: Row, settings: Settings, data: Data) -> Iterator[Row]:
    """The time of every release; by a static way, each is made by itself."""
    if cell["method"] not in STATIC:
        yield from grown(cell, settings, data)
        return
    tables = _lots(data, settings["first"], settings["step"], settings["increments"])
    _warm(tables, cell["method"])
    with tempfile.TemporaryDirectory() as folder:
        for number in range(len(tables)):
            so_far = tables[: number + 1]
            new = [pa.concat_tables(so_far)] if cell["method"].startswith("Static I (") else so_far[-1:]
            [(release, _, seconds)] = published(new, cell["method"], cell["l"], Path(folder) / str(number))
            release.close()
            yield _row(cell["l"], cell["method"], sum(map(len, so_far))) | {"seconds": seconds}


def _lots(data: Data, first: int, step: int, times: int) -> list[pa.Table]:
    wanted = first + step * times
    table = data.adult(wanted).select([*QUASI, SENSITIVE])
    if len(table) < wanted:
        raise InputError(
            f"the real table has {len(table):,} complete rows, and {wanted:,} are published",
            hint=f"set fewer, like --set first={len(table) // 2} --set step={max(1, len(table) // 2 // max(times, 1))}",
        )
    return [table.slice(0, first), *(table.slice(first + step * i, step) for i in range(times))]


def _row(l: int, method: str, rows: int) -> Row:
    return {"panel": f"l = {l}", "n": rows, "method": method}


def _found(rows: Rows, y: str, name: str) -> dict[str, float]:
    """The last figure of every way whose name begins so, in every panel."""
    last: dict[str, tuple[int, float]] = {}
    for row in rows.all:
        if row["method"].startswith(name) and row.get(y) is not None:
            key = f"{row['method']}, {row['panel']}"
            last[key] = max(last.get(key, (0, 0.0)), (row["n"], row[y]))
    return {key: value for key, (_, value) in last.items()}


def _told(found: dict[str, float], form: str) -> str:
    return "; ".join(f"{key}: {value:{form}}" for key, value in found.items())


def _vulnerable(rows: Rows) -> tuple[bool, str]:
    found = _found(rows, "vulnerable", "Static I (")
    return max(found.values()) > 0, _told(found, ".1%")


def _share(rows: Rows) -> tuple[bool, str]:
    """Whether any reading comes near the paper's share, where the paper measures it."""
    at = {
        row["method"]: row["vulnerable"]
        for row in rows.all
        if row["n"] == SIZE and row["panel"] == f"l = {L}" and row["method"].startswith("Static I (")
    }
    nearest = min(at.values(), key=lambda share: abs(share - SHARE))
    return abs(nearest - SHARE) <= SHARE / 4, _told(at, ".1%")


def _none(rows: Rows) -> tuple[bool, str]:
    found = _found(rows, "by_chains", "Static II") | _found(rows, "by_chains", "Dynamic")
    return max(found.values()) == 0, _told(found, ".1%")


def _growing(rows: Rows) -> tuple[bool, str]:
    lines = [
        sorted(line)
        for way in STATIC
        if way.startswith("Static I (")
        for line in rows.series("vulnerable", way).values()
    ]
    ends = [(line[1][1], line[-1][1]) for line in lines]
    told = "; ".join(f"{a:.1%} → {b:.1%}" for a, b in ends)
    share, most = max(back(line[1:], up=True) for line in lines)
    steps = f"; but back by {share:.0%} on the way (n = {most:,})" if share > NOISE else ""
    return all(a < b for a, b in ends) and not steps, told + steps


def _between(rows: Rows) -> tuple[bool, str]:
    """At the end, the vault's own way loses more than Static I and less than Static II, by the same cuts."""
    one, two, own = (
        _found(rows, "il", name) for name in ("Static I (least_loss)", "Static II (least_loss)", "Dynamic (settle)")
    )
    found = zip(one.values(), own.values(), two.values(), strict=True)
    return all(a <= b <= c for a, b, c in found), _told(one | own | two, ".3f")


def _inserted(rows: Rows) -> tuple[bool, str]:
    own, two = _found(rows, "il", "Dynamic (insert)"), _found(rows, "il", "Static II (policy)")
    return all(a < b for a, b in zip(own.values(), two.values(), strict=True)), _told(own | two, ".3f")


def _few_wait(rows: Rows) -> tuple[bool, str]:
    found = _found(rows, "waiting", "Dynamic")
    most = max(row["n"] for row in rows.all)
    return all(value < 0.02 * most for value in found.values()), f"of {most:,} rows: " + _told(found, ",.0f")


def _constant(rows: Rows) -> tuple[bool, str]:
    judges = [
        steady("seconds", way, 3)(Rows([row for row in rows.all if row["n"] > rows.all[0]["n"]], rows.chart))
        for way in dict.fromkeys(row["method"] for row in rows.all)
        if way.startswith(("Static II", "Dynamic"))
    ]
    return all(holds for holds, _ in judges), "; ".join(told for _, told in judges)


def _static_grows(rows: Rows) -> tuple[bool, str]:
    found = [
        sorted(line) for way in STATIC if way.startswith("Static I (") for line in rows.series("seconds", way).values()
    ]
    ratios = [line[-1][1] / line[0][1] for line in found]
    share, most = max(back(line, up=True) for line in found)
    steps = f"; but back by {share:.0%} on the way (n = {most:,})" if share > NOISE else ""
    return min(ratios) > 1.3 and not steps, f"last / first: {min(ratios):.2f} to {max(ratios):.2f}{steps}"


COMMON = {
    "l": [5, 7],
    "first": 10_000,
    "step": 1_000,
    "increments": 20,
    "growth": ["settle", "insert"],
    "ways": ["all"],
}
SCALES = {
    "quick": {"l": [3], "first": 800, "step": 300, "increments": 2},
    "medium": {"l": [5], "step": 4_000, "increments": 5},
}
WORDS = {"ways": ["all", *STATIC, "Dynamic (settle)", "Dynamic (insert)"]}
ROWS = "rows so far"
LISTS = (
    "by insertion rows wait on a list of their group until they are diverse by themselves. The paper does not say how "
    "many groups it has; likely they are fewer than here, where the first release has as many as can be made. By "
    "`settle` hardly anybody waits"
)
FIXED = (  # measured on Adult with l = 5, each of the three ways to cut
    "only forming groups follows the rows: 0.02 to 0.06 seconds for 10,000 and 0.06 to 0.15 for 30,000. Writing and "
    "verifying a release takes 0.2 to 0.3 seconds for either, and takes 0.15 or more for 1,000 rows"
)
FLAT = (
    "by the cuts of a policy and by least loss it rises, but for steps back of less than a hundredth of the rows. By "
    "the median of one column it stays between 10 and 14 % from 13,000 rows on, and with l = 7 falls from 13.1 to 11.6 "
    "% on the way, while releases have hardly more groups than the one before, or fewer"
)
READING = "the share depends on how “the median of a selected dimension” is read: large groups have few vulnerable rows"


def figure(number: int, title: str, chart: Chart, *claims: Claim, remarks: Sequence[str] = ()) -> Experiment:
    measure = timed if chart.y == "seconds" else grown
    alike = [f"byun-{other}" for other in (8, 9, 10) if other != number] if measure is grown else []
    return Experiment(
        f"byun-{number}",
        PAPER,
        title,
        COMMON,
        cells,
        measure,
        chart,
        claims,
        ("Adult",),
        SCALES,
        remarks,
        words=WORDS,
        alike=alike,
    )


EXPERIMENTS = (
    figure(
        8,
        "rows that several releases give away",
        Chart("n", "vulnerable", "panel", x_label=ROWS, y_label="vulnerable rows", share=True),
        Claim("Static I gives people away", _vulnerable),
        Claim("these are 8.3 % of the rows at 30,000 rows and l = 7", _share, READING),
        Claim("the more rows, the more are vulnerable", _growing, FLAT),
        Claim("Static II and Dynamic give nobody away", _none),
        remarks=(f"{READING[0].upper()}{READING[1:]}.",),
    ),
    figure(
        9,
        "information loss of the average row",
        Chart("n", "il", "panel", x_label=ROWS, y_label="IL of the average row"),
        Claim("Dynamic loses more than Static I, and less than Static II", _between),
        Claim("so does Dynamic as the paper has it, by insertion", _inserted),
    ),
    figure(
        10,
        "rows that wait",
        Chart("n", "waiting", "panel", x_label=ROWS, y_label="rows withheld so far", only="Dynamic"),
        Claim("few rows wait (421 of 30,000 at l = 5)", _few_wait, LISTS),
    ),
    figure(
        11,
        "time of a release",
        Chart("n", "seconds", "panel", x_label=ROWS, y_label="seconds (processor)"),
        Claim("the time of Static I grows with the rows", _static_grows, FIXED),
        Claim(
            "that of Static II and Dynamic is nearly constant",
            _constant,
            "a release shows all rows so far, and all of them are written and verified each time",
        ),
    ),
)
