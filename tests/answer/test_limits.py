"""What a question may take: how long it is, how long it takes, and how much memory a release from anybody gets."""

import pyarrow as pa
import pytest

from discreet import Policy, ask, open_release, publish
from discreet.answer.limits import due, memory_of, unpacks
from discreet.answer.session import Session
from discreet.errors import InputError, QueryError


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    rows = pa.table({"age": list(range(60)), "ill": [i % 7 for i in range(60)]})
    policy = Policy(quasi=["age"], sensitive="ill", guarantee={"l": 3})
    return publish(rows, policy, to=tmp_path_factory.mktemp("made") / "release")


def test_two_thousand_aggregates(release):
    wanted = ", ".join(f"SUM(age + {i})" for i in range(2_000))
    with pytest.raises(QueryError, match="asks for more than 100 columns") as caught:
        release.ask(f"SELECT {wanted} FROM microdata WHERE ill = 3")
    assert "some at a time" in caught.value.hint


def test_a_hundred_aggregates(release):
    wanted = ", ".join(f"COUNT(*) AS c{i}" for i in range(100))
    assert release.ask(f"SELECT {wanted} FROM microdata").rows()[0]["c99"] == 60


def test_a_question_without_end(release):
    with pytest.raises(QueryError, match=r"has 500,0.. characters, more than 200,000"):
        release.ask("SELECT COUNT(*) FROM microdata WHERE age = 1" + " " * 500_000)


def test_a_time_limit_stops_the_engine(release, monkeypatch):
    """A query that would take minutes, in the place of the one that answers."""
    with Session(release) as session:
        run = session.sealed.engine.run
        forever = "SELECT COUNT(*) AS n FROM range(100000000000) AS t(i) WHERE hash(i) = 3"
        monkeypatch.setattr(session.sealed.engine, "run", lambda query: run(forever))
        with pytest.raises(QueryError, match=r"was not answered within 0\.2 seconds") as caught:
            session.ask("SELECT COUNT(*) FROM microdata", timeout=0.2)
        assert "timeout" in caught.value.hint
        monkeypatch.undo()
        assert session.ask("SELECT COUNT(*) FROM microdata", timeout=60).rows()[0]["count"] == 60


def test_a_time_limit_that_is_late(release, monkeypatch):
    """Nothing is answered after its time, even if no query was running when it came."""
    with Session(release) as session:
        monkeypatch.setattr("discreet.answer.limits.monotonic", iter([0.0, 5.0, 5.0]).__next__)
        with pytest.raises(QueryError, match="was not answered within 1 seconds"):
            session.ask("SELECT COUNT(*) FROM microdata", timeout=1)


def test_an_interrupt_is_still_one(release, monkeypatch):
    with Session(release) as session:

        def stop(query):
            raise KeyboardInterrupt

        monkeypatch.setattr(session.sealed.engine, "run", stop)
        with pytest.raises(KeyboardInterrupt):
            session.ask("SELECT COUNT(*) FROM microdata", timeout=60)


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_times_that_are_no_limits(release, timeout):
    with pytest.raises(InputError, match="is not a time limit"):
        ask(release, "SELECT COUNT(*) FROM microdata", timeout=timeout)


def test_memory_is_in_proportion_to_the_files(release):
    assert due(release) == 1 << 30
    assert memory_of(release) == "1073MB"
    assert not unpacks(release)
    claimed = release.manifest.discreet.model_copy(update={"rows": 100_000_000})
    inflated = type(release)(release.path, release.manifest.model_copy(update={"discreet": claimed}))
    assert unpacks(inflated)


def test_a_memory_limit_of_ones_own(release):
    with open_release(release.path, memory_limit="300MB") as opened:
        assert memory_of(opened) == "300MB"
        assert opened.ask("SELECT COUNT(*) FROM microdata").rows()[0]["count"] == 60
    with (
        open_release(release.path, memory_limit="lots") as opened,
        pytest.raises(InputError, match="not a memory limit"),
    ):
        opened.ask("SELECT COUNT(*) FROM microdata")


def test_limits_in_the_shell(run, release):
    question = "SELECT COUNT(*) FROM microdata"
    assert run("ask", release.path, question, "--timeout", "30", "--memory-limit", "500MB")[0] == 0
    assert run("ask", release.path, question, "--timeout", "0")[0] == 0
    status, _, err = run("ask", release.path, question, "--memory-limit", "lots")
    assert (status, "is not a memory limit" in err) == (1, True)
