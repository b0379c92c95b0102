"""Write the report on a release: for the public, and for the steward in files of their own.

What takes the private table, a register of the population, people who were not in the table or a sweep is for the
steward. The public facts are gathered without any of them: it is no matter of leaving something out.
Cost: that of `verify`, of the risks (a sort of the rows), of the attacks, and of the questions by each estimator.
Claim: public_files_do_not_depend_on_the_truth — with and without it they are the same, letter for letter.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.audit.attacks.attack import Given, texts_of
from discreet.audit.metrics.truth import read_truth
from discreet.errors import InputError
from discreet.release import Release
from discreet.report.facts import Facts, Step, Swept
from discreet.report.gather import Asked, Subject, gather
from discreet.report.page import memo_page, report_page
from discreet.words import nearest

if TYPE_CHECKING:
    from discreet.comparison.sweep import Sweep

THRESHOLD = 0.09  # as regulators of health data in Europe and Canada have it
LONGEST = 2_000  # signs of a recipient


@dataclass(frozen=True)
class Written:
    """The facts of a report, and the files that hold them; `private` is None where nothing takes the truth."""

    public: Facts
    private: Facts | None
    files: tuple[Path, ...]

    @property
    def verified(self) -> bool:
        return self.public.verified

    def __repr__(self) -> str:
        return "\n".join(map(str, self.files))


def report(
    release: Release | str | Path,
    *,
    to: str | Path | None = None,
    truth: Any = None,
    population: Any = None,
    public: Any = None,
    holdout: Any = None,
    others: Sequence[Release | str | Path] = (),
    recipient: str | None = None,
    threshold: float = THRESHOLD,
    sweep: Sweep | Callable[[], Sweep | None] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Written:
    """Write what is known of a release: as HTML, as JSON with every figure, and as a memo of one page.

    `to` is a folder, or a file like `report.html` whose name the others share; without it, a new folder beside the
    release that is called as the release, with `-report` behind it. Each is written for the public; and with
    the `truth` (the private table, a file or a frame), a `population` (a table of it, or its number of people), a
    `holdout` of people who were not in the table, or a `sweep` (`discreet.comparison.sweep`, or what makes one once
    all else is there), also for the steward. `public` is a public table that people may be linked with, `others` are
    releases about the same people. The highest risk is held against the `threshold`. `progress` is told each step as
    it starts.
    """
    folder = release.path if isinstance(release, Release) else Path(release)
    place = _place(_beside(folder) if to is None else Path(to), folder)
    _check(recipient, threshold)
    progress("verifying")
    subject = Subject.of(folder)
    made = datetime.now(UTC).date().isoformat()
    opened = subject.release
    shared = whole = Given()
    people: int | pa.Table | None = None
    if opened is not None:
        people = population if population is None or isinstance(population, int) else _register(opened, population)
        shared = Given.read(opened, public=public, others=others)
        whole = Given.read(opened, truth=truth, holdout=holdout, population=_learnt(opened, people))
        whole = replace(whole, public=shared.public, others=shared.others)
    done = sweep() if callable(sweep) else sweep
    swept = None if done is None else _swept(done)
    about = Asked("public", made, recipient, threshold)
    for_all = gather(subject, shared, about, population=None, swept=None, progress=progress)
    private = None
    if any(each is not None for each in (truth, population, holdout, swept)):
        about = Asked("private", made, recipient, threshold)
        private = gather(subject, whole, about, population=people, swept=swept, progress=progress)
    if opened is not None:
        opened.close()
    progress("writing")
    files = [*_write(place, for_all), *([] if private is None else _write(place, private))]
    return Written(for_all, private, tuple(files))


def _register(release: Release, population: Any) -> pa.Table:
    """The columns of a population that the release has, too; it may lack the sensitive one."""
    promise, found = release.promise, read_truth(population, None, "population", texts_of(release))
    missing = [name for name in promise.quasi if name not in found.column_names]
    if missing:
        raise InputError(f"the population has no column `{missing[0]}`", hint=nearest(missing[0], found.column_names))
    return found.select([name for name in promise.columns if name in found.column_names])


def _learnt(release: Release, people: int | pa.Table | None) -> pa.Table | None:
    """The population as an attacker learns from it: only where it has the sensitive column."""
    whole = isinstance(people, pa.Table) and people.column_names == [*release.promise.columns]
    return people if whole else None


def _beside(release: Path) -> Path:
    """The folder of a report for which none was named; raise if there is one already."""
    at = release.resolve()
    to = (release.parent if release.name == at.name else at.parent) / f"{at.name}-report"
    if to.exists() or to.is_symlink():
        raise InputError(
            f"`{to}` is there already, and nothing in it is written over",
            hint="say with `--to` (`to=`) where the report goes",
        )
    return to


def _place(to: Path, release: Path) -> Path:
    """Where files go, without what tells them apart."""
    place = to.with_suffix("") if to.suffix.lower() in {".html", ".htm"} else to / "report"
    inside = place.parent.resolve()
    if inside == release.resolve() or release.resolve() in inside.parents:
        raise InputError(
            f"the report cannot be written into the release `{release}`: files beside those of a release break it",
            hint="name another folder",
        )
    there = next(each for each in (place.parent, *place.parent.parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError(f"nothing can be written into `{there}`", hint="name another folder")
    return place


def _check(recipient: str | None, threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise InputError(f"the threshold must be a risk above 0 and at most 1, got {threshold}", hint="like 0.09")
    if recipient is not None and len(recipient) > LONGEST:
        raise InputError(
            f"the recipient has {len(recipient):,} signs, expected at most {LONGEST:,}", hint="say it shorter"
        )


def _swept(sweep: Sweep) -> Swept:
    """What a sweep says of each method and threshold."""
    steps = tuple(
        Step(each.name, step.guarantee[sweep.name], each.error, each.error_90, each.coverage, each.refused is not None)
        for step in sweep.steps
        for each in step.outcomes
    )
    return Swept(sweep.name, sweep.steps[0].rows, steps)


def _write(place: Path, facts: Facts) -> list[Path]:
    """The three files for an audience; those of the steward can be read by nobody else."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"`{place.parent}` cannot be made: {error.strerror}", hint="name another folder") from None
    texts = {"html": report_page(facts), "json": facts.to_json(), "memo.html": memo_page(facts)}
    written = []
    for ending, text in texts.items():
        path = place.with_name(f"{place.name}.{facts.audience}.{ending}")
        _replace(path, text, mode=0o644 if facts.audience == "public" else 0o600)
        written.append(path)
    return written


def _replace(path: Path, text: str, *, mode: int) -> None:
    """Write a file whole, or not at all."""
    try:
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            Path(partial).chmod(mode)
            Path(partial).replace(path)
        except BaseException:
            Path(partial).unlink()  # it may be the steward's
            raise
    except OSError as error:
        raise InputError(f"`{path}` cannot be written: {error.strerror}", hint="name another folder") from None
