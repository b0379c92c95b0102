"""An attacker against harmless values: he holds the files of a release, knows who is in it, and goes through all worlds.

Nothing of `discreet` but `publish` is used: the files are read with Arrow, and every way to give a group's values to its
people is tried. He may also know of anybody whether the person holds a harmless value, of everybody or of some.
"""

import itertools
from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet import Policy, publish
from discreet.errors import GuaranteeError, PolicyError

SMALL = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(folder):
    """The people of each group, by their quasi-identifier, and its values."""
    qit, counts = (pq.read_table(folder / f"{name}.parquet").to_pylist() for name in ("qit", "st"))
    people, values = {}, {}
    for row in qit:
        people.setdefault(row["group"], []).append(row["q"])
    for row in counts:
        values.setdefault(row["group"], []).extend([row["s"]] * row["count"])
    return [(people[group], values[group]) for group in people]


def worlds(people, values):
    """Every way to give the values to the people, each as often as it is drawn."""
    return [dict(zip(people, order, strict=True)) for order in itertools.permutations(values)]


def believed(possible, person):
    """How likely the attacker thinks each value of a person, all worlds that he thinks possible being alike."""
    found = Counter(world[person] for world in possible)
    return {value: Fraction(times, len(possible)) for value, times in found.items()}


@st.composite
def tables(draw):
    """Up to nine people, of whom some hold a harmless 0 or 5."""
    values = draw(st.lists(st.integers(0, 5), min_size=4, max_size=9))
    return {"q": list(range(len(values))), "s": values}


@SMALL
@given(
    columns=tables(),
    l=st.integers(2, 3),
    partition=st.sampled_from(["deal", "anatomize", "local", "topdown"]),
    data=st.data(),
)
def test_nobody_is_believed_to_hold_a_sensitive_value_with_more_than_1_in_l(
    columns, l, partition, data, tmp_path_factory
):
    truth, named = dict(zip(columns["q"], columns["s"], strict=True)), [v for v in (0, 5) if v in columns["s"]]
    rules = {"guarantee": {"l": l}, "partition": partition, "accept": {"looks": "he does not ask why"}}
    policy = Policy(quasi=["q"], sensitive="s", harmless=named, **rules)
    folder = tmp_path_factory.mktemp("r") / "r"
    try:
        publish(pa.table(columns), policy, to=folder)
    except (GuaranteeError, PolicyError):  # he has nothing to look at: it was refused
        return
    known = data.draw(st.sets(st.sampled_from(columns["q"])))  # of these he knows whether they hold a harmless value
    for people, values in read(folder):
        if len(people) > 7:  # 7! worlds
            continue
        possible = worlds(people, values)
        informed = [w for w in possible if all((w[p] in named) == (truth[p] in named) for p in known & {*people})]
        assert informed
        for person, view in itertools.product(people, (possible, informed)):
            belief = believed(view, person)
            assert all(chance <= Fraction(1, l) for value, chance in belief.items() if value not in named)


def test_all_tables_of_five_people(tmp_path):
    """Every table over one harmless value and three others, at l = 2, whatever he knows of whoever holds the 0."""
    judged = 0
    for number, values in enumerate(itertools.combinations_with_replacement(range(4), 5)):
        others = Counter(value for value in values if value)
        policy = Policy(quasi=["q"], sensitive="s", guarantee={"l": 2}, partition="deal", harmless=[0])
        feasible = 0 in values and others and 2 * max(others.values()) <= others.total()
        try:
            publish(pa.table({"q": range(5), "s": values}), policy, to=tmp_path / str(number))
        except (GuaranteeError, PolicyError):
            assert not feasible
            continue
        assert feasible
        for people, held in read(tmp_path / str(number)):
            for known in itertools.chain.from_iterable(itertools.combinations(people, n) for n in range(3)):
                possible = [w for w in worlds(people, held) if all((w[p] == 0) == (values[p] == 0) for p in known)]
                for person in people:
                    belief = believed(possible, person)
                    assert max((chance for value, chance in belief.items() if value), default=0) <= Fraction(1, 2)
                    judged += 1
    assert judged > 100


def test_without_the_second_condition_a_worker_would_be_known(tmp_path):
    """Had groups only to keep each sensitive value at 1/l of all rows, three zeros and a wage would do at l = 4."""
    alone = worlds(["a", "b", "c", "bob"], [0, 0, 0, 57])
    assert believed(alone, "bob") == {0: Fraction(3, 4), 57: Fraction(1, 4)}
    assert believed([world for world in alone if world["bob"] != 0], "bob") == {57: 1}
    policy = Policy(quasi=["q"], sensitive="s", guarantee={"l": 4}, harmless=[0])
    with pytest.raises(GuaranteeError, match="the value 57 of `s` is held by 1 of 1 rows"):
        publish(pa.table({"q": range(4), "s": [0, 0, 0, 57]}), policy, to=tmp_path / "r")


def test_what_is_not_promised_whether_somebody_holds_a_harmless_value(tmp_path):
    """Where people without work live apart from the others, cells differ, and so does how likely somebody works."""
    columns = {"q": range(200), "s": [0] * 40 + [1 + 67 * i % 160 for i in range(160)]}
    policy = Policy(quasi=["q"], sensitive="s", guarantee={"l": 3}, partition="topdown", harmless=[0])
    publish(pa.table(columns), policy, to=tmp_path / "r", seed=1)
    idle = {Fraction(values.count(0), len(values)) for _, values in read(tmp_path / "r")}
    assert min(idle) == 0  # everybody there is known to work, at a wage that is 1 of 3 or more
    assert max(idle) > Fraction(1, 2)
