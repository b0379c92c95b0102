"""Texts that look like numbers or dates: told, never guessed; and one value that does not is enough to be silent."""

import re

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Policy, publish, read
from discreet.errors import DiscreetWarning, PolicyError
from discreet.table.looks import looks

COMMA = re.compile(r"[+-]?(0|[1-9]\d*)(,\d+)?")


def seen(tmp_path, values, head="x"):
    path = tmp_path / "t.csv"
    path.write_text(f"{head};y\n" + "".join(f"{value};1\n" for value in values), encoding="utf-8")
    return [look.advice for look in looks(read(path))]


@pytest.mark.parametrize(
    ("values", "advice"),
    [
        (["1,5", "2", "-3,25"], 'set decimal = "," under [csv] in the policy'),
        (["1.234,5", "2", "12.345.678"], 'set decimal = "," and thousands = "." under [csv] in the policy'),
        (["1", "NA", "2.5"], 'set missing = ["NA"] under [csv] in the policy'),
        (["1,5", "-", "n/a", "3"], 'set decimal = "," and missing = ["-", "n/a"] under [csv] in the policy'),
        (
            ["1.800,00", "k.A.", "900"],
            'set decimal = "," and thousands = "." and missing = ["k.A."] under [csv] in the policy',
        ),
        (["31.12.2020", "1.2.2021"], 'set dates = "DD.MM.YYYY" under [csv] in the policy'),
        (["12/31/2020", "1/2/2021"], 'set dates = "MM/DD/YYYY" under [csv] in the policy'),
        (["01/02/2020", "3/4/2021"], 'set dates = "DD/MM/YYYY" or dates = "MM/DD/YYYY" under [csv] in the policy'),
        (["1 984,5", "7"], 'set decimal = "," and thousands = " " under [csv] in the policy'),
        (["1 984", "7"], 'set thousands = " " under [csv] in the policy'),
        (["1'984.5", "7"], 'set thousands = "\'" under [csv] in the policy'),
        (["1,984.5", "7"], 'set thousands = "," under [csv] in the policy'),
        (["1,984", "7,500"], 'set decimal = "," or thousands = "," under [csv] in the policy'),
        (["31.12.2020", "k. A."], 'set dates = "DD.MM.YYYY" and missing = ["k. A."] under [csv] in the policy'),
        (["12", '""'], "set missing_quoted = true under [csv] in the policy"),
        (["2020/12/31"], None),
        (["1,5", "2", "x2"], None),
        (["01,5", "2"], None),
        (["x", "-"], None),
        (["99.99.2020"], None),
        (["abc"], None),
    ],
    ids=str,
)
def test_looks(tmp_path, values, advice):
    assert seen(tmp_path, values) == ([] if advice is None else [advice])


def test_a_mark_that_is_named_already_stands_in_quotes(tmp_path):
    """Followed to the letter, the message does not come again, and what was named stays named."""
    path, csv = tmp_path / "t.csv", {}
    path.write_text('x;y\n1;NA\n2;"NA"\n3;"-"\n4;5\n', encoding="utf-8")
    for keys in ({"missing": ["-", "NA"]}, {"missing_quoted": True}, None):
        with read(path, csv=csv) as table:
            found = [look.keys for look in looks(table)]
        assert found == ([] if keys is None else [(keys,)])
        csv = {**csv, **(keys or {})}
    with read(path, csv=csv) as table:
        assert table.engine.run(table.select(["y"])).column(0).to_pylist() == [None, None, None, 5]


def test_a_frame_has_no_file_to_read_again():
    (look,) = looks(read(pa.table({"x": ["1,5", "2"]})))
    assert look.advice == "turn it into these first"
    assert list(looks(read(pa.table({"x": ["1", "2"], "y": ["00501", "02139"]})))) == [], "numbers as texts are codes"


@settings(deadline=None)
@given(values=st.lists(st.from_regex(r"[0-9]{1,3}(,[0-9]{1,2})?|[a-z,]{1,3}", fullmatch=True), min_size=1, max_size=6))
def test_looks_are_of_every_value(values):
    """By hand, without an engine: decimal commas if every value is such a number and one has a comma."""
    expected = all(COMMA.fullmatch(value) for value in values) and any("," in value for value in values)
    with read(pa.table({"x": values})) as table:
        found = [look.like for look in looks(table)]
    assert (found == ["numbers with a decimal comma"]) == expected


def test_one_of_many_values_is_enough_to_be_a_text(tmp_path):
    assert seen(tmp_path, [*(f"{i},5" for i in range(3_000)), "many"]) == []


def test_a_column_that_is_published_as_text_is_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age;wage\n" + "".join(f"{i % 5};{i % 7},5\n" for i in range(70)), encoding="utf-8")
    keys = {"quasi": ["age"], "sensitive": "wage", "guarantee": {"l": 2}}
    with pytest.warns(DiscreetWarning, match=r'text.wage: `wage` is published as text.*set decimal = ","'):
        publish(path, Policy(**keys), to=tmp_path / "text", seed=1)
    with pytest.raises(
        PolicyError, match=r'its values look like numbers with a decimal comma: set decimal = "," under'
    ):
        publish(path, Policy(**keys, publication="permutation"), to=tmp_path / "no")
    release = publish(
        path, Policy(**keys, publication="permutation", csv={"decimal": ","}), to=tmp_path / "yes", seed=1
    )
    assert release.warnings == ()
