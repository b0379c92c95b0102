"""Verify a release from its files alone, with code that shares nothing with the code that made it.

Claim: verify_finds_planted_faults — a broken promise, a stray column, file, order or byte is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pyarrow.parquet as pq
from sqlglot import exp, parse_one

from discreet.engines import Engine, connect
from discreet.errors import EngineError
from discreet.release import readme
from discreet.release.manifest import NAME, Manifest, Resource
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
    checks = [_files(folder, manifest), _digests(folder, manifest)]
    if all(check.ok for check in checks):
        checks += [_metadata(folder, manifest), *_contents(folder, manifest)]
    return Report(folder, tuple(checks))


def _check(name: str, wrong: str | None, right: str) -> Check:
    return Check(name, wrong is None, right if wrong is None else wrong)


def _files(folder: Path, manifest: Manifest) -> Check:
    expected = {NAME, readme.NAME, *(resource.path for resource in manifest.resources)}
    found = {entry.name for entry in folder.iterdir()}
    wrong = None
    if manifest.discreet.publication != "anatomy" or {r.name for r in manifest.resources} != {"qit", "st"}:
        wrong = f"no anatomy with `qit` and `st`, but {manifest.discreet.publication}"
    elif stray := sorted(found - expected):
        wrong = f"a file that does not belong here: `{stray[0]}`"
    elif absent := sorted(expected - found):
        wrong = f"the file `{absent[0]}` is missing"
    elif (folder / readme.NAME).read_text(encoding="utf-8") != readme.readme(manifest):
        wrong = f"`{readme.NAME}` is not the one that belongs to the manifest"
    return _check("files", wrong, "the data files, the manifest and the README, nothing else")


def _digests(folder: Path, manifest: Manifest) -> Check:
    wrong = next((fault for r in manifest.resources if (fault := damage(folder, r)) is not None), None)
    return _check("digests", wrong, "every data file is the one that was published")


def _metadata(folder: Path, manifest: Manifest) -> Check:
    """Parquet files can carry notes of whoever wrote them, such as a pandas index."""
    wrong = None
    for resource in manifest.resources:
        if resource.format == "parquet" and pq.read_metadata(folder / resource.path).metadata:
            wrong = f"`{resource.path}` carries metadata of its writer"
    return _check("metadata", wrong, "no notes of the writer inside the files")


def _contents(folder: Path, manifest: Manifest) -> Iterator[Check]:
    engine = connect()
    try:
        columns = _check("columns", _columns(engine, folder, manifest), "quasi-identifiers, sensitive value, group, count; nothing else")
        yield columns
        if columns.ok:
            yield _check("groups", _groups(engine, manifest), "both tables agree on every group")
            yield from (_promise(engine, *promise) for promise in manifest.discreet.guarantee.items())
            yield _check("order", _order(engine, folder, manifest), "rows follow their content: the source's order left no trace")
    except EngineError as error:
        yield Check("contents", False, f"the data files cannot be read: {error.message}")
    finally:
        engine.close()


def _columns(engine: Engine, folder: Path, manifest: Manifest) -> str | None:
    """Load both files under names of our own; say what is wrong with their columns."""
    promise = manifest.discreet
    expected = {"qit": [*promise.quasi, promise.group], "st": [promise.group, promise.sensitive, promise.count]}
    for name, names in expected.items():
        resource = manifest.resource(name)
        engine.load(f"{name} file", folder / resource.path, keep=resource.format == "csv")
        found = list(engine.schema(f"{name} file"))
        if found != names or resource.table.names() != names:
            return f"`{resource.path}` has other columns than the manifest promises"
        aliases = {promise.group: "grp", promise.count: "n"} if name == "st" else {promise.group: "grp"}
        columns = [
            exp.alias_(exp.column(column, quoted=True), aliases.get(column, f"c{i}")) for i, column in enumerate(names)
        ]
        file = exp.Table(this=exp.to_identifier(f"{name} file", quoted=True))
        engine.load(name, exp.select(*columns).from_(file), keep=False)
    return None


def _one(engine: Engine, sql: str) -> list[int]:
    return [int(column[0].as_py() or 0) for column in engine.run(parse_one(sql, dialect="duckdb")).columns]


def _groups(engine: Engine, manifest: Manifest) -> str | None:
    promise = manifest.discreet
    rows, groups, first, last = _one(
        engine, "SELECT SUM(n), COUNT(*), MIN(grp), MAX(grp) FROM (SELECT grp, COUNT(*) AS n FROM qit GROUP BY grp) AS q"
    )
    if (rows, groups) != (promise.rows, promise.groups):
        return "the manifest counts other rows or groups than the files hold"
    if (first, last) != (1, groups):
        return "groups are not numbered from 1 without a gap"
    [unlike] = _one(
        engine,
        """SELECT COUNT(*) FROM (SELECT grp, COUNT(*) AS n FROM qit GROUP BY grp) AS q
           FULL JOIN (SELECT grp, SUM(n) AS n FROM st GROUP BY grp) AS s ON q.grp = s.grp
           WHERE q.n IS DISTINCT FROM s.n""",
    )
    if unlike:
        return f"{unlike} groups have another size in the two tables"
    [repeated, empty, missing] = _one(
        engine,
        """SELECT COUNT(*) FILTER (WHERE times > 1), COUNT(*) FILTER (WHERE least < 1), COUNT(*) FILTER (WHERE c1 IS NULL)
           FROM (SELECT grp, c1, COUNT(*) AS times, MIN(n) AS least FROM st GROUP BY grp, c1) AS s""",
    )
    if repeated or empty:
        return "a sensitive value stands twice in a group, or counts nobody"
    if missing and promise.missing_sensitive != "value":
        return "there are missing sensitive values, which the policy did not allow"
    return None


_PROMISES = {
    "k": ("SUM(n) < {t}", "every group has at least {t} rows"),
    "l": ("MAX(n) * {t} > SUM(n)", "no sensitive value has more than 1/{t} of a group"),
    "distinct_l": ("COUNT(*) < {t}", "every group has at least {t} distinct sensitive values"),
}


def _promise(engine: Engine, name: str, threshold: int) -> Check:
    if name not in _PROMISES:
        return Check(f"guarantee {name}", False, f"this software cannot check the guarantee `{name}`")
    breach, promise = _PROMISES[name]
    [broken] = _one(
        engine, f"SELECT COUNT(*) FROM (SELECT grp FROM st GROUP BY grp HAVING {breach.format(t=int(threshold))}) AS b"
    )
    wrong = f"{broken} groups break it" if broken else None
    return _check(f"guarantee {name} = {threshold}", wrong, promise.format(t=threshold))


def _order(engine: Engine, folder: Path, manifest: Manifest) -> str | None:
    """Rows must be sorted by group and then by everything else they show: no other order can hide in them."""
    promise = manifest.discreet
    keys = {"qit": [promise.group, *promise.quasi], "st": [promise.group, promise.sensitive]}
    for name, columns in keys.items():
        resource: Resource = manifest.resource(name)
        if resource.format == "parquet":
            batches = pq.ParquetFile(folder / resource.path).iter_batches(batch_size=1 << 20)
        else:
            file = exp.Table(this=exp.to_identifier(f"{name} file", quoted=True))
            batches = iter(engine.run(exp.select("*").from_(file)).to_batches())
        if first_disorder(batches, columns) is not None:
            return f"`{resource.path}` is not sorted by group and content"
    return None
