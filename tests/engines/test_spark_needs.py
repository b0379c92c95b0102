"""What executors need is told for each of them where the session says how many tasks it runs at once."""

import os

import pytest

from discreet.engines.spark.needs import Needs, at_once


class Session:
    """What is asked of a session: its settings."""

    def __init__(self, **settings):
        self.conf = {f"spark.{name.replace('_', '.')}": value for name, value in settings.items()}


class OfConnect(Session):
    __module__ = "pyspark.sql.connect.session"


KNOWN = {
    "cores of a cluster": (Session(master="spark://m:7077", executor_cores="16"), 16),
    "tasks of several cores": (Session(master="yarn", executor_cores="16", task_cpus="3"), 5),
    "not said": (Session(master="spark://m:7077"), None),
    "not said to a client": (OfConnect(), None),
    "said to a client": (OfConnect(master="k8s://m", executor_cores="4", task_cpus="1"), 4),
    "one machine": (Session(master="local[3]", executor_cores="16"), 3),
    "one machine that tries again": (Session(master="local[3, 2]"), 3),
    "one core": (Session(master="local"), 1),
    "all cores of this machine": (Session(master="local[*]"), os.cpu_count()),
    "all cores of another machine": (OfConnect(master="local[*]"), None),
    "no number": (Session(master="yarn", executor_cores="many"), None),
}


@pytest.mark.parametrize("case", KNOWN)
def test_tasks_at_once(case):
    session, expected = KNOWN[case]
    assert at_once(session) == expected


def test_what_is_told():
    assert str(Needs.of(185 << 20, None)) == "185 MB for each task"
    assert str(Needs.of(185 << 20, 16)) == "185 MB for each task, 2,960 MB for each executor, which runs 16 at once"
    assert str(Needs.of(10, None)) == "1 MB for each task"
    assert Needs(100, 4).members() == {"task": 100, "tasks_at_once": 4, "executor": 400}
    assert Needs(100, None).members() == {"task": 100, "tasks_at_once": None, "executor": None}
