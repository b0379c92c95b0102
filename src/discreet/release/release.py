"""A release that was opened: what it promises, and the door to asking and verifying it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self, cast

from discreet.engines import Address
from discreet.errors import DiscreetWarning, InputError, ReleaseError, VerificationError
from discreet.release.files import digest, is_plain
from discreet.release.layouts import manifest_fault
from discreet.release.manifest import Manifest, Promise, Resource
from discreet.visible import in_a_line

if TYPE_CHECKING:
    from discreet.answer import Answer, Session
    from discreet.answer.matches.boxes import Given
    from discreet.engines import Engine
    from discreet.engines.spark.needs import Needs
    from discreet.learn.draws import Name
    from discreet.learn.plausible import Plausible
    from discreet.release.verify import Report

OPENING = Lock()  # of sessions


@dataclass(frozen=True)
class Release:
    """A folder that anyone may hold.

    How many rows were `withheld` or `suppressed`, which `warnings` there were, those that the policy accepts among
    them, and what an executor of Spark `needs`, is known only where it was just published, and stands in no file.
    """

    path: Path
    manifest: Manifest
    withheld: int = 0
    suppressed: int = 0
    warnings: tuple[DiscreetWarning, ...] = ()
    memory_limit: str | None = None
    needs: Needs | None = None

    @property
    def promise(self) -> Promise:
        return self.manifest.discreet

    def files(self, name: str) -> list[Path]:
        """The paths of the data files of a table, in the order of their rows."""
        return [self.path / path for path in self.manifest.resource(name).paths]

    def file(self, name: str) -> Path:
        """The path of the data file of a table that is not in parts."""
        first, *more = self.files(name)
        if more:
            raise ReleaseError(f"the table `{name}` is in {len(more) + 1} parts", hint=f'use files("{name}")')
        return first

    def bytes(self, name: str) -> int:
        """The size of the data files of a table; 0 if one is not there."""
        try:
            return sum(path.stat().st_size for path in self.files(name))
        except OSError:
            return 0

    @property
    def in_files(self) -> bool:
        """Whether questions are answered from files, and not in a database."""
        return True

    @property
    def beside(self) -> Mapping[str, tuple[str, str]]:
        """Tables that a server has ready for questions, by the names that these have for them."""
        return {}

    def attached(self, memory_limit: str | None) -> Engine:
        """An engine that holds every data file as `NAME file`, and can touch nothing else."""
        from discreet.engines import connect
        from discreet.release.relations import load_file

        engine = connect(groups=self.promise.groups, memory_limit=memory_limit)
        try:
            for resource in self.manifest.resources:
                load_file(engine, self.path, resource, keep=resource.format == "csv")
            engine.seal(path for resource in self.manifest.resources for path in self.files(resource.name))
        except BaseException:
            engine.close()
            raise
        return engine

    def look(self) -> object:
        """What tells whether a data file was written to or replaced: questions are answered from the files."""
        found = (path.stat() for resource in self.manifest.resources for path in self.files(resource.name))
        return [(each.st_ino, each.st_size, each.st_mtime_ns) for each in found]

    @property
    def session(self) -> Session:
        """Where questions are answered: the release in a sealed engine, opened once for all threads."""
        with OPENING:
            if "session" not in self.__dict__:
                from discreet.answer import Session

                self.__dict__["session"] = Session(self)
            session: Session = self.__dict__["session"]
            return session

    def ask(
        self,
        question: str,
        *,
        generalized: bool | Given = False,
        timeout: float | None = None,
        estimator: str | None = None,
        tables: Mapping[str, Any] | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Answer:
        """Answer an SQL aggregate with estimate, standard error and hard bounds.

        If `generalized`, only low and high are told: those that a generalized table with the same groups
        would give. Its boxes are as tight as the rows allow, unless they are given, by group and column, as
        `{1: {"age": (31, 40), "sex": {"f", "m"}, "zipcode": None}}`: from and to of a number or date, a set of
        other values (with None in it if one is missing), or None if the column may hold anything.

        A question that takes longer than `timeout` seconds is not answered. The `estimator` makes estimate and
        standard error; unless another is named, it is the one that the manifest names, or else `even`. By `learned`,
        any SELECT can be asked, without bounds where it goes beyond such aggregates, and joined with `tables` of your
        own: frames or files, by name. `progress` is told what takes long, such as fitting a model.
        """
        return self.session.ask(
            question, generalized=generalized, timeout=timeout, estimator=estimator, tables=tables, progress=progress
        )

    def explain(self, question: str, *, generalized: bool | Given = False, estimator: str | None = None) -> str:
        """The SQL that answers a question, to be run by anyone who holds the files."""
        return self.session.explain(question, generalized=generalized, estimator=estimator)

    def store(self, question: str, *, name: str) -> str:
        """Store a question with a release in a database, to be asked there in psql, DBeaver or Grafana.

        Whoever may read the release may ask it, by a view of that `name` or by the function `ask`, and gets what the
        estimator `even` gives. What is returned is the SQL that asks it. Only the owner of the release can store.
        """
        del question, name
        raise self._in_no_database()

    def stored(self) -> dict[str, str]:
        """The questions that are stored with a release in a database, by name."""
        raise self._in_no_database()

    def forget(self, name: str) -> None:
        """Take away a question that was stored."""
        del name
        raise self._in_no_database()

    def _in_no_database(self) -> ReleaseError:
        return ReleaseError(
            "questions are stored with releases in a database, and this one is a folder",
            hint="put it into a database by `discreet load`; whoever has the folder can ask it anything",
        )

    def plausible(
        self, tables: int = 20, *, model: Name = "learned", progress: Callable[[str], None] = lambda _: None
    ) -> Plausible:
        """Complete tables that the release could have been made of, for any analysis; see `discreet.pool`.

        In each of them every group's values are given to its rows: as a model says that was fitted to the files
        alone (`learned`), or by chance (`even`). They come from the release if it carries so many, else they are drawn
        once and kept in the cache outside of it. `progress` is told what is being done.
        """
        from discreet.learn.plausible import plausible

        kept: dict[Any, Plausible] = self.__dict__.setdefault("drawn", {})
        if (tables, model) not in kept:
            found = plausible(self, tables, model=model, progress=progress)
            kept.clear()  # no more than the latest
            kept[tables, model] = found
        return kept[tables, model]

    def learn(
        self,
        tables: int = 20,
        *,
        to: str | Path | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Release:
        """Write the release once more with plausible tables beside its files, drawn from these alone.

        The new folder is `to`, else `NAME-plausible`; this release stays as it is. `progress` is told each step as it
        starts.
        """
        from discreet.learn.resource import learn

        return learn(self, to=to, tables=tables, progress=progress)

    def verify(self, *, earlier: Sequence[str | Path] = ()) -> Report:
        """Check the promise from the files alone, and that of the releases before it, if they are there."""
        from discreet.release.verify import verify

        return verify(self.path, earlier=earlier)

    def close(self) -> None:
        """Let go of the engine that answers questions, if there was any."""
        with OPENING:
            session = self.__dict__.pop("session", None)
        if session is not None:
            session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        promise = self.promise
        test = "" if promise.for_publication else ", NOT FOR PUBLICATION"
        return (
            f"<Release {in_a_line(promise.table)}: {promise.publication} by {promise.partition}, {promise.told()},"
            f" {promise.rows:,} rows in {promise.groups:,} groups{test}>"
        )

    def _repr_html_(self) -> str:
        promise = self.promise
        rows = {
            "publication": promise.publication,
            "partition": promise.partition,
            "guarantee": promise.told(),
            "quasi": ", ".join(promise.quasi),
            "sensitive": promise.sensitive or "every column",
            "rows": f"{promise.rows:,} in {promise.groups:,} groups",
        }
        if not promise.for_publication:
            rows["warning"] = "made with a fixed seed: not for publication"
        cells = "".join(f"<tr><th>{key}</th><td>{escape(value)}</td></tr>" for key, value in rows.items())
        return f"<table><caption>Release {escape(promise.table)}</caption>{cells}</table>"


def open_release(
    path: str | Path | Address, *, release: str | None = None, engine: Any = "duckdb", memory_limit: str | None = None
) -> Release:
    """Open a release folder, checking that its files are the ones that were published; or a `release` in a database.

    Of a database, `path` is its URL, which may name the release itself, as `postgresql://host/database#release`.
    To answer questions takes at most `memory_limit` (like `8GB`) of memory, or else 30 times the size of the files and
    at least 1 GB; beyond it the engine spills to disk, or says that it cannot go on.
    Questions about a folder are answered by the `engine` `"duckdb"`, or in Spark: by a `SparkSession` of your own,
    classic or Connect, or, if it is `"spark"`, by the one that is active here or a Spark that is started.
    """
    on_spark = meant(engine)
    address = Address.of(path, release)
    if address is not None:
        if on_spark:
            raise ReleaseError("a release in a database is asked there", hint="leave out the engine")
        from discreet.release.database.release import open_stored

        return open_stored(address, memory_limit=memory_limit)
    if release is not None:
        raise ReleaseError("a folder holds one release", hint="leave out the name of the release")
    folder = Path(cast("str | Path", path))
    manifest = Manifest.read(folder)
    if (strange := manifest_fault(manifest)) is not None:
        raise ReleaseError(
            f"`{folder}` cannot be opened: {strange}",
            hint="get a new copy from whoever published it, or upgrade discreet",
        )
    damaged(folder, manifest)
    if on_spark:
        from discreet.release.on_spark import OnSpark

        return OnSpark(folder, manifest, memory_limit=memory_limit, engine=engine)
    return Release(folder, manifest, memory_limit=memory_limit)


def meant(engine: Any) -> bool:
    """Whether an engine that is named or given is Spark; raise if it is none that opens folders."""
    if not isinstance(engine, str):
        return True
    if engine not in {"duckdb", "spark"}:
        raise InputError(f"unknown engine `{engine}`", hint="the engines are: duckdb, spark")
    return engine == "spark"


def damaged(folder: Path, manifest: Manifest) -> None:
    """Raise if a data file is not the one that was published."""
    for resource in manifest.resources:
        if (wrong := damage(folder, resource)) is not None:
            raise VerificationError(f"`{folder}`: {wrong}", hint="get a new copy from whoever published it")


def damage(folder: Path, resource: Resource) -> str | None:
    """What is wrong with the data files of a table, if anything: missing, or not those that were published."""
    for name, published in zip(resource.paths, resource.digests, strict=True):
        path = folder / name
        if not os.path.lexists(path):
            return f"the file `{name}` is missing"
        if not is_plain(path):
            return f"`{name}` is not a plain file: a release holds no links, pipes or devices"
        if resource.bytes not in (None, path.stat().st_size) or digest(path) != published:
            return f"the file `{name}` is not the one that was published: its digest differs"
    return None
