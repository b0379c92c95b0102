"""A word in the progress bar while kernels are compiled, which takes some seconds the first time after installing."""

from __future__ import annotations

import sys
from typing import Any

from rich.progress import ProgressColumn, Task
from rich.text import Text

WORD = "compiling, which is done once"
EVENT = "numba:compile"


class Compiling(ProgressColumn):
    """Listens to Numba as soon as something has imported it; nothing is imported for the word's sake."""

    def __init__(self) -> None:
        super().__init__()
        self._at_work, self._listener = 0, None

    def render(self, task: Task) -> Text:  # noqa: ARG002 - a column may look at its task
        events = sys.modules.get("numba.core.event")
        if self._listener is None and events is not None and hasattr(events, "end_event"):  # it is there to the end
            self._listener = self._listening(events)
        return Text(WORD if self._at_work > 0 else "")

    def close(self) -> None:
        """Listen no longer."""
        if self._listener is not None:
            sys.modules["numba.core.event"].unregister(EVENT, self._listener)

    def _listening(self, events: Any) -> Any:
        column = self

        class Listener(events.Listener):  # type: ignore[misc]
            def on_start(self, event: Any) -> None:  # noqa: ARG002
                column._at_work += 1

            def on_end(self, event: Any) -> None:  # noqa: ARG002
                column._at_work -= 1

        found = Listener()
        events.register(EVENT, found)
        return found
