"""Run an experiment cell by cell, and write what it found: a table, a chart, and a text that says what holds.

Everything that is measured is kept in `NAME.json` as soon as it is there. A run that was interrupted, started again
with the same settings, goes on where it stopped. Each measurement is kept with the state of the code that made it.
"""

from __future__ import annotations

import csv
import hashlib
import json
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import discreet
from discreet.errors import DiscreetWarning, InputError
from discreet.experiments.chart import check, draw
from discreet.experiments.data import Data
from discreet.experiments.experiment import SCALES, Experiment, Row, Verdict, told
from discreet.experiments.given import given as read
from discreet.values.kernel import compiling
from discreet.words import nearest

APART = {"cli", "report", "postgres", "spark"}  # parts of discreet that no experiment runs
EARLIER = "Some of it was measured by another state of discreet's code; --again measures it anew."


@dataclass(frozen=True)
class Result:
    """What a run found, at what cost in seconds of processor time, and by which states of the code."""

    experiment: Experiment
    settings: Mapping[str, Any]
    source: str
    scale: str
    rows: tuple[Row, ...]
    verdicts: tuple[Verdict, ...]
    seconds: float
    codes: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"{self.experiment.name}: {self.experiment.title} ({self.source})"

    @property
    def earlier(self) -> bool:
        """Whether some of it was measured by another state of the code than the one that runs now."""
        return self.codes != (code(),)

    def text(self) -> str:
        """What the paper claims, what was measured, whether it holds, and if not, why."""
        lines = [self.title, "", f"Paper: {self.experiment.paper}", f"Scale: {self.scale}"]
        lines += [f"  {name} = {told(value)}" for name, value in self.settings.items()]
        for verdict in self.verdicts:
            lines += ["", f"Claim: {verdict.claim}", f"Measured: {verdict.measured}", f"Verdict: {said(verdict)}"]
            lines += [f"Why: {verdict.why}"] if verdict.why else []
        lines += ["", *self.experiment.remarks] if self.experiment.remarks else []
        lines += ["", EARLIER] if self.earlier else []
        return "\n".join([*lines, "", f"{self.seconds:,.0f} seconds of processor time"]) + "\n"


@cache
def code() -> str:
    """The version, and a digest of all code that experiments can run, so that results are not mixed unseen."""
    home, digest = Path(discreet.__file__).parent, hashlib.sha256()
    for path in sorted(home.rglob("*.py")):
        if not APART.intersection(path.relative_to(home).parts):
            digest.update(path.read_bytes())
    return f"{discreet.__version__} {digest.hexdigest()[:12]}"


def said(verdict: Verdict) -> str:
    return {True: "holds", False: "does not hold", None: "not judged"}[verdict.holds]


def run(
    experiment: Experiment,
    *,
    to: Path,
    scale: str = "quick",
    data: Path | None = None,
    given: Mapping[str, str] | None = None,
    again: bool = False,
    charts: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> Result:
    """Measure what is not there yet, judge, and write `NAME.csv`, `.svg`, `.png`, `.txt` and `.json` into `to`."""
    if scale not in SCALES:
        raise InputError(f"`{scale}` is not a scale", hint=nearest(scale, SCALES))
    source = Data(data)
    if data is not None and not data.is_dir():
        raise InputError(f"there is no folder `{data}`", hint="name the folder with the real tables, or leave it out")
    source.check(experiment.tables)
    if charts:
        check()
    settings = experiment.settings(scale, read(experiment, given or {}))
    shown = source.told(experiment.tables)
    about = {"version": discreet.__version__, "source": shown, "settings": settings}
    _make(to)
    done = _Kept(to / f"{experiment.name}.json", json.loads(json.dumps(about)), again=again)
    for name in () if again else experiment.alike:
        done.borrow(to / f"{name}.json")
    for cell in experiment.cells(settings):
        key = json.dumps(cell)
        progress(", ".join(f"{name} {told(value)}" for name, value in cell.items()))
        if key not in done.cells:
            start = time.process_time()
            with warnings.catch_warnings(), compiling():  # times must not depend on what ran before, nor on warm-ups
                warnings.simplefilter("ignore", DiscreetWarning)  # about tables that nobody publishes
                rows = [*experiment.measure(cell, settings, source)]
            done.add(key, rows, time.process_time() - start)
    found = _result(experiment, settings, shown, done.cells, done.codes, done.seconds)
    _table(found, to / f"{experiment.name}.csv")
    (to / f"{experiment.name}.txt").write_text(found.text(), encoding="utf-8")
    if charts:
        for form in ("svg", "png"):
            draw(found.title, experiment.chart, found.rows, to / f"{experiment.name}.{form}")
    return found


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "it is a file" if folder.is_file() else error.strerror
        raise InputError(f"`{folder}` cannot be made a folder: {why}", hint="name another folder with --to") from None


def kept(experiment: Experiment, folder: Path) -> Result | None:
    """What an earlier run has left in a folder, if it came to its end."""
    path = folder / f"{experiment.name}.json"
    if not path.is_file():
        return None
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        about = whole["about"]
        codes = whole.get("codes", {})
        return _result(experiment, about["settings"], about["source"], whole["cells"], codes, whole["seconds"])
    except (ValueError, KeyError, TypeError):  # another version's, or not all of it
        return None


def _result(
    experiment: Experiment, settings: Mapping[str, Any], source: str, cells: Any, codes: Any, seconds: float
) -> Result:
    keys = [json.dumps(cell) for cell in experiment.cells(settings)]
    rows = tuple(row for key in keys for row in cells[key])
    scale = _scale(experiment, settings)
    unknown = "no reason is known" + ("" if scale.startswith("full") else f"; measured at the scale {scale}")
    verdicts = tuple(
        replace(each, why=unknown) if each.holds is False and not each.why else each for each in experiment.judged(rows)
    )
    by = tuple(sorted({codes.get(key, "unknown") for key in keys}))
    return Result(experiment, settings, source, scale, rows, verdicts, seconds, by)


def _scale(experiment: Experiment, settings: Mapping[str, Any]) -> str:
    """The scale that settings are nearest to, and in what they differ from it."""
    found = []
    for scale in reversed(SCALES):
        own = experiment.settings(scale, {})
        differ = [f"{name} = {told(value)}" for name, value in settings.items() if own.get(name) != value]
        found.append((len(differ), f"{scale} but for {', '.join(differ)}" if differ else scale))
    return min(found, key=lambda each: each[0])[1]


def steps(experiment: Experiment, scale: str, given: Mapping[str, str]) -> int:
    """How many cells a run has."""
    return len(experiment.cells(experiment.settings(scale, read(experiment, given))))


class _Kept:
    """The rows that were measured, cell by cell, in a file that is always whole."""

    def __init__(self, path: Path, about: Mapping[str, Any], *, again: bool) -> None:
        self.path, self.about = path, about
        self.cells: dict[str, list[Row]] = {}
        self.codes: dict[str, str] = {}  # what measured each cell
        self.seconds = 0.0
        if path.is_file() and not again:
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
                if found["about"] == about:
                    self.cells, self.seconds = found["cells"], found["seconds"]
                    self.codes = found.get("codes", {})
            except (ValueError, KeyError, TypeError):
                raise InputError(f"`{path}` holds no results", hint="remove it, or start again with --again") from None

    def borrow(self, path: Path) -> None:
        """Take over what another figure has measured with the same settings; its time is counted there."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            theirs, codes = (found["cells"], found["codes"]) if found["about"] == self.about else ({}, {})
        except (OSError, ValueError, KeyError, TypeError):  # not there, or not results
            return
        if theirs:
            self.cells, self.codes = {**theirs, **self.cells}, {**codes, **self.codes}
            self._write()

    def add(self, key: str, rows: list[Row], seconds: float) -> None:
        self.cells[key], self.codes[key], self.seconds = rows, code(), self.seconds + seconds
        self._write()

    def _write(self) -> None:
        partial = self.path.with_suffix(".partial")
        whole = {"about": self.about, "seconds": self.seconds, "codes": self.codes, "cells": self.cells}
        partial.write_text(json.dumps(whole, default=float), encoding="utf-8")
        partial.replace(self.path)


def _table(found: Result, path: Path) -> None:
    names = list(dict.fromkeys(name for row in found.rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(found.rows)


def as_json(found: Result) -> dict[str, Any]:
    """A result as `--json` has it."""
    own = found.experiment
    verdicts = [asdict(verdict) for verdict in found.verdicts]
    about = {"name": own.name, "title": own.title, "paper": own.paper, "data": found.source, "scale": found.scale}
    measured = {"settings": dict(found.settings), "codes": list(found.codes), "rows": list(found.rows)}
    return {**about, **measured, "claims": verdicts}
