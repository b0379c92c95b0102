"""A session of the user's is left as it is, and what is wrong with Java or a session is said."""

import os
import stat

import pytest

from discreet.engines.spark import session as sessions
from discreet.engines.spark.session import SETTINGS, beside, check_java, settled
from discreet.errors import EngineError, InputError


def state(session):
    return {name: session.conf.get(name, None) for name in SETTINGS}


@pytest.fixture(scope="module", params=["classic", "connect"])
def session(request, cluster, spark):
    return spark if request.param == "classic" else cluster.connect()


def test_a_session_beside_has_settings_of_its_own(session):
    before = state(session)
    made = beside(session)
    assert made.conf.get("spark.sql.ansi.enabled") == "true"
    assert made.conf.get("spark.sql.session.timeZone") == "UTC"
    assert state(session) == before
    assert (before["spark.sql.ansi.enabled"], before["spark.sql.session.timeZone"]) == ("false", "Asia/Tokyo")
    made.sql("SELECT 1 AS x").createOrReplaceTempView("mine")
    assert not session.catalog.tableExists("mine")


def test_settings_are_put_back_even_after_an_error(session):
    before = state(session)
    with pytest.raises(ZeroDivisionError), settled(session, SETTINGS):
        1 / (session.conf.get("spark.sql.session.timeZone") != "UTC")
    assert state(session) == before


def test_a_stopped_session_is_told(cluster):
    gone = cluster.connect()
    gone.stop()
    with pytest.raises(EngineError, match="was stopped") as caught:
        beside(gone)
    assert "start another" in caught.value.hint


def test_what_is_no_session_is_told():
    with pytest.raises(InputError, match="no session"):
        beside("spark://host")


def java(folder, version):
    """A program that says what Java says of its version."""
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.mark.parametrize("version", ["1.8.0_292", "11.0.2"])
def test_a_java_that_is_too_old_is_told(version, tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path, version)))
    with pytest.raises(EngineError, match=r"version (8|11), and Spark needs 17 or later") as caught:
        check_java()
    assert "openjdk-17" in caught.value.hint


@pytest.mark.parametrize("home", [True, False])
def test_no_java_is_told(home, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path)) if home else monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(EngineError, match="needs Java") as caught:
        check_java()
    assert "openjdk-17" in caught.value.hint


@pytest.mark.parametrize("version", ["17.0.15", "21", "25.0.1"])
def test_later_javas_will_do(version, tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path, version)))
    check_java()


def test_sizes_are_told_to_java():
    assert sessions.as_java_has_it("8GB") == "8g"
    assert sessions.as_java_has_it("500 MiB") == "500m"
    with pytest.raises(InputError, match="not a memory limit"):
        sessions.as_java_has_it("lots")


def test_the_active_session_is_taken(spark):
    assert os.environ.get("SPARK_REMOTE") is None
    spark.range(3).createOrReplaceTempView("of_this_session")
    assert sessions.started().table("of_this_session").count() == 3


def test_a_worker_that_is_killed_is_replaced(cluster, spark):
    """What the tests of lost workers rest on: others do the work, and new ones join."""
    cluster.kill_worker(0)
    assert spark.range(1000).repartition(4).selectExpr("SUM(id) AS n").collect()[0]["n"] == 499_500
    cluster.mend()
    assert len(cluster.workers) == 2
