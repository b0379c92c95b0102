"""`discreet.risks` of releases and tables: classes as attackers see them, and populations beside them."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import discreet
from discreet.audit.enclosed import enclosing, read_shown
from discreet.errors import InputError

CHANCE = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "age": pd.array(np.where(CHANCE.random(300) < 0.05, None, CHANCE.integers(20, 45, 300)), dtype="Int64"),
        "town": CHANCE.choice(["a", "b", "c", None], 300),
        "ill": CHANCE.choice(["flu", "cold", "gout", "acne"], 300),
    }
)
QUASI = ["age", "town"]
METHODS = {
    "anatomy": {"publication": "anatomy", "partition": "anatomize"},
    "local": {"publication": "anatomy", "partition": "local"},
    "generalization": {"publication": "generalization", "partition": "mondrian", "options": {"cuts": "fitted"}},
    "full_permutation": {"publication": "full_permutation", "partition": "cluster"},
}


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("risks")
    made = {}
    for name, method in METHODS.items():
        policy = discreet.Policy(
            quasi=QUASI,
            sensitive="ill",
            guarantee={"l": 2},
            accept={"minimality": "this is a test", "near_limit": "this is a test", "coarse": "this is a test"},
            **method,
        )
        made[name] = discreet.publish(FRAME, policy, to=folder / name, seed=1)
    return made


def as_people(frame):
    return pa.table({name: pa.array(frame[name], from_pandas=True) for name in QUASI})


def test_a_table_and_a_release_of_its_rows_have_the_same_risks(releases):
    sizes = FRAME.groupby(QUASI, dropna=False).size()
    table = discreet.risks(FRAME, quasi=QUASI, sensitive="ill")
    assert (table.records, table.classes, table.k) == (300, len(sizes), sizes.min())
    assert table.unique == (sizes == 1).sum()
    assert table.prosecutor.average == pytest.approx(len(sizes) / 300)
    assert table.l == 1
    for name in ("anatomy", "local"):
        release = discreet.risks(releases[name].path)
        assert release.prosecutor == table.prosecutor
        assert release.l >= 2
        assert "as surely as in the private table" in release.notes[0]


def test_boxes_and_shuffled_groups_are_classes(releases):
    boxes, shuffled = (discreet.risks(releases[name]) for name in ("generalization", "full_permutation"))
    shown = read_shown(releases["generalization"])
    assert boxes.classes == len(shown.rows)
    assert boxes.k == shown.rows.min()
    assert boxes.prosecutor.highest == 1 / shown.rows.min()
    assert shuffled.classes == releases["full_permutation"].promise.groups
    assert "No row is shown whole" in shuffled.notes[0]


def test_groups_at_most_risk_are_told_by_number(releases):
    release = releases["anatomy"]
    st = pd.read_parquet(release.file("st"))
    share = st.groupby("group")["count"].max() / st.groupby("group")["count"].sum()
    worst = discreet.risks(release).worst
    assert len(worst) == 10
    assert [of.largest_share for of in worst] == pytest.approx(share.sort_values(ascending=False).head(10).tolist())
    assert all(of.largest_share == pytest.approx(share[of.number]) for of in worst)


def test_boxes_that_hold_people_are_found(releases):
    shown = read_shown(releases["generalization"])
    found = enclosing(shown, as_people(FRAME))
    labels = {}
    for line in shown.labels.filter(pc.equal(shown.labels["column"], "town")).to_pylist():
        labels.setdefault(line["label"], set()).add(line["value"])
    boxes = shown.boxes.to_pandas()
    for i in range(len(FRAME)):
        age, town = FRAME.age[i], None if pd.isna(FRAME.town[i]) else FRAME.town[i]
        inside = []
        for j, box in boxes.iterrows():
            lacks = bool(box.age_missing)
            in_age = lacks if pd.isna(age) else not pd.isna(box.age_low) and box.age_low <= age <= box.age_high
            in_town = town in (labels[box.town] if isinstance(box.town, str) else {None})
            inside += [j] if in_age and in_town else []
        assert found.boxes[found.ends[i] : found.ends[i + 1]].tolist() == inside
        assert inside, "everybody is in a box"


def test_a_population_is_found_in_rows_and_in_boxes(releases):
    crowd = pd.concat([FRAME[QUASI], FRAME[QUASI].head(100)])
    sizes = crowd.groupby(QUASI, dropna=False).size()
    rows = discreet.risks(releases["anatomy"], population=crowd)
    like = crowd.assign(one=1).groupby(QUASI, dropna=False)["one"].transform("size").head(300)
    assert rows.journalist.average == pytest.approx((1 / like).mean())
    assert (rows.population.model, rows.population.count) == ("table", (sizes == 1).sum())
    shown, boxes = read_shown(releases["generalization"]), discreet.risks(releases["generalization"], population=crowd)
    counts = np.bincount(enclosing(shown, as_people(crowd)).boxes, minlength=len(shown.rows))
    assert boxes.journalist.average == pytest.approx(len(counts) and (shown.rows / counts).sum() / 300)
    assert boxes.journalist.highest <= boxes.prosecutor.highest


def test_a_population_of_so_many_people(releases):
    found = discreet.risks(releases["anatomy"], population=100_000)
    assert found.population.model == "pitman"
    assert found.marketer == found.journalist.average < found.prosecutor.average
    assert discreet.risks(releases["full_permutation"], population=1_000).population.model == "zayatz"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"population": 299}, "a population of 299 is smaller than the table: expected at least 300 people"),
        ({"population": 0}, "a population has people: expected at least 1, got 0"),
        ({"population": FRAME[["age"]]}, "the population has no column `town`"),
        ({"population": FRAME[QUASI].head(5)}, "a population of 5 is smaller than the table"),
        ({"population": FRAME[QUASI].astype("string").assign(age="x")}, "the population holds string where"),
        ({"quasi": ["age"]}, "a release says itself which columns it shows"),
    ],
)
def test_bad_input_of_a_release(releases, asked, message):
    with pytest.raises(InputError, match=message):
        discreet.risks(releases["anatomy"], **asked)


def test_bad_input_of_a_table(releases):
    with pytest.raises(InputError, match="which columns an outsider may know is not said"):
        discreet.risks(FRAME)
    with pytest.raises(InputError, match="the table has no rows"):
        discreet.risks(FRAME.head(0), quasi=["town"])
    with pytest.raises(InputError, match="the table has no column `towns`"):
        discreet.risks(FRAME, quasi=["towns"])
    with pytest.raises(InputError, match="people of a population cannot be found in this release"):
        discreet.risks(releases["full_permutation"], population=FRAME)


def test_one_row():
    alone = discreet.risks(FRAME.head(1), quasi=QUASI, sensitive="ill", population=10)
    assert (alone.records, alone.k, alone.unique, alone.l) == (1, 1, 1, 1)
    assert alone.prosecutor.highest == 1 > alone.journalist.highest
    assert "Risks of 1 records in 1 classes" in repr(alone)


def test_risks_on_the_command_line(releases, run, tmp_path):
    status, out, err = run("audit", releases["anatomy"].path, "--risks", "--population", "100000")
    assert (status, err) == (0, "")
    assert "prosecutor" in out
    assert "estimated by Pitman's model" in out
    assert "as surely as in the private table" in out
    FRAME[QUASI].to_parquet(tmp_path / "p.parquet")
    asked = ("--risks", "--population", tmp_path / "p.parquet", "--json")
    status, out, _ = run("audit", releases["generalization"].path, *asked)
    plain = json.loads(out)
    assert plain["population"]["model"] == "table"
    assert plain["prosecutor"]["at_risk"].keys() == {"0.05", "0.09", "0.2", "0.33"}
    status, _, err = run("audit", releases["anatomy"].path, "--risks", "--truth", tmp_path / "p.parquet")
    assert status == 1
    assert "--risks goes without attacks and without a truth" in err
