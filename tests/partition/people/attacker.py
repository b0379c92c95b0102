"""An attacker of small tables who knows how groups of people are made; shares no code with the package.

Every *world* is tried: all ways to hand a table's values out to its rows, each as likely as any other. Of each world
groups are made again and again, and what they show is noted: who is in which group, and how often each group holds each
value. Whoever sees that believes of somebody what holds in the worlds that gave it, each as often as it did.
"""

from collections import Counter, defaultdict
from itertools import groupby
from math import factorial


def worlds(rows, values):
    """All ways to hand values out, a tuple per person in which order says nothing; and in how many orders each comes."""
    found = {()}
    for own in rows:
        found = {(*world, more) for world in found for more in _taken(_left(values, world), own)}
    return {world: _orders(world) for world in found}


def beliefs(rows, values, shown, times):
    """For everything shown, in how many worlds it was, how often, and the surest belief that somebody holds some value.

    `shown(world)` makes groups of a world and tells what anybody sees of them, or None if they cannot be made.
    """
    seen, tried = defaultdict(Counter), Counter()
    for world, orders in worlds(rows, values).items():
        for _ in range(times):
            found = shown(world)
            if found is not None:
                seen[found][world] += orders
                tried[found] += 1
    for found, fitting in seen.items():
        holds = Counter()
        for world, weight in fitting.items():
            for person, held in enumerate(world):
                holds.update({(person, value): weight for value in set(held)})
        yield len(fitting), tried[found], max(holds.values()) / fitting.total()


def _left(values, world):
    return sorted((Counter(values) - Counter(value for held in world for value in held)).elements())


def _taken(left, number):
    """The different ways to take so many of what is left."""
    if number == 0:
        return {()}
    found = set()
    for value, _ in groupby(left):
        later = left[left.index(value) + 1 :]
        found |= {(value, *more) for more in _taken(later, number - 1)}
    return found


def _orders(world):
    ways = 1
    for held in world:
        ways *= factorial(len(held))
        for times in Counter(held).values():
            ways //= factorial(times)
    return ways
