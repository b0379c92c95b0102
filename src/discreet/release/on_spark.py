"""A release that is asked in Spark: its files are read by executors, which see them under the same path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.engines import Engine, spark_of
from discreet.release.relations import load_file
from discreet.release.release import Release

if TYPE_CHECKING:
    from discreet.release.verify import Report


@dataclass(frozen=True, repr=False)
class OnSpark(Release):
    """A folder whose questions an `engine` answers: a session of Spark, or `"spark"` for one found or started."""

    engine: Any = "spark"

    @property
    def in_files(self) -> bool:
        """What DuckDB is sped up by is not there."""
        return False

    def attached(self, memory_limit: str | None) -> Engine:  # noqa: ARG002 - how much it may take is known here
        engine = spark_of(self.engine, memory_limit=self.memory_limit)
        try:
            for resource in self.manifest.resources:
                load_file(engine, self.path, resource)
            engine.seal()
        except BaseException:
            engine.close()
            raise
        return engine

    def verify(self, *, earlier: Sequence[str | Path] = ()) -> Report:
        from discreet.release.verify import verify

        return verify(self.path, earlier=earlier, engine=self.engine)
