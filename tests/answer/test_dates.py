"""Functions of dates in keys and conditions: what the release answers is what Python counts in the table."""

import datetime as dt

import pyarrow as pa
import pytest

from discreet import publish

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
    rows = {"born": BORN, "wage": [i % 13 for i in range(120)]}
    rules = {"quasi": ["born"], "sensitive": "wage", "guarantee": {"l": 3}}
    return publish(pa.table(rows), rules, to=tmp_path_factory.mktemp("dates") / "release", seed=1)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_days_are_counted_as_python_does(release, function):
    keys = [FUNCTIONS[function](day) for day in BORN]
    answer = release.ask(f"SELECT {function} AS day, SUM(wage) AS paid FROM microdata GROUP BY 1").table
    truth = {key: sum(i % 13 for i, each in enumerate(keys) if each == key) for key in {*keys}}
    assert {*answer["day"].to_pylist()} == {*truth}
    for day, low, high in zip(*(answer[name].to_pylist() for name in ("day", "paid_low", "paid_high")), strict=True):
        assert low <= truth[day] <= high
