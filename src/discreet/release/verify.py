"""Verify a release from its files alone.

Shares with the code that makes a release only the engine, the digest of a file, and the shape of
the manifest and its README; what a guarantee, a group and an order are is written here again.

Claim: verify_finds_planted_faults — a broken promise, a stray column, file, order or byte is found.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp, parse_one

from discreet.engines import Engine, connect
from discreet.errors import DiscreetError, EngineError, InputError
from discreet.release import readme
from discreet.release.manifest import FORMAT, NAME, SCHEMA, ForeignKey, Manifest, Reference, Resource, slug
from discreet.release.order import first_disorder
from discreet.release.release import damage


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked."""

    name: str
    ok: bool
    detail: str


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


def verify(path: str | Path) -> Report:
    """Re-derive the guarantee of a release from its files; look for what a release must never carry."""
    folder = Path(path)
    manifest = Manifest.read(folder)
    checks = [_manifest(folder, manifest), _files(folder, manifest), _digests(folder, manifest)]
    if all(check.ok for check in checks):
        checks += [_metadata(folder, manifest), *_contents(folder, manifest)]
    return Report(folder, tuple(checks))


def _check(name: str, wrong: str | None, right: str) -> Check:
    return Check(name, wrong is None, right if wrong is None else wrong)


def _manifest(folder: Path, manifest: Manifest) -> Check:
    """The manifest must say what an anatomy's says, letter for letter, and nothing else."""
    promise = manifest.discreet
    tables = {resource.name: resource.table for resource in manifest.resources}
    names = {"qit": [*promise.quasi, promise.group], "st": [promise.group, promise.sensitive, promise.count]}
    link = ForeignKey(fields=(promise.group,), reference=Reference(resource="st", fields=(promise.group,)))
    wrong = None
    if [resource.name for resource in manifest.resources] != ["qit", "st"] or promise.publication != "anatomy":
        wrong = "it is not that of an anatomy, with the tables `qit` and `st`"
    elif (folder / NAME).read_bytes() != manifest.to_json().encode():
        wrong = "it holds more than a manifest does, or the same in other words"
    elif (manifest.schema_, manifest.name, promise.format) != (SCHEMA, slug(promise.table), FORMAT):
        wrong = "its schema, name or format is not a release's"
    elif any(tables[name].names() != columns for name, columns in names.items()):
        wrong = "it lists other columns than quasi-identifiers, sensitive value, group and count"
    elif len({name.lower() for name in (*names["qit"], *names["st"])}) != len(promise.quasi) + 3:
        wrong = "a column has two roles"
    elif tables["qit"].foreign_keys not in (None, (link,)) or tables["st"].foreign_keys is not None:
        wrong = "its foreign keys are not a release's"
    elif not promise.guarantee or any(threshold < 2 for threshold in promise.guarantee.values()):
        wrong = "it promises nothing"
    right = "what was published and what is promised, nothing else"
    return _check("manifest", wrong, right if promise.for_publication else "MADE WITH A SEED: NOT FOR PUBLICATION")


def _files(folder: Path, manifest: Manifest) -> Check:
    expected = {NAME, readme.NAME, *(resource.path for resource in manifest.resources)}
    found = {entry.name for entry in folder.iterdir()}
    text = folder / readme.NAME
    wrong = None
    if {resource.name for resource in manifest.resources} != {"qit", "st"} or len(manifest.resources) != 2:
        wrong = "there are other tables than `qit` and `st`"
    elif stray := sorted(found - expected):
        wrong = f"a file that does not belong here: `{stray[0]}`"
    elif absent := sorted(expected - found):
        wrong = f"the file `{absent[0]}` is missing"
    elif not text.is_file() or text.read_bytes() != readme.readme(manifest).encode():
        wrong = f"`{readme.NAME}` is not the one that belongs to the manifest"
    return _check("files", wrong, "the data files, the manifest and the README, nothing else")


def _digests(folder: Path, manifest: Manifest) -> Check:
    wrong = next((fault for r in manifest.resources if (fault := damage(folder, r)) is not None), None)
    return _check("digests", wrong, "every data file is the one that was published")


def _metadata(folder: Path, manifest: Manifest) -> Check:
    """Parquet files can carry notes of whoever wrote them, such as a pandas index."""
    wrong = None
    for resource in manifest.resources:
        if resource.format == "parquet":
            try:
                notes = pq.read_metadata(folder / resource.path).metadata
            except (OSError, pa.ArrowException):
                return _check("metadata", f"`{resource.path}` is not a Parquet file", "")
            if notes:
                wrong = f"`{resource.path}` carries metadata of its writer"
    return _check("metadata", wrong, "no notes of the writer inside the files")


def _contents(folder: Path, manifest: Manifest) -> Iterator[Check]:
    engine = connect(groups=manifest.discreet.groups)
    try:
        wrong = _columns(engine, folder, manifest)
        yield _check("columns", wrong, "quasi-identifiers, sensitive value, group, count; nothing else")
        if wrong is None:
            with ThreadPoolExecutor(1) as aside:
                order = aside.submit(_order, folder, manifest)
                yield from _groups(engine, manifest)
                yield _check("order", order.result(), "rows follow their content: the source's order left no trace")
    except (EngineError, InputError, pa.ArrowException, OSError, ValueError) as error:
        reason = error.message if isinstance(error, DiscreetError) else type(error).__name__
        yield Check("contents", ok=False, detail=f"the data files cannot be read: {reason}")
    finally:
        engine.close()


def _columns(engine: Engine, folder: Path, manifest: Manifest) -> str | None:
    """Load both files under names of our own; say what is wrong with their columns."""
    promise = manifest.discreet
    for resource in manifest.resources:
        path, kinds = folder / resource.path, resource.kinds()
        if not _fits(path, resource):
            return f"`{resource.path}` has other columns, or of other types, than the manifest says"
        if any(kinds[name] != "integer" for name in (promise.group, promise.count) if name in kinds):
            return f"groups and counts in `{resource.path}` are not integers"
        # in CSV a count of 1.4 must not be rounded before it is seen
        seen = {name: "number" if name in {promise.group, promise.count} else kind for name, kind in kinds.items()}
        engine.load(f"{resource.name} file", path, keep=resource.format == "csv", kinds=seen)
        ours = {promise.group: "grp", promise.count: "n", promise.sensitive: "held"}
        columns = [exp.alias_(exp.column(name, quoted=True), ours.get(name, f"c{i}")) for i, name in enumerate(kinds)]
        file = exp.Table(this=exp.to_identifier(f"{resource.name} file", quoted=True))
        engine.load(resource.name, exp.select(*columns).from_(file), keep=False)
    return None


def _fits(path: Path, resource: Resource) -> bool:
    """Whether a file itself names the manifest's columns; a CSV file's types are tried when it is read."""
    kinds = resource.kinds()
    if resource.format == "csv":
        with path.open(encoding="utf-8", newline="") as file:
            return next(csv.reader(file), []) == list(kinds)
    schema = pq.read_schema(path)
    return schema.names == list(kinds) and all(IS[kinds[field.name]](field.type) for field in schema)


IS: dict[str, Callable[[pa.DataType], bool]] = {
    "integer": lambda found: pa.types.is_integer(found) or (pa.types.is_decimal(found) and found.scale == 0),
    "number": lambda found: pa.types.is_floating(found) or pa.types.is_decimal(found),
    "boolean": pa.types.is_boolean,
    "string": lambda found: pa.types.is_string(found) or pa.types.is_large_string(found),
    "date": pa.types.is_date,
    "datetime": pa.types.is_timestamp,
    "time": pa.types.is_time,
}


def _groups(engine: Engine, manifest: Manifest) -> Iterator[Check]:
    """The sizes of all groups in both tables, and every promise, in one pass."""
    promise = manifest.discreet
    known = {name: threshold for name, threshold in promise.guarantee.items() if name in PROMISES}
    query = parse_one(GROUPS, dialect="duckdb", into=exp.Select)
    for name, threshold in known.items():
        breach = PROMISES[name][0].format(t=int(threshold))
        query = query.select(
            exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=exp.condition(breach)))
        )
    found = engine.run(query)
    rows, groups, first, last, unlike, least, missing, odd, *broken = (int(c[0].as_py() or 0) for c in found.columns)
    wrong = None
    if (rows, groups) != (promise.rows, promise.groups):
        wrong = "the manifest counts other rows or groups than the files hold"
    elif (first, last) != (1, groups):
        wrong = "groups are not numbered from 1 without a gap"
    elif unlike:
        wrong = f"{unlike} groups have another size in the two tables"
    elif least < 1 or odd:
        wrong = "a sensitive value counts nobody, or a part of somebody"
    elif missing and promise.missing_sensitive != "value":
        wrong = "there are missing sensitive values, which the policy did not allow"
    yield _check("groups", wrong, "both tables agree on every group")
    for (name, threshold), breaking in zip(known.items(), broken, strict=True):
        fault = f"{breaking} groups break it" if breaking else None
        yield _check(f"guarantee {name} = {threshold}", fault, PROMISES[name][1].format(t=threshold))
    for name in promise.guarantee.keys() - known:
        yield Check(f"guarantee {name}", ok=False, detail=f"this software cannot check the guarantee `{name}`")


GROUPS = """
    SELECT SUM(q.size), COUNT(q.grp), MIN(q.grp), MAX(q.grp),
           COUNT(*) FILTER (WHERE q.size IS DISTINCT FROM s.size), MIN(s.least), SUM(s.missing), SUM(s.odd)
    FROM (SELECT grp, COUNT(*) AS size FROM qit GROUP BY grp) AS q
    FULL JOIN (
      SELECT grp, SUM(n) AS size, CAST(MAX(n) AS BIGINT) AS top, MIN(n) AS least, COUNT(*) AS kinds,
             COUNT(*) - COUNT(held) AS missing,
             COUNT(*) FILTER (WHERE n IS NULL OR n <> FLOOR(n) OR grp <> FLOOR(grp)) AS odd
      FROM st GROUP BY grp
    ) AS s ON q.grp = s.grp
"""
PROMISES = {
    "k": ("s.size < {t}", "every group has at least {t} rows"),
    "l": ("s.top * {t} > s.size", "no sensitive value has more than 1/{t} of a group"),
    "distinct_l": ("s.kinds < {t}", "every group has at least {t} distinct sensitive values"),
}


def _order(folder: Path, manifest: Manifest) -> str | None:
    """Rows must be sorted by group and then by everything else they show: no other order can hide in them."""
    promise = manifest.discreet
    keys = {"qit": [promise.group, *promise.quasi], "st": [promise.group, promise.sensitive]}
    for name, columns in keys.items():
        resource = manifest.resource(name)
        if first_disorder(_batches(folder, resource), columns, strict=name == "st") is not None:
            again = ", or repeats a value of a group" if name == "st" else ""
            return f"`{resource.path}` is not sorted by group and content{again}"
    return None


def _batches(folder: Path, resource: Resource) -> Iterator[pa.RecordBatch]:
    """The rows of a data file in their order."""
    if resource.format == "parquet":
        yield from pq.ParquetFile(folder / resource.path).iter_batches(batch_size=1 << 20)
        return
    engine = connect()
    try:
        engine.load("file", folder / resource.path, kinds=resource.kinds())
        yield from engine.run(exp.select("*").from_("file")).to_batches()
    finally:
        engine.close()
