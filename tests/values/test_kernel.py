"""What is compiled and what Python runs: releases of both are the same, and small tables are compiled by nobody."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from discreet import Policy, publish
from discreet.values import kernel as kernels
from discreet.values.kernel import compiling, kernel, kernel_with
from plainly import plainly

ROLES = {"quasi": ["age", "sex", "zipcode"], "sensitive": "salary", "drop": "rest", "ordered": ["age", "zipcode"]}
METHODS = [
    {"partition": "mixed", "guarantee": {"l": 5}},
    {"partition": "local", "guarantee": {"l": 3, "distinct_l": 4}},
    {"partition": "cluster", "guarantee": {"l": 3}},
    {"partition": "min_max", "publication": "permutation", "guarantee": {"k": 3, "e": 2000}},
    {"partition": "compact", "publication": "generalization", "guarantee": {"k": 5}},
    {"partition": "mondrian", "publication": "generalization", "guarantee": {"k": 5, "beta": 4}},
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method["partition"])
def test_plain_is_compiled(method, people, tmp_path):
    table, policy = people.slice(0, 300), Policy(**ROLES, **method)
    publish(table, policy, to=tmp_path / "compiled", seed=1).close()
    with plainly():
        publish(table, policy, to=tmp_path / "plain", seed=1).close()
    files = sorted(path.name for path in (tmp_path / "compiled").iterdir())
    assert [(tmp_path / "plain" / name).read_bytes() for name in files] == [
        (tmp_path / "compiled" / name).read_bytes() for name in files
    ]


@kernel
def total(numbers):
    found = numbers[0]
    for i in range(1, numbers.size):
        found = add(found, numbers[i])
    return found


@kernel
def add(one, other):
    return one + other


@pytest.fixture
def patient(monkeypatch):
    """As a user has it."""
    monkeypatch.setattr(kernels, "PATIENCE", 1.0)
    monkeypatch.setattr(kernels.Kernel, "_ready", False)


def counted(of):
    """A kernel of its own that counts what was compiled."""
    made = kernel(of.py_func)
    return made, lambda: len(made.compiled.signatures)


@pytest.mark.usefixtures("patient")
def test_short_arrays_are_left_to_python():
    made, compiled = counted(total)
    assert made(np.arange(10)) == made(numbers=np.arange(10)) == 45
    assert not compiled()
    long = np.arange(kernels.SMALL + 1)
    assert made(long) == long.sum()
    assert compiled() == 1


@pytest.mark.usefixtures("patient")
def test_what_was_compiled_runs_whatever_comes():
    made, compiled = counted(total)
    made(np.arange(kernels.SMALL + 1))
    assert made(np.arange(10)) == 45
    assert compiled() == 1
    assert not made._spent


@pytest.mark.usefixtures("patient")
def test_patience_ends(monkeypatch):
    made, compiled = counted(total)
    made(np.arange(10))
    monkeypatch.setattr(kernels, "PATIENCE", made._spent / 2)
    assert made(np.arange(10)) == 45
    assert compiled() == 1


@pytest.mark.usefixtures("patient")
def test_what_is_timed_is_compiled():
    made, compiled = counted(total)
    with compiling():
        assert made(np.arange(10)) == 45
        with pytest.raises(IndexError), compiling():
            made.py_func(np.arange(0))
        assert kernels.PATIENCE == 0
    assert compiled() == 1
    other, compiled = counted(total)
    assert other(np.arange(10)) == 45
    assert not compiled()


@pytest.mark.usefixtures("patient")
def test_some_are_always_compiled(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(kernels, "PATIENCE", 1.0)
    made = kernel_with(always=True)(add.py_func)
    assert made(1, 2) == 3
    assert made.compiled.signatures


@kernel
def summed(numbers, sums):
    for i in range(numbers.size):
        sums[i] += numbers[i]
        sums[-1] = add(sums[-1], numbers[i] + numbers[i])


def test_a_number_too_large_for_its_width_is_left_to_compiled_code():
    """It has 64 bits for it, and begins with the arrays as they were."""
    large, sums = np.array([1, 2**31 - 1], np.int32), np.zeros(3, np.int64)
    with plainly():
        assert total(large) == 2**31
        with pytest.raises(FloatingPointError), np.errstate(over="raise"):
            summed.plain(large, sums)
        sums[:] = 0
        summed(large, sums)
    assert sums.tolist() == [1, 2**31 - 1, 2**32]


@kernel
def summed_aside(numbers, scratch):
    sums, _ = scratch
    for i in range(numbers.size):
        sums[0] += numbers[i]
        sums[1] = add(numbers[i], numbers[i])


def test_arrays_inside_tuples_are_as_they_were_too():
    large, sums = np.array([1, 2**31 - 1], np.int32), np.zeros(2, np.int64)
    with plainly():
        summed_aside(large, (sums, (sums,)))
    assert sums.tolist() == [2**31, 2**32 - 2]


@pytest.mark.usefixtures("patient")
def test_long_arrays_inside_tuples_are_not_left_to_python():
    made, compiled = counted(summed_aside)
    made(np.arange(3), (np.zeros(kernels.SMALL + 1, np.int64), ()))
    assert compiled() == 1


def test_words_may_begin_anew():
    made = kernel_with(wraps=True)(add.py_func)
    with plainly():
        assert made(np.uint64(2**64 - 1), np.uint64(3)) == 2


def test_a_first_small_release_compiles_nothing(people, tmp_path):
    """In a new process whose cache is empty: no kernel of a partition is in it afterwards."""
    import pyarrow.parquet as pq

    pq.write_table(people.slice(0, 500), tmp_path / "people.parquet")
    act = (
        "import sys; from discreet import Policy, publish\n"
        f"publish(sys.argv[1], Policy(**{ROLES!r}, partition='local', guarantee={{'l': 3}}), to=sys.argv[2])"
    )
    places = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "ignore", "-c", act, str(tmp_path / "people.parquet"), str(tmp_path / "release")]
    subprocess.run(command, check=True, env={**os.environ, **places})
    assert not [path for path in Path(tmp_path / "cache").rglob("*.nbi") if "partition" in str(path)]
