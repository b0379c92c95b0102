"""Loops over rows, compiled where that pays: what is small and was not compiled before, Python runs as it is written.

Compiling all that a first release needs takes Numba up to ten seconds; Python goes through ten thousand rows in two.
So a kernel is compiled once it meets a long array, or has taken Python as long as compiling would; what an earlier
process has compiled is loaded. The kernels that a kernel calls are run as it is.

Python computes with NumPy's numbers here, which are as wide as what they come from, where compiled code has 64 bits
for all: if a number gets too large for its width, the compiled kernel begins anew from what the arrays held.
Claim: plain_is_compiled — both ways give the same.

What is timed is put inside `compiling()`, so that neither way depends on what ran before.
"""

from __future__ import annotations

import functools
import inspect
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numba as nb
import numpy as np

SMALL = 1 << 14  # the longest array that is left to Python
PATIENCE = 1.0  # seconds that Python may take for a kernel in all, in this process

_PLAIN: dict[str, dict[str, Any]] = {}  # by the name of a module


class Kernel:
    """A function of arrays and numbers, in both ways; compiled code that calls it has the compiled one."""

    def __init__(self, function: Any, *, always: bool, wraps: bool, **options: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self._always, self._wraps, self._spent = function, always, wraps, 0.0
        self.compiled = nb.njit(cache=True, nogil=True, **options)(function)
        if not isinstance(self.compiled, FunctionType):  # it is one if Numba was told to compile nothing
            self._numba_type_ = nb.typeof(self.compiled)  # type: ignore[no-untyped-call]
            self.targetoptions = self.compiled.targetoptions  # Numba asks these whether to put it into its callers

    def __call__(self, *given: Any, **named: Any) -> Any:
        if named:
            given = inspect.signature(self.py_func).bind(*given, **named).args
        if self._pays(given):
            return self.compiled(*given)
        began, before = time.thread_time(), [(each, each.copy()) for each in _arrays(given)]
        try:
            with np.errstate(over="raise", divide="raise"):
                found = self.plain(*given)
        except (FloatingPointError, OverflowError):
            for each, held in before:
                if each.flags.writeable:
                    each[...] = held
            return self.compiled(*given)
        self._spent += time.thread_time() - began
        return found

    @functools.cached_property
    def plain(self) -> Callable[..., Any]:
        """The same function for Python, which calls the kernels it needs in the same way."""
        made = FunctionType(self.py_func.__code__, _plain_module(self.__module__))
        made.__defaults__ = self.py_func.__defaults__
        return np.errstate(over="ignore")(made) if self._wraps else made

    def _pays(self, given: tuple[Any, ...]) -> bool:
        return (
            self._spent >= PATIENCE
            or self._ready
            or bool(getattr(self.compiled, "signatures", ()))  # this process has compiled it
            or any(max(each.shape, default=0) > SMALL for each in _arrays(given))
        )

    @functools.cached_property
    def _ready(self) -> bool:
        """Whether it is always compiled, or an earlier process has done it. Numba has no public way to ask for that."""
        try:
            return self._always or bool(self.compiled._cache._cache_file._load_index())  # noqa: SLF001
        except (AttributeError, OSError):
            return False


def kernel(function: Callable[..., Any]) -> Any:
    """Make a kernel of a function."""
    return Kernel(function, always=False, wraps=False)


def kernel_with(*, always: bool = False, wraps: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """The same for one that is special.

    It is compiled `always` if its cost is not about linear in the arrays that it is given, and it `wraps` if numbers
    of 64 bits are to begin anew from 0 where they get too large. Options are Numba's.
    """
    return functools.partial(Kernel, always=always, wraps=wraps, **options)


@contextmanager
def compiling() -> Iterator[None]:
    """In here every kernel is compiled, however short its arrays are: a warm-up on a few rows is one for many."""
    global PATIENCE  # noqa: PLW0603 - what is compiled is the process's too, for all of its threads
    before, PATIENCE = PATIENCE, 0.0
    try:
        yield
    finally:
        PATIENCE = before


def _arrays(given: Iterable[Any]) -> Iterator[np.ndarray[Any, Any]]:
    """All arrays that a kernel is given, also inside tuples."""
    for each in given:
        if isinstance(each, np.ndarray):
            yield each
        elif isinstance(each, tuple):
            yield from _arrays(each)


def _plain_module(name: str) -> dict[str, Any]:
    """What the functions of a module see, with every kernel as Python runs it."""
    if name not in _PLAIN:
        _PLAIN[name] = names = dict(vars(sys.modules[name]))  # it is there before it is whole: kernels call each other
        names.update({each: value.plain for each, value in names.items() if isinstance(value, Kernel)})
    return _PLAIN[name]
