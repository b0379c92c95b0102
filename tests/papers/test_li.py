"""The worked examples of Li et al., "Permutation anonymization" (J. Intell. Inf. Syst. 2015)."""

from collections import Counter
from fractions import Fraction
from itertools import permutations
from statistics import mean, pstdev

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.publication.publish import publish_groups

TABLE_1 = {
    "Bob": (65, "M", "Emphysema"),
    "Alex": (50, "M", "Cancer"),
    "Jane": (70, "F", "Flu"),
    "Lily": (55, "F", "Gastritic"),
    "Andy": (90, "F", "Dyspepsia"),
    "Mary": (45, "M", "Flu"),
    "Linda": (50, "F", "Pneumonia"),
    "Lucy": (40, "F", "Gastritic"),
    "Sarah": (10, "M", "Bronchitis"),
}
SIZES = (5, 4)
GROUPS = np.repeat([0, 1], SIZES).astype(np.int32)
# Table 4. Of PST the text prints one row less and Gastritis beside Gastritic; the values are those of table 1.
TABLE_4_PQT = [
    *((50, "F", 1), (90, "M", 1), (70, "F", 1), (65, "F", 1), (55, "M", 1)),
    *((50, "M", 2), (10, "F", 2), (45, "M", 2), (40, "F", 2)),
]
TABLE_4_PST = [
    *((1, ill) for ill in ("Cancer", "Dyspepsia", "Emphysema", "Flu", "Gastritic")),
    *((2, ill) for ill in ("Bronchitis", "Flu", "Gastritic", "Pneumonia")),
]
QUERY = "SELECT COUNT(*) FROM microdata WHERE Age BETWEEN 40 AND 70 AND Sex = 'F' AND Disease = 'Flu'"


def microdata():
    age, sex, disease = zip(*TABLE_1.values(), strict=True)
    return pa.table({"Name": list(TABLE_1), "Age": age, "Sex": sex, "Disease": disease})


def published(to, **changes):
    rules = {
        "identifiers": ["Name"],
        "quasi": ["Age", "Sex"],
        "sensitive": "Disease",
        "guarantee": {"l": 4},
        "publication": "full_permutation",
        "partition": "deal",  # not used: the groups are the paper's
        **changes,
    }
    policy = discreet.Policy(**rules)
    with discreet.read(microdata()) as table:
        codes = None if policy.sensitive is None else table.codes(policy.sensitive)
        return publish_groups(table, policy, codes, GROUPS, to=to)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Table 1 published with the groups of table 2: the first five people and the last four."""
    return published(tmp_path_factory.mktemp("paper") / "release")


def rows(release, name):
    return [tuple(row.values()) for row in pq.read_table(release.file(name)).to_pylist()]


def by_column(pqt):
    """The values of each column in each group: all that the table of a full permutation tells."""
    return Counter((row[-1], i, value) for row in pqt for i, value in enumerate(row[:-1]))


def test_table_4_is_one_of_the_tables_that_may_be_published(release):
    pqt, pst = rows(release, "pqt"), rows(release, "pst")
    assert pq.read_schema(release.file("pqt")).names == ["Age", "Sex", "group"]
    assert pq.read_schema(release.file("pst")).names == ["group", "Disease"]
    assert by_column(pqt) == by_column(TABLE_4_PQT)
    assert pst == TABLE_4_PST
    assert release.verify().ok


def test_the_truth_is_1():
    assert sum(40 <= age <= 70 and (sex, ill) == ("F", "Flu") for age, sex, ill in TABLE_1.values()) == 1


def test_example_2_permutation_anonymization_answers_0_855(release):
    [answer] = release.ask(QUERY).rows()
    assert answer["count"] == pytest.approx(4 / 5 * 3 / 5 + 3 / 4 * 2 / 4) == pytest.approx(0.855)


def test_example_2_by_trying_every_permutation(release):
    """In each group one person has the flu: mean, deviation and extremes over all that may stand in one row."""
    [answer] = release.ask(QUERY).rows()
    worlds = []
    for size, start in zip(SIZES, (0, 5), strict=True):
        group = list(TABLE_1.values())[start : start + size]
        ages, women = [40 <= age <= 70 for age, _, _ in group], [sex == "F" for _, sex, _ in group]
        orders = list(permutations(range(size)))
        # whoever stands first has the flu
        worlds.append([ages[a[0]] and women[s[0]] for a in orders for s in orders])
    assert answer["count"] == pytest.approx(sum(map(mean, worlds)))
    assert answer["count_stderr"] == pytest.approx(sum(pstdev(map(int, each)) ** 2 for each in worlds) ** 0.5)
    assert (answer["count_low"], answer["count_high"]) == (sum(map(min, worlds)), sum(map(max, worlds))) == (0, 2)


def test_example_1_anatomy_answers_0_9(tmp_path):
    [answer] = published(tmp_path / "r", publication="anatomy").ask(QUERY).rows()
    assert answer["count"] == pytest.approx(2 / 5 + 2 / 4) == pytest.approx(0.9)


def test_example_1_generalization_answers_3_of_8(tmp_path):
    """Ages as real numbers: the paper measures lengths, not whole years."""
    age, sex, disease = zip(*TABLE_1.values(), strict=True)
    columns = {"Age": pa.array(age, pa.float64()), "Sex": sex, "Disease": disease}
    policy = discreet.Policy(
        quasi=["Age", "Sex"], sensitive="Disease", guarantee={"l": 4}, publication="generalization"
    )
    with discreet.read(pa.table(columns)) as table:
        made = publish_groups(table, policy, table.codes("Disease"), GROUPS, to=tmp_path / "r")
    [answer] = made.ask(QUERY).rows()
    assert answer["count"] == pytest.approx(1 / 4 + 1 / 8) == pytest.approx(3 / 8)


def presence(release, *names):
    people = microdata()
    return discreet.metrics(release, truth=people.take([list(TABLE_1).index(name) for name in names])).presence


def test_example_3_bob(release):
    """Disclosure 1/5; presence 1/5 x 2/5 (lemma 1). The formula of theorem 1 itself would say 1/50."""
    bob = presence(release, "Bob")
    assert bob.disclosure.most == pytest.approx(1 / 5)
    assert bob.presence.most == pytest.approx(2 / 25)
    assert bob.product.most == pytest.approx(2 / 125)


def test_lemma_1_for_everybody(release):
    for number, (name, (age, sex, _)) in enumerate(TABLE_1.items()):
        group = list(TABLE_1.values())[:5] if number < 5 else list(TABLE_1.values())[5:]
        ages, sexes = Counter(row[0] for row in group), Counter(row[1] for row in group)
        meant = Fraction(ages[age] * sexes[sex], len(group) ** 2)
        assert presence(release, name).presence.mean == pytest.approx(float(meant)), name
    assert discreet.metrics(release).presence.largest == pytest.approx(1 / 4 * 2 / 4)


def test_example_4_ncp_of_the_implied_generalization(release):
    found = discreet.metrics(release)
    assert found.ncp_normalised == pytest.approx((90 - 50) / 80 * 5 + (50 - 10) / 80 * 4 + 2 / 2 * 9)
    assert found.ncp_normalised == pytest.approx(13.5)


def test_equations_6_and_7(release):
    """The values of both groups differ, so that c = 1; the bound takes l = 4 where the first group has five."""
    found = discreet.metrics(release, truth=microdata()).presence
    errors, bounds = [], []
    for number, (name, row) in enumerate(TABLE_1.items()):
        delta = presence(release, name).presence.mean
        values = [ill for _, _, ill in list(TABLE_1.values())[slice(0, 5) if number < 5 else slice(5, 9)]]
        errors.append(sum(((ill == row[2]) - delta) ** 2 for ill in values))
        bounds.append(1 + 4 * delta**2 - 2 * delta)
    assert found.rce == pytest.approx(sum(errors))
    assert found.rce_bound == pytest.approx(sum(bounds))
    assert found.rce >= found.rce_bound


def test_without_a_sensitive_attribute(tmp_path):
    """Section 2.2: where all attributes are sensitive, all of them are permuted."""
    made = published(tmp_path / "r", quasi=["Age", "Sex", "Disease"], sensitive=None, guarantee={"k": 4})
    assert [resource.name for resource in made.manifest.resources] == ["pqt"]
    assert by_column(rows(made, "pqt")) == by_column(
        [(*row, group + 1) for row, group in zip(TABLE_1.values(), GROUPS.tolist(), strict=True)]
    )
    assert made.verify().ok
    [answer] = made.ask(QUERY).rows()
    assert answer["count"] == pytest.approx(5 * (4 / 5 * 3 / 5 * 1 / 5) + 4 * (3 / 4 * 2 / 4 * 1 / 4))
