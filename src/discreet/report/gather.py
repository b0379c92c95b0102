"""Find out the facts of a report: of the released files for everybody, with the private table for its steward."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.audit import attacks as registry
from discreet.audit.attacks.attack import Failed, Given, Success
from discreet.audit.belongs import check_belongs
from discreet.audit.files import read_tables
from discreet.audit.risks import risks
from discreet.release import Release, open_release
from discreet.release.files import content, digest_of
from discreet.release.layouts import layout_of
from discreet.release.manifest import MOST, NAME, Manifest
from discreet.release.portals.facts import description, licence, title
from discreet.release.summary import columns
from discreet.release.verify import Report, verify
from discreet.report import words
from discreet.report.attacked import attacked
from discreet.report.facts import Audience, Bin, Facts, File, Grouped, Published, Shown, Swept, Untested
from discreet.report.usefulness import measured
from discreet.report.wp216 import answers

BINS = 24  # of a histogram, at most
STANDING = (
    Untested("What an attacker knows that no attack here has", "nobody can list what others know"),
    Untested("Releases about the same people by other publishers", "only releases that are named can be compared"),
)
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Subject:
    """The release that a report is about: its manifest, what `verify` found, and itself if it could be opened."""

    path: Path
    manifest: Manifest
    checked: Report
    release: Release | None
    broken: str | None

    @classmethod
    def of(cls, path: Path) -> Subject:
        """Verify and open a release; one that does not verify is not opened, and what is wrong with it is said."""
        manifest, checked = Manifest.read(path), verify(path)
        if not checked.ok:
            return cls(path, manifest, checked, None, "the release does not verify")
        return cls(path, manifest, checked, open_release(path), None)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a report is to say of itself."""

    audience: Audience
    made: str
    recipient: str | None
    threshold: float


def gather(
    subject: Subject,
    given: Given,
    asked: Asked,
    *,
    population: int | pa.Table | None,
    swept: Swept | None,
    progress: Progress,
) -> Facts:
    """All facts for an audience, from what it may be given."""
    published, release = describe(subject), subject.release
    after = before = belongs = utility = grouped = None
    if release is not None:
        progress("measuring risks")
        grouped, after = group_sizes(release), risks(release, population=population)
        if given.truth is not None:
            belongs = check_belongs(release, given.truth)
            promise = release.promise
            before = risks(given.truth, quasi=promise.quasi, sensitive=promise.sensitive, population=population)
            progress("asking table and release")
            utility = measured(release, given.truth)
    attacks = _attacked(subject, given, progress)
    return Facts(
        audience=asked.audience,
        made=asked.made,
        recipient=asked.recipient,
        threshold=asked.threshold,
        published=published,
        verified=subject.checked.ok,
        checks=subject.checked.checks,
        broken=subject.broken,
        grouped=grouped,
        after=after,
        attacks=attacks,
        answers=answers(published, after, attacks, broken=subject.broken),
        untested=(*_untested(asked.audience, given, attacks, population, swept), *STANDING),
        versions={"discreet": version("discreet"), "Python": platform.python_version()},
        before=before,
        belongs=belongs,
        utility=utility,
        swept=swept,
    )


def describe(subject: Subject) -> Published:
    """What the manifest says is published."""
    manifest, promise = subject.manifest, subject.manifest.discreet
    shape = words.shape(promise)
    how = {"rows": "as it is", "blocks": "as it is, apart from other columns", "boxes": "as a range or a set"}[shape]
    shown = tuple(
        Shown(each.name, each.type, "sensitive", "the values of each group")
        if each.role == "sensitive"
        else Shown(each.name, each.type, "quasi-identifier", how)
        for each in columns(manifest)
    )
    return Published(
        title=title(manifest),
        table=promise.table,
        description=description(manifest),
        publication=promise.publication,
        partition=promise.partition,
        shape=shape,
        rows=promise.rows,
        people=promise.people,
        groups=promise.groups if layout_of(promise).promises else None,
        columns=shown,
        guarantee=dict(promise.guarantee),
        told=promise.told(),
        harmless=promise.spared if promise.harmless else None,
        promise=words.sentence(promise),
        theorem=words.theorem(promise),
        limits=tuple(words.limits(promise)),
        for_publication=promise.for_publication,
        files=tuple(_files(subject)),
        created=manifest.created,
        licence=licence(manifest),
        publishers=tuple(str(each["title"]) for each in manifest.contributors or () if each.get("title")),
    )


def group_sizes(release: Release) -> Grouped | None:
    """The sizes of groups, in so few bins that they can be looked at."""
    promise = release.promise
    if not layout_of(promise).promises:
        return None
    st = read_tables(release).st
    counts = np.asarray(st["n"].cast(pa.int64()))
    group = np.unique(np.asarray(st["grp"].cast(pa.int64())), return_inverse=True)[1]
    sizes = np.bincount(group, counts).astype(np.int64)
    low, high = int(sizes.min()), int(sizes.max())
    step = -(-(high - low + 1) // BINS)
    many = np.bincount((sizes - low) // step)
    bins = tuple(Bin(low + i * step, min(low + (i + 1) * step - 1, high), int(n)) for i, n in enumerate(many))
    top = None if promise.sensitive is None else float((counts / sizes[group]).max())
    return Grouped(
        groups=sizes.size,
        smallest=low,
        median=float(np.median(sizes)),
        largest=high,
        bins=bins,
        largest_share=top,
    )


def _files(subject: Subject) -> Iterator[File]:
    text = content(subject.path / NAME, most=MOST)
    yield File(NAME, len(text), digest_of(text))
    for resource in subject.manifest.resources:
        for name, digest in zip(resource.paths, resource.digests, strict=True):
            path = subject.path / name
            yield File(name, path.stat().st_size if path.is_file() else None, digest)


def _attacked(subject: Subject, given: Given, progress: Progress) -> tuple[Success | Failed, ...]:
    if subject.release is None:
        return tuple(Failed(each.name, each.threat, subject.broken or "") for each in registry.ATTACKS.values())
    return attacked(subject.release, given, progress)


def _untested(
    audience: Audience,
    given: Given,
    attacks: tuple[Success | Failed, ...],
    population: int | pa.Table | None,
    swept: Swept | None,
) -> Iterator[Untested]:
    for each in attacks:
        if isinstance(each, Failed):
            yield Untested(f"The attack `{each.name}`", f"{each.kind}: {each.why}")
    missing = {
        "How far answers are off, and what the risks were before": (given.truth, "--truth"),
        "Whether attacks find more of people in the table than of others": (given.holdout, "--holdout"),
        "The journalist's risk, and who is unique in the population": (population, "--population"),
        "What another threshold of the guarantee would cost": (swept, "--policy"),
    }
    for what, (there, option) in missing.items():
        if there is None:
            why = f"what it takes was not given (`{option}`)"
            yield Untested(what, why if audience == "private" else "it is for the steward, and not in this report")
