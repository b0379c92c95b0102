"""The word in the progress bar while kernels are compiled."""

import numba.core.event as events

from discreet.cli.compiling import EVENT, WORD, Compiling


def test_the_bar_says_that_kernels_are_compiled_and_only_then():
    column = Compiling()
    assert column.render(None).plain == ""
    events.start_event(EVENT, {})
    events.start_event(EVENT, {})  # one kernel needs another
    events.end_event(EVENT, {})
    assert column.render(None).plain == WORD
    events.end_event(EVENT, {})
    assert column.render(None).plain == ""
    column.close()
    events.start_event(EVENT, {})
    assert column.render(None).plain == ""
    events.end_event(EVENT, {})
