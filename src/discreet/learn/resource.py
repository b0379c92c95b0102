"""Plausible tables as a file of the release: made from its other files alone, before it appears under its name.

Whoever makes the file is given a folder and nothing else, so it can tell nothing that the other files do not.
Claim: plausible_file_sees_only_the_release — the same files give the same tables, whatever table they were made of.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.errors import ReleaseError
from discreet.learn.draws import Draws, Progress, check_tables, draw
from discreet.learn.plausible import TABLES, secret_of
from discreet.learn.view import View
from discreet.release.cache import Cache
from discreet.release.layouts.plausible import NAME, drawn, file
from discreet.release.manifest import FieldSpec, Manifest, PlausibleTables, Promise, Resource, TableSpec
from discreet.release.release import Release, open_release
from discreet.release.rows import store_rows
from discreet.release.write import Extend, FileToWrite, write
from discreet.values.coded import to_arrow

STEPS = ("writing", "learning", "verifying")


def learn(
    release: Release | str | Path,
    *,
    to: str | Path | None = None,
    tables: int = TABLES,
    progress: Progress = lambda _: None,
) -> Release:
    """Write a release once more with plausible tables beside its files, as the folder `to`, else `NAME-plausible`.

    The release itself stays as it is: who has cited it, or holds its digest, finds it unchanged. The data files of the
    new one are its own, byte for byte; the manifest and the README differ by what they say of the tables.
    `progress` is told each of `STEPS` as it starts, and what the model does.
    """
    check_tables(tables)
    opened = release if isinstance(release, Release) else open_release(release)
    if to is None and not opened.in_files:
        raise ReleaseError("a release in a database has no folder beside it", hint="name the new folder with `to`")
    if opened.promise.plausible is not None:
        raise ReleaseError(
            f"`{opened.path}` carries {opened.promise.plausible.tables} plausible tables already",
            hint="use them with `discreet ask` or `discreet draw`",
        )
    if opened.promise.estimator is None:
        raise ReleaseError(
            f"`{opened.path}` does not state by what chance rows came to their groups: it is answered by `even` only",
            hint="publish the table again, or draw tables beside the release with `discreet draw`",
        )
    place = opened.path if opened.path.name else opened.path.absolute()
    target = place.with_name(f"{place.name}-{NAME}") if to is None else Path(to)
    files = [_copied(opened, resource) for resource in opened.manifest.resources]
    return write(
        target,
        opened.promise,
        files,
        format=opened.manifest.resources[0].format,
        progress=progress,
        about=opened.manifest.described,
        extend=extension(tables, progress=progress),
    )


def extension(tables: int, *, progress: Callable[[str], None] = lambda _: None) -> Extend:
    """What adds plausible tables to the folder of a release that is otherwise whole.

    They are always by the model `learned`: `ask` estimates by them, and would say so of tables by `even`, too.
    """
    check_tables(tables)

    def extend(folder: Path) -> tuple[Promise, FileToWrite]:
        progress("learning")
        release = open_release(folder)
        view = View.of(release, cache=Cache(None))  # not published yet, perhaps never
        draws = draw(view, tables, secret=secret_of(release), progress=progress)
        return described(release.manifest, view, draws)

    return extend


def described(manifest: Manifest, view: View, draws: Draws) -> tuple[Promise, FileToWrite]:
    """What a manifest says of the tables, and the file that holds them."""
    rhat = None if draws.fit.rhat is None else round(draws.fit.rhat, 3)
    told = PlausibleTables(tables=len(draws.codes), model=draws.fit.model, rhat=rhat, notes=draws.fit.notes or None)
    before = manifest.discreet
    estimator = "design" if before.estimator == "design" else "learned"
    promise = before.model_copy(update={"plausible": told, "estimator": estimator})
    kinds = {name: kind for resource in manifest.resources for name, kind in resource.kinds().items()}
    kinds |= dict.fromkeys(drawn(promise), kinds[view.sensitive])
    fields = tuple(FieldSpec(name=name, type=kinds[name]) for name in file(promise).columns)
    return promise, FileToWrite(NAME, TableSpec(fields=fields), partial(_store, promise, view, draws))


def _store(promise: Promise, view: View, draws: Draws, path: Path) -> None:
    """Write the rows sorted by all that they show: ties in the row file are no order to keep."""
    groups = np.repeat(np.arange(1, view.groups + 1), np.diff(view.starts))
    columns = {promise.group: to_arrow(groups)}
    columns |= {name: coded.decode() for name, coded in view.shown.items()}
    columns |= {
        name: view.values.take(to_arrow(codes)) for name, codes in zip(drawn(promise), draws.codes, strict=True)
    }
    store_rows(pa.table(columns), path, order=[*columns])


def _copied(release: Release, resource: Resource) -> FileToWrite:
    sources = release.files(resource.name)
    return FileToWrite(resource.name, resource.table, partial(_copy, sources), resource.paths)


def _copy(sources: Sequence[Path], path: Path) -> None:
    for source in sources:
        shutil.copyfile(source, path.with_name(source.name))
