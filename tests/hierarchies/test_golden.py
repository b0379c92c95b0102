"""Small hierarchies, worked out by hand."""

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from discreet.hierarchies import load

ILLS = {"any": {"respiratory": ["flu", "bronchitis"], "other": {"bones": ["fracture"], "migraine": {}}}}


def levels(spec, values, folder=None, type_=None):
    return load(spec, "x", folder).levels(pa.array(values, type_), "x")


def written(folder, text, name="h.csv"):
    (folder / name).write_text(text, encoding="utf-8")
    return name


def test_level_table(tmp_path):
    name = written(tmp_path, "flu;respiratory;*\nfracture;bones;*\nbronchitis;respiratory;*\nmigraine;head;*\n")
    found = levels(name, ["bronchitis", "flu", "fracture"], tmp_path)
    assert found.nodes.tolist() == [[0, 1, 2], [0, 0, 1], [0, 0, 0]]
    assert found.nodes.dtype == np.int32
    assert found.labels == (("bronchitis", "flu", "fracture"), ("respiratory", "bones"), ("*",))
    assert found.values["respiratory"] == ("flu", "bronchitis")
    assert found.values["*"] == ("flu", "fracture", "bronchitis", "migraine")  # migraine is not in the table
    assert found.values["flu"] == ("flu",)
    assert "head" not in found.values
    assert found.lows is None
    assert found.highs is None
    assert found.height == 2


@pytest.mark.parametrize(
    "text",
    [
        "a;x;*\nb;x;*\nc;y;*",
        "a,x,*\r\nb,x,*\r\nc,y,*\r\n",
        "a\tx\t*\nb\tx\t*\nc\ty\t*\n",
        '\ufeff"a";"x";"*"\n\nb;x;*\nc;y;*\n\n',
        "a;x;*\nb;x;*\na;x;*\nc;y;*",  # the same path twice
    ],
    ids=["semicolon", "comma", "tab", "mark, quotes, empty lines", "twice"],
)
def test_signs_between_fields(tmp_path, text):
    found = levels(written(tmp_path, text), ["a", "b", "c"], tmp_path)
    assert found.nodes.tolist() == [[0, 1, 2], [0, 0, 1], [0, 0, 0]]
    assert found.labels[1:] == (("x", "y"), ("*",))


def test_semicolons_win_over_decimal_commas(tmp_path):
    found = levels(written(tmp_path, "1,5;0,0-2,0;*\n2,5;2,0-4,0;*\n"), ["1,5", "2,5"], tmp_path)
    assert found.labels[1] == ("0,0-2,0", "2,0-4,0")


def test_quoted_fields_hold_the_sign(tmp_path):
    found = levels(written(tmp_path, '17,"[15, 20[",*\n20,"[20, 25[",*\n'), [17, 20], tmp_path)
    assert found.labels == (("17", "20"), ("[15, 20[", "[20, 25["), ("*",))


def test_tree_is_padded_at_the_bottom():
    found = levels({"tree": ILLS}, ["bronchitis", "flu", "fracture", "migraine"])
    assert found.nodes.tolist() == [[0, 1, 2, 3], [0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
    assert found.labels[1:] == (("bronchitis", "flu", "bones", "migraine"), ("respiratory", "other"), ("any",))
    assert found.values["other"] == ("fracture", "migraine")
    assert found.values["any"] == ("flu", "bronchitis", "fracture", "migraine")


def test_tree_from_files(tmp_path):
    written(tmp_path, json.dumps(ILLS), "ills.json")
    written(
        tmp_path,
        '[any]\nrespiratory = ["flu", "bronchitis"]\n[any.other]\nbones = ["fracture"]\nmigraine = {}\n',
        "ills.toml",
    )
    values = ["bronchitis", "flu", "fracture", "migraine"]
    inline = levels({"tree": ILLS}, values)
    for name in ("ills.json", "ills.toml"):
        found = levels(name, values, tmp_path)
        assert found.nodes.tolist() == inline.nodes.tolist()
        assert found.labels == inline.labels
        assert found.values == inline.values


@pytest.mark.parametrize(
    ("tree", "root"),
    [
        ({"a": {}, "b": {}}, "*"),
        ({"all": {"a": {}, "b": {}}}, "all"),
        ({"g": ["a"], "h": ["b"]}, "*"),
        ({"all": ["a", "b", "a"]}, "all"),
    ],
)
def test_one_top_is_the_root(tree, root):
    found = levels({"tree": tree}, ["a", "b"])
    assert found.labels[-1] == (root,)
    assert found.values[root] == ("a", "b")
    assert found.nodes[-1].tolist() == [0, 0]


def test_a_tree_of_one_value():
    found = levels({"tree": {"a": {}}}, ["a"])
    assert found.labels == (("a",), ("*",))


def test_a_text_with_two_meanings_gets_its_level(tmp_path):
    name = written(tmp_path, "Other;Misc;*\nx;Other;*\ny;Other;*\n")
    found = levels(name, ["Other", "x", "y"], tmp_path)
    assert found.labels == (("Other", "x", "y"), ("Misc", "Other (level 1)"), ("*",))
    assert found.values["Other"] == ("Other",)
    assert found.values["Other (level 1)"] == ("x", "y")


def test_a_value_below_a_label_of_its_name(tmp_path):
    name = written(tmp_path, "Other;Other;*\nx;Other;*\nz;Z;*\n")
    found = levels(name, ["Other", "x", "z"], tmp_path)
    assert found.labels[1] == ("Other (level 1)", "Z")
    assert found.values["Other (level 1)"] == ("Other", "x")


def test_a_text_that_goes_on_keeps_its_name(tmp_path):
    name = written(tmp_path, "80;>=80;>=80;*\n81;>=80;>=80;*\n1;1-9;1-79;*\n")
    found = levels(name, [1, 80, 81], tmp_path)
    assert found.labels[1:] == (("1-9", ">=80"), ("1-79", ">=80"), ("*",))
    assert found.values[">=80"] == ("80", "81")
    alone = levels(written(tmp_path, "a;Other;*\nOther;Other;*\nc;Other;*\n"), ["a"], tmp_path)
    assert alone.labels[1] == ("Other (level 1)",)  # also where the table holds only a part


def test_names_given_out_are_never_taken(tmp_path):
    name = written(tmp_path, "b;a;*\nc;a;*\na;d;*\na (level 1);e;*\n")
    found = levels(name, ["a", "a (level 1)", "b"], tmp_path)
    assert found.labels[1] == ("d", "e", "a (level 1) (level 1)")
    assert found.values["a (level 1)"] == ("a (level 1)",)


def test_the_root_may_take_in_values_early(tmp_path):
    found = levels(written(tmp_path, "?;*;*\nx;A;*\n"), ["?", "x"], tmp_path)
    assert found.labels == (("?", "x"), ("*", "A"), ("* (level 2)",))
    assert found.values["*"] == ("?",)
    assert found.values["* (level 2)"] == ("?", "x")


def test_a_padded_value_and_a_label_of_the_same_name():
    found = levels({"tree": {"any": {"g": {"x": ["a", "b"]}, "h": ["x"]}}}, ["a", "b", "x"])
    assert found.labels[1] == ("x (level 1)", "x")
    assert found.values["x"] == ("x",)
    assert found.values["x (level 1)"] == ("a", "b")


MOMENT = dt.datetime(2020, 2, 3, 4, 5, 6)  # noqa: DTZ001 - the tables have none


@pytest.mark.parametrize(
    ("spelled", "value", "type_", "text"),
    [
        ("01", 1, pa.int8(), "1"),
        ("1.0", 1, pa.int64(), "1"),
        ("-7", -7, pa.int64(), "-7"),
        ("18446744073709551615", 2**64 - 1, pa.uint64(), "18446744073709551615"),
        ("1", 1.0, pa.float64(), "1"),
        ("1.50", 1.5, pa.float64(), "1.5"),
        ("0.1", 0.1, pa.float32(), "0.1"),
        ("1.5", Decimal("1.50"), pa.decimal128(5, 2), "1.50"),
        ("12", Decimal(12), pa.decimal128(38, 0), "12"),
        ("2020-02-03", dt.date(2020, 2, 3), pa.date32(), "2020-02-03"),
        ("2020-02-03", dt.date(2020, 2, 3), pa.date64(), "2020-02-03"),
        ("2020-02-03T04:05:06", MOMENT, pa.timestamp("s"), "2020-02-03 04:05:06"),
        ("2020-02-03 04:05:06.000", MOMENT, pa.timestamp("ns"), "2020-02-03 04:05:06.000000000"),
        ("2020-02-03 05:05:06+01:00", MOMENT, pa.timestamp("s", "UTC"), "2020-02-03 04:05:06Z"),
        ("04:05", dt.time(4, 5), pa.time64("us"), "04:05:00.000000"),
        ("TRUE", True, pa.bool_(), "true"),
        ("a b", "a b", pa.large_string(), "a b"),
    ],
)
def test_values_match_by_what_they_mean(tmp_path, spelled, value, type_, text):
    name = written(tmp_path, f"{spelled};g;*\nno value at all;h;*\n")
    found = levels(name, [value], tmp_path, type_)
    assert found.labels == ((text,), ("g",), ("*",))
    assert found.values["*"] == ((text,) if text != "a b" else (text, "no value at all"))


def test_values_of_a_tree_match_by_what_they_mean():
    assert levels({"tree": {"any": [1, 2]}}, [1, 2]).labels[0] == ("1", "2")
    assert levels({"tree": {"any": [True, False]}}, [False, True]).labels[0] == ("false", "true")
    assert levels({"tree": {"any": [0.5, Decimal("1.5")]}}, [0.5, 1.5]).labels[0] == ("0.5", "1.5")
    assert levels({"tree": {"any": [dt.date(2020, 1, 1)]}}, [dt.date(2020, 1, 1)]).labels[0] == ("2020-01-01",)
    assert levels({"tree": {"any": ["", "a"]}}, ["", "a"]).values["any"] == ("", "a")


def test_values_that_the_type_cannot_hold_are_left_out(tmp_path):
    name = written(tmp_path, "?;unknown;*\n1;low;*\n300;high;*\n1.5;low;*\n1e999999999;high;*\n1_0;low;*\n")
    found = levels(name, [1], tmp_path, pa.int8())
    assert found.values["*"] == ("1",)
    assert levels(name, [1], tmp_path, pa.int64()).values["*"] == ("1", "300")
    assert levels(name, [1], tmp_path, pa.decimal128(3, 1)).values["*"] == ("1.0", "1.5")


def test_the_same_value_in_two_spellings(tmp_path):
    found = levels(written(tmp_path, "1;g;*\n01;g;*\n"), [1], tmp_path)
    assert found.values["g"] == ("1",)


def test_intervals_of_whole_numbers():
    found = levels({"intervals": [5, 10], "origin": 1}, [-4, 0, 1, 5, 6, 10, 11], None, pa.int32())
    assert found.nodes.tolist() == [[0, 1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 2, 2, 3], [0, 0, 1, 1, 1, 1, 2], [0] * 7]
    assert [low.to_pylist() for low in found.lows[1:]] == [[-4, 1, 6, 11], [-9, 1, 11], [None]]
    assert [high.to_pylist() for high in found.highs[1:]] == [[0, 5, 10, 15], [0, 10, 20], [None]]
    assert all(end.type == pa.int32() for end in (*found.lows, *found.highs))
    assert found.lows[0].equals(found.highs[0])
    assert found.labels[1:] == (
        ("[-4, 0]", "[1, 5]", "[6, 10]", "[11, 15]"),
        ("[-9, 0]", "[1, 10]", "[11, 20]"),
        ("*",),
    )
    assert found.values == {}


def test_intervals_stop_where_the_type_does():
    found = levels({"intervals": [100]}, [-128, 127], None, pa.int8())
    assert found.lows[1].to_pylist() == [-128, 100]
    assert found.highs[1].to_pylist() == [-101, 127]
    large = levels({"intervals": [10]}, [0, 2**64 - 1], None, pa.uint64())
    assert large.highs[1].to_pylist() == [9, 2**64 - 1]
    small = levels({"intervals": [500]}, [Decimal("-9.99"), Decimal("9.99")], None, pa.decimal128(3, 2))
    assert small.lows[1].to_pylist() == [Decimal("-9.99"), Decimal("0.00")]


def test_intervals_of_floats_are_counted_in_decimals():
    found = levels({"intervals": [0.1, 0.5]}, [-0.05, 0.0, 0.3, 0.7, 1.1, 1.2])
    assert found.lows[1].to_pylist() == [-0.1, 0.0, 0.3, 0.7, 1.1, 1.2]
    assert found.highs[1].to_pylist() == [0.0, 0.1, 0.4, 0.8, 1.2, 1.3]
    assert found.nodes[2].tolist() == [0, 1, 1, 2, 3, 3]
    assert found.labels[2] == ("[-0.5, 0)", "[0, 0.5)", "[0.5, 1)", "[1, 1.5)")
    single = levels({"intervals": [0.1]}, [0.1, 0.3], None, pa.float32())
    assert single.lows[1].equals(pa.array([0.1, 0.3], pa.float32()))


def test_intervals_of_decimals():
    values = [Decimal("0.00"), Decimal("0.24"), Decimal("0.25")]
    found = levels({"intervals": [Decimal("0.25"), 1.0]}, values, None, pa.decimal128(6, 2))
    assert found.nodes.tolist() == [[0, 1, 2], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert found.highs[1].to_pylist() == [Decimal("0.25"), Decimal("0.50")]
    assert found.labels[2] == ("[0.00, 1.00)",)


def test_wide_numbers_are_whole():
    found = levels({"intervals": [10]}, [Decimal(10**30 + 5)], None, pa.decimal128(38, 0))
    assert found.highs[1].to_pylist() == [Decimal(10**30 + 9)]


@pytest.mark.parametrize("extreme", [1.7e308, -1.7e308, 5e-324])
def test_intervals_of_extreme_floats(extreme):
    found = levels({"intervals": [1e308]}, [extreme])
    low, high = found.lows[1][0].as_py(), found.highs[1][0].as_py()
    assert low <= extreme <= high
    assert np.isfinite([low, high]).all()


def test_the_calendar():
    days = [dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2020, 2, 29), dt.date(2020, 3, 1), dt.date(2020, 4, 1)]
    found = levels({"dates": ["month", "quarter", "year", "decade"]}, days)
    assert found.nodes[1:].tolist() == [[0, 1, 2, 3, 4], [0, 1, 2, 2, 3], [0, 1, 2, 2, 2], [0, 1, 2, 2, 2], [0] * 5]
    assert found.labels[1:] == (
        ("1969-12", "1970-01", "2020-02", "2020-03", "2020-04"),
        ("1969-Q4", "1970-Q1", "2020-Q1", "2020-Q2"),
        ("1969", "1970", "2020"),
        ("1960s", "1970s", "2020s"),
        ("*",),
    )
    assert found.lows[2].to_pylist()[0] == dt.date(1969, 10, 1)
    assert found.highs[2].to_pylist() == [
        dt.date(1969, 12, 31),
        dt.date(1970, 3, 31),
        dt.date(2020, 3, 31),
        dt.date(2020, 6, 30),
    ]
    assert found.highs[4].to_pylist() == [dt.date(1969, 12, 31), dt.date(1979, 12, 31), dt.date(2029, 12, 31)]
    assert found.lows[5].to_pylist() == [None]
    assert all(end.type == pa.date32() for end in (*found.lows, *found.highs))


def test_weeks_begin_on_monday():
    days = [dt.date(2020, 12, 27) + dt.timedelta(n) for n in (0, 1, 7, 8)]
    found = levels({"dates": ["week"]}, days)
    assert found.labels[1] == ("2020-W52", "2020-W53", "2021-W01")
    assert found.nodes[1].tolist() == [0, 1, 1, 2]
    assert found.lows[1].to_pylist() == [dt.date(2020, 12, 21), dt.date(2020, 12, 28), dt.date(2021, 1, 4)]


def test_week_numbers_are_those_of_iso():
    days = [dt.date(1965, 1, 1) + dt.timedelta(n) for n in range(0, 30_000, 3)]
    found = levels({"dates": ["week"]}, days)
    expected = ["{}-W{:02}".format(*day.isocalendar()[:2]) for day in days]
    assert [found.labels[1][node] for node in found.nodes[1]] == expected


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_end_where_the_next_begin(unit):
    found = levels({"dates": ["day", "month"]}, [MOMENT], None, pa.timestamp(unit))
    assert found.labels[1:] == (("2020-02-03",), ("2020-02",), ("*",))
    ends = [found.lows[2], found.highs[2]]
    assert all(end.type == pa.timestamp(unit) for end in ends)
    assert [str(end[0].cast(pa.date32())) for end in ends] == ["2020-02-01", "2020-03-01"]


def test_the_calendar_stops_where_the_type_does():
    least, most = -(2**63) + 1, 2**63 - 1
    found = levels({"dates": ["year", "decade"]}, pa.array([least, most]).cast(pa.timestamp("ns")))
    lows, highs = (end[2].cast(pa.int64()).to_pylist() for end in (found.lows, found.highs))
    assert lows[0] <= least <= highs[0]
    assert lows[1] <= most <= highs[1]


def test_masks():
    found = levels({"masks": [1, 2, 5]}, ["1", "10115", "10117", "10245", "9x"])
    assert found.labels == (
        ("1", "10115", "10117", "10245", "9x"),
        ("*", "1011*", "1024*", "9*"),
        ("*", "101**", "102**", "**"),
        ("*", "*****", "**"),
        ("* (level 4)",),
    )
    assert found.nodes.tolist() == [[0, 1, 2, 3, 4], [0, 1, 1, 2, 3], [0, 1, 1, 2, 3], [0, 1, 1, 1, 2], [0] * 5]
    assert found.values["1011*"] == ("10115", "10117")
    assert found.values["*"] == ("1",)
    assert found.values["* (level 4)"] == ("1", "10115", "10117", "10245", "9x")
    assert found.lows is None


def test_masks_of_whole_numbers():
    found = levels({"masks": [2]}, [-5, 123, 145, 20_000])
    assert found.labels[1:] == (("**", "1**", "200**"), ("*",))


@pytest.mark.parametrize(
    ("spec", "type_"),
    [
        ({"tree": ILLS}, pa.string()),
        ({"intervals": [5, 10]}, pa.int64()),
        ({"intervals": [5, 10]}, pa.float64()),
        ({"dates": ["month"]}, pa.date32()),
        ({"masks": [1]}, pa.string()),
    ],
)
def test_a_column_without_values(spec, type_):
    found = levels(spec, [], None, type_)
    assert found.nodes.shape == (found.height + 1, 0)
    assert found.labels == ((),) * (found.height + 1)
    assert found.lows is None or [len(low) for low in found.lows] == [0] * (found.height + 1)
