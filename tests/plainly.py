"""Kernels as Python runs them, however long their arrays are and whatever has been compiled."""

from contextlib import contextmanager
from unittest.mock import patch

from discreet.values.kernel import Kernel


@contextmanager
def plainly():
    with patch.object(Kernel, "_pays", lambda _kernel, _given: False):
        yield
