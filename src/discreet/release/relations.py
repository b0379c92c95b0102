"""The files of a release as relations of an engine: each is there as `NAME file`, then `qit` and `st` as queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.engines import Engine, connect
from discreet.release.manifest import Manifest, Resource

if TYPE_CHECKING:
    from discreet.release.release import Release


def load_files(engine: Engine, folder: Path, manifest: Manifest) -> None:
    """Make every data file of a release known to an engine."""
    for resource in manifest.resources:
        load_file(engine, folder, resource)


def load_file(
    engine: Engine, folder: Path, resource: Resource, *, keep: bool = False, kinds: Mapping[str, str] | None = None
) -> None:
    """Make one table known, its columns of the types that the manifest says, unless others are given."""
    files = [folder / path for path in resource.paths]
    engine.load(f"{resource.name} file", files, keep=keep, kinds=kinds or resource.kinds())


@contextmanager
def loaded(release: Release) -> Iterator[Engine]:
    """An engine of its own in which every data file of a release is known."""
    with closing(connect(groups=release.promise.groups)) as engine:
        load_files(engine, release.path, release.manifest)
        yield engine
