"""Verify a release from its files alone.

Shares with the code that makes a release only the engine, the digest of a file, and the layout of
the manifest and its README; what a guarantee, a group and an order are is written here again.

Claim: verify_walks_the_chain — releases before one are verified too, and one that was changed is found.
Claim: verify_finds_planted_faults — a broken promise, a stray column, file, order or byte is found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engines import Address
from discreet.errors import ReleaseError
from discreet.release import portals, readme
from discreet.release.chain import DIGEST, SEQUENCE, estranged, shelf
from discreet.release.files import content, is_plain
from discreet.release.layouts import layout_of, manifest_fault
from discreet.release.manifest import MOST, NAME, SCHEMA, Manifest, format_of, slug
from discreet.release.release import damage, meant
from discreet.release.verify.check import Check, check
from discreet.release.verify.contents import contents
from discreet.release.verify.likeness import LIKENESS
from discreet.release.verify.relaid import says_the_same
from discreet.release.verify.shares import out_of_place
from discreet.visible import in_json

# What others put beside a release: licences, a citation, and what computers leave behind.
BESIDE = re.compile(
    r"(?i)(licen[cs]e|copying|notice|citation)(\.(md|txt|cff|html|pdf))?|\.ds_store|thumbs\.db|desktop\.ini"
)


@dataclass(frozen=True, slots=True)
class Report:
    """All that was checked of a release."""

    path: Path
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        return not self.failures

    @property
    def failures(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.ok)

    def __repr__(self) -> str:
        state = "verified" if self.ok else f"{len(self.failures)} of {len(self.checks)} checks FAILED"
        return f"<Report {self.path}: {state}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{'✓' if check.ok else '✗'}</td><td>{escape(check.name)}</td><td>{escape(check.detail)}</td></tr>"
            for check in self.checks
        )
        return f"<table>{rows}</table>"


def verify(path: str | Path | Address, *, earlier: Sequence[str | Path] = (), engine: Any = "duckdb") -> Report:
    """Re-derive the guarantee of a release from its files; look for what a release must never carry.

    One of a sequence names the release before it by digest. Those are verified too, back to the first, where they
    are found: in folders beside the release, or given as `earlier`, or inside those.

    Groups and promises are counted by the `engine` `"duckdb"`, or in Spark, which is `"spark"` or a `SparkSession`, as
    for `open_release`; digests and the order of rows are read here in any case.
    """
    on_spark = meant(engine)
    address = Address.of(path)
    if address is not None:
        from discreet.release.database.files import in_folder

        if on_spark:
            raise ReleaseError("a release in a database is verified here", hint="leave out the engine")
        with in_folder(address) as folder:
            return replace(verify(folder, earlier=earlier), path=Path(str(address)))
    report = verify_alone(Path(cast("str | Path", path)), engine=engine if on_spark else None)
    if not report.ok or Manifest.read(report.path).discreet.predecessor is None:
        return report
    return Report(report.path, (*report.checks, _chain(report.path, [Path(place) for place in earlier])))


def verify_alone(folder: Path, *, engine: Any = None, memory_limit: str | None = None) -> Report:
    """Verify one release, whatever came before it; by Spark, if one is given, else by so much memory."""
    manifest = Manifest.read(folder)
    if (wrong := manifest_fault(manifest)) is not None:
        return Report(folder, (Check("manifest", ok=False, detail=wrong),))
    if engine is not None and not layout_of(manifest.discreet).on_spark:
        name = manifest.discreet.publication
        raise ReleaseError(f"a release by `{name}` is not verified in Spark", hint="leave out the engine")
    checks = [_manifest(folder, manifest), _files(folder, manifest), _digests(folder, manifest)]
    if all(check.ok for check in checks):
        checks += [_metadata(folder, manifest), *contents(folder, manifest, engine, memory_limit)]
    return Report(folder, tuple(checks))


def _chain(folder: Path, earlier: Sequence[Path]) -> Check:
    """Every release before this one verifies and promises the same, back to the first, or to one that is not there."""
    at, promise, followed = folder, Manifest.read(folder).discreet, 0
    releases = shelf([*earlier, folder.absolute().parent])
    while promise.predecessor is not None:
        before = releases.get(promise.predecessor)
        if before is None:
            gone = (
                f"the release before `{at.name}` was not found, so it was not verified (name its folder with --earlier)"
            )
            return Check("chain", ok=True, detail=f"earlier releases that verify: {followed:,}; {gone}")
        try:
            report, promised = verify_alone(before), Manifest.read(before).discreet
        except ReleaseError as error:
            return Check("chain", ok=False, detail=error.message)
        if not report.ok:
            first = report.failures[0]
            return Check("chain", ok=False, detail=f"`{before.name}` does not verify: {first.name}: {first.detail}")
        if (other := estranged(promised, promise)) is not None:
            return Check("chain", ok=False, detail=f"`{before.name}` and `{at.name}` do not have the same {other}")
        at, promise, followed = before, promised, followed + 1
    return Check(
        "chain", ok=True, detail=f"earlier releases, back to the first: {followed:,}; all verify, and promise the same"
    )


def _manifest(folder: Path, manifest: Manifest) -> Check:
    """The manifest must say what a release's says, letter for letter, and nothing else."""
    promise = manifest.discreet
    wrong = None
    text, own = content(folder / NAME, most=MOST), manifest.to_json()
    if text not in {own.encode(), in_json(own).encode()} and not says_the_same(text, manifest):
        wrong = "it has members that a manifest does not have, or is not laid out as `discreet` writes it"
    elif (manifest.schema_, manifest.name, promise.format) != (
        SCHEMA,
        slug(promise.table),
        format_of(manifest.resources),
    ):
        wrong = "its `$schema`, name or format version is not the one that a release has"
    elif promise.suppression is not None and not (0 < promise.suppression <= 1 and promise.partition == "full_domain"):
        wrong = "its `suppression` must be above 0 and at most 1, and only the partition `full_domain` has one"
    elif promise.sequence is not None and not (SEQUENCE.fullmatch(promise.sequence) and promise.partition == "vault"):
        wrong = "its `sequence` must be 32 hexadecimal digits, and only a release of a vault has one"
    elif promise.growth is not None and promise.sequence is None:
        wrong = "only a release with a `sequence` has a `growth`"
    elif promise.predecessor is not None and (promise.sequence is None or not DIGEST.fullmatch(promise.predecessor)):
        wrong = "its `predecessor` must be a digest, and only a release with a `sequence` has one"
    elif "e" in promise.guarantee and (promise.missing_sensitive == "value" or not _measurable(manifest)):
        wrong = "it promises a range, e, of values that may be missing, or that are neither numbers nor dates"
    elif (misplaced := out_of_place(promise)) is not None:
        wrong = misplaced
    elif layout_of(promise).promises and not _promises_something(promise.guarantee):
        wrong = "its guarantee is empty, or has a threshold that no policy can set"
    return check("manifest", wrong, _described(manifest))


def _described(manifest: Manifest) -> str:
    """What is said of a manifest that is as it should be."""
    if not manifest.discreet.for_publication:
        return "MADE WITH A SEED: NOT FOR PUBLICATION"
    told = ", ".join(f"`{key}`" for key in manifest.described)
    by = f"; described by {told}, which no digest covers" if told else ", nothing else"
    return f"what was published and what is promised{by}"


def _promises_something(guarantee: Mapping[str, float]) -> bool:
    return bool(guarantee) and all(
        threshold > 0
        if name in LIKENESS
        else threshold >= 0 and "k" in guarantee
        if name == "e"
        else threshold >= 2 and isinstance(threshold, int)
        for name, threshold in guarantee.items()
    )


def _measurable(manifest: Manifest) -> bool:
    kinds = [resource.kinds().get(manifest.discreet.sensitive or "") for resource in manifest.resources]
    return all(kind in {None, "integer", "number", "date", "datetime"} for kind in kinds)


def _files(folder: Path, manifest: Manifest) -> Check:
    expected = {NAME, readme.NAME, *(path for resource in manifest.resources for path in resource.paths)}
    found, made = {entry.name for entry in folder.iterdir()}, portals.texts(manifest)
    welcome = {
        name
        for name in found - expected
        if is_plain(folder / name) and (name in portals.FORMS or BESIDE.fullmatch(name))
    }
    wrong = None
    if stray := sorted(found - expected - welcome):
        wrong = f"a file that does not belong here: `{stray[0]}`"
    elif absent := sorted(expected - found):
        wrong = f"the file `{absent[0]}` is missing"
    elif not _holds(folder / readme.NAME, readme.readme(manifest).encode()):
        wrong = f"`{readme.NAME}` is not the one that belongs to the manifest"
    right = "the data files, the manifest and what is made of it, nothing else"
    beside = sorted(name for name in welcome if not _holds(folder / name, made.get(name, "").encode()))
    if beside:
        told = ", ".join(f"`{name}`" for name in beside)
        right = f"the data files, the manifest and what is made of it; beside them, not looked into: {told}"
    return check("files", wrong, right)


def _holds(path: Path, expected: bytes) -> bool:
    try:
        return content(path, most=len(expected)) == expected
    except OSError:
        return False


def _digests(folder: Path, manifest: Manifest) -> Check:
    wrong = next((fault for r in manifest.resources if (fault := damage(folder, r)) is not None), None)
    return check("digests", wrong, "every data file is the one that was published")


def _metadata(folder: Path, manifest: Manifest) -> Check:
    """Parquet files can carry notes of whoever wrote them, such as a pandas index."""
    wrong = None
    for path in (path for resource in manifest.resources if resource.format == "parquet" for path in resource.paths):
        try:
            notes = pq.read_metadata(folder / path).metadata
        except (OSError, pa.ArrowException):
            return check("metadata", f"`{path}` is not a Parquet file", "")
        if notes:
            wrong = f"`{path}` carries metadata of its writer"
    return check("metadata", wrong, "no notes of the writer inside the files")
