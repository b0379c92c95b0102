"""An engine that is opened once it is asked something: where files in order tell all that is promised, none is.

Claim: an_engine_is_opened_when_asked — what was made known before, it then knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from discreet.engines import Engine


class Later:
    """What an engine is to know, until it is there; from then on the engine itself."""

    def __init__(self, connect: Callable[[], Engine]) -> None:
        self._connect = connect
        self._engine: Engine | None = None
        self._noted: dict[str, tuple[Any, dict[str, Any]]] = {}

    def load(self, name: str, source: Any, **options: Any) -> None:
        if self._engine is not None:
            self._engine.load(name, source, **options)
        else:
            self._noted.pop(name, None)  # what replaces something comes after all that was noted before it
            self._noted[name] = source, options

    def rows(self, name: str) -> pa.Table | None:
        """The rows that were made known under a name, if they were rows, and no engine has them yet."""
        source, _ = self._noted.get(name, (None, None))
        return source if self._engine is None and isinstance(source, pa.Table) else None

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()

    def __getattr__(self, asked: str) -> Any:
        """Whatever else an engine does."""
        if self._engine is None:
            self._engine = self._connect()
            for name, (source, options) in self._noted.items():
                self._engine.load(name, source, **options)
        return getattr(self._engine, asked)


def rows_of(engine: Engine, name: str) -> pa.Table | None:
    """The rows that an engine would know under a name, where it was not needed so far."""
    return engine.rows(name) if isinstance(engine, Later) else None
