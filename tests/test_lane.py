"""The lanes: profiles change how often a test tries, and never to less than it asks for in `ci` and `long`."""

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from lane import BUDGET, budget, place, tried


def drawn(profile):
    """How many examples a test that asks for 40 draws in a profile, by the way that the hook goes."""
    seen = []

    @settings(max_examples=40, deadline=None, database=None)
    @given(st.integers(0, 10**9))
    def test(number):
        seen.append(number)

    test._hypothesis_internal_use_settings = tried(test._hypothesis_internal_use_settings, profile)
    test()
    return len(seen)


@pytest.mark.parametrize(("profile", "least", "most"), [("fast", 1, 5), ("ci", 40, 40), ("long", 500, 500)])
def test_profiles(profile, least, most):
    assert least <= drawn(profile) <= most


def test_a_long_run_shrinks_and_draws_anew():
    found = tried(settings(max_examples=700, derandomize=True, phases=(Phase.generate,)), "long")
    assert (found.max_examples, found.derandomize, Phase.shrink in found.phases) == (700, False, True)


def test_this_run_keeps_to_its_profile(request):
    profile = request.config.getoption("--hypothesis-profile") or "ci"
    for item in request.session.items:
        if hasattr(item.obj, "is_hypothesis_test"):
            used = item.obj._hypothesis_internal_use_settings
            assert repr(used) == repr(tried(used, profile))  # settings are equal only to themselves


def test_files_have_budgets():
    assert place("tests/laws/test_bounds.py::test_x[1]") == "laws/test_bounds.py"
    assert budget("policy/test_policy.py") == BUDGET < budget("laws/test_bounds.py")
