"""Functions of dates in keys and conditions: what the release answers is what Python counts in the table."""

import datetime as dt

import pyarrow as pa
import pytest

from discreet import publish
from discreet.answer.instead.constants import iso
from discreet.errors import QueryError

BORN = [dt.date(1950, 1, 1) + dt.timedelta(days=137 * i) for i in range(120)]
FUNCTIONS = {
    "DAYNAME(born)": lambda day: day.strftime("%A"),
    "MONTHNAME(born)": lambda day: day.strftime("%B"),
    "ISODOW(born)": lambda day: day.isoweekday(),
    "DAYOFYEAR(born)": lambda day: day.timetuple().tm_yday,
    "LAST_DAY(born)": lambda day: (day.replace(day=28) + dt.timedelta(days=4)).replace(day=1) - dt.timedelta(days=1),
}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    rows = {"born": BORN, "height": [1.5 + i % 40 / 100 for i in range(120)], "wage": [i % 13 for i in range(120)]}
    rules = {"quasi": ["born", "height"], "sensitive": "wage", "guarantee": {"l": 3}}
    return publish(pa.table(rows), rules, to=tmp_path_factory.mktemp("dates") / "release", seed=1)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_days_are_counted_as_python_does(release, function):
    keys = [FUNCTIONS[function](day) for day in BORN]
    answer = release.ask(f"SELECT {function} AS day, SUM(wage) AS paid FROM microdata GROUP BY 1").table
    truth = {key: sum(i % 13 for i, each in enumerate(keys) if each == key) for key in {*keys}}
    assert {*answer["day"].to_pylist()} == {*truth}
    for day, low, high in zip(*(answer[name].to_pylist() for name in ("day", "paid_low", "paid_high")), strict=True):
        assert low <= truth[day] <= high


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("born > '24.12.1965'", "born > '1965-12-24'"),
        ("'12/24/1965' < born", "'1965-12-24' < born"),
        ("born BETWEEN '1.2.1960' AND '3.4.1970'", "born BETWEEN '1960-02-01' AND '1970-04-03'"),
        ("born > DATE '24.12.1965'", "born > CAST('1965-12-24' AS DATE)"),
        ("born IN ('1.1.1950', '18.5.1950')", "born IN ('1950-01-01', '1950-05-18')"),
        ("height > '1,60' AND wage < '1 200'", "height > 1.60 AND wage < 1200"),
    ],
)
@pytest.mark.parametrize("what", ["COUNT(*)", "*"])
def test_dates_and_numbers_as_a_file_has_them(release, where, wanted, what):
    """They are told as SQL writes them, also where something else is wrong with the question; and that is answered."""
    with pytest.raises(QueryError) as refused:
        release.ask(f"SELECT {what} FROM microdata WHERE {where}")
    assert refused.value.instead.endswith(f" FROM microdata WHERE {wanted}")
    assert type(refused.value) is QueryError
    assert len(release.ask(refused.value.instead)) == 1


@pytest.mark.parametrize("constant", ["'3/4/1965'", "'31.2.1965'", "'soon'", "'1.2.65'"])
@pytest.mark.parametrize("what", ["COUNT(*)", "*"])
def test_what_may_be_two_dates_or_none_is_not_guessed(release, constant, what):
    with pytest.raises(QueryError) as refused:
        release.ask(f"SELECT {what} FROM microdata WHERE born > {constant}")
    offered = refused.value.instead
    assert constant not in offered
    assert not offered or len(release.ask(offered)) > 0


def test_a_date_is_read_in_one_way_only():
    assert iso("3.4.2025") == "2025-04-03"
    assert iso("12/31/2025 08:30") == "2025-12-31 08:30"
    assert iso("4-4-2025") == "2025-04-04"
    assert iso("2025/4/3") == "2025-04-03"
    assert [iso(text) for text in ("3/4/2025", "3-4-2025", "3.4.25", "2025.13.1", "3.4", "x")] == [None] * 6
