"""A child of a test's own process, which is warm and lives for one act, and never longer than its time."""

from __future__ import annotations

import gc
import os
import signal

LIMIT = 120  # seconds; then the system ends the child


def forked(act):
    """Run an act in a child, and give the child's id.

    A connection of the parent has threads that the child lacks: to close one there crashes or waits for ever. So the
    child collects nothing that the parent has left to the collector.
    """
    gc.freeze()
    pid = os.fork()
    if pid:
        gc.unfreeze()
        return pid
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LIMIT)
        os.setpgid(0, 0)
        act()
    except BaseException:  # noqa: BLE001 - a child must never return into the test
        os._exit(1)
    os._exit(0)
