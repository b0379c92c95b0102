"""Who has several rows: a table whose identifiers repeat is refused, with what to do."""

import re

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, compare, publish
from discreet.errors import InputError


def visits(people=1_000, each=5, seed=1):
    """The table of the issue: so many people with so many visits each."""
    chance = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), each)
    return pa.table(
        {
            "person_id": who,
            "age": chance.integers(20, 80, people)[who],
            "town": pa.array(["Aix", "Brest", "Caen"]).take(pa.array(chance.integers(0, 3, people)[who])),
            "ill": pa.array(list("abcdefgh")).take(pa.array(chance.integers(0, 8, who.size))),
        }
    )


def policy(**more):
    return Policy(
        **{"identifiers": ["person_id"], "quasi": ["age", "town"], "sensitive": "ill", "guarantee": {"l": 4}, **more}
    )


def test_repeated_people_are_refused(tmp_path):
    told = re.escape(
        "`person_id` repeats: 5,000 rows are of 1,000 people (1,080 rows repeat another in every column). Groups would count"
    )
    with pytest.raises(InputError, match=told) as refused:
        publish(visits(), policy(), to=tmp_path / "r")
    assert "one row per person" in refused.value.hint
    assert "list it in `drop`" in refused.value.hint
    with pytest.raises(InputError, match=told):
        compare(visits(), policy(), queries=1, attack=False)
    assert not list(tmp_path.iterdir())


def test_what_the_message_says_to_do_works(tmp_path):
    rows = visits()
    once = rows.take(pa.array(np.arange(0, 5_000, 5)))
    assert publish(once, policy(), to=tmp_path / "once").promise.rows == 1_000
    surname = policy(identifiers=[], drop=["person_id"])
    assert publish(rows, surname, to=tmp_path / "dropped").promise.rows == 5_000


def test_identifiers_are_looked_at_together(tmp_path):
    rows = visits().append_column("visit", pa.array(np.tile(np.arange(5), 1_000)))
    accepted = {"repeats": {"person_id": "a key of the ward", "visit": "numbered in each"}}
    both = policy(identifiers=["person_id", "visit"], accept=accepted)
    assert publish(rows, both, to=tmp_path / "r").promise.rows == 5_000
    twice = pa.concat_tables([rows, rows.slice(0, 1)])
    told = "`person_id` and `visit` repeat, taken together: 5,001 rows are of 5,000 people"
    with pytest.raises(InputError, match=told) as refused:
        publish(twice, policy(identifiers=["person_id", "visit"]), to=tmp_path / "s")
    assert "list them in `drop`" in refused.value.hint


def test_rows_without_an_identifier_are_refused(tmp_path):
    rows = visits(each=1)
    missing = rows.set_column(0, "person_id", pa.array([None, None, *range(998)]))
    with pytest.raises(InputError, match="2 rows have no `person_id`"):
        publish(missing, policy(), to=tmp_path / "r")


def test_a_part_that_is_missing_is_a_part_like_any_other(tmp_path):
    rows = visits(each=1).append_column("mail", pa.array([None] * 1_000, pa.string()))
    both = policy(identifiers=["person_id", "mail"])
    assert publish(rows, both, to=tmp_path / "r").promise.rows == 1_000
    again = pa.concat_tables([rows, rows.slice(7, 1)])
    with pytest.raises(InputError, match="1,001 rows are of 1,000 people"):
        publish(again, both, to=tmp_path / "s")


def test_rows_that_are_withheld_count_for_nobody(tmp_path):
    rows = visits(each=2)
    first = np.arange(2_000) % 2 == 0
    ill = pa.array(rows["ill"].to_pylist(), mask=~first)
    rows = rows.set_column(rows.column_names.index("ill"), "ill", ill)
    made = publish(rows, policy(missing_sensitive="withhold"), to=tmp_path / "r")
    assert (made.promise.rows, made.withheld) == (1_000, 1_000)
