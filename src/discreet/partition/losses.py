from math import lcm
import numpy as np


class Ncp:
    def __init__(self, lattice):
        self.axes, self.codes = lattice.axes, lattice.codes
        self.unit = lcm(*(a.size for a in self.axes))
        self.full = len(self.axes)
        self.rows = int(lattice.lowest.sizes.sum())
        self.totals = []
        for d, axis in enumerate(self.axes):
            held = np.bincount(self.codes[:, d], weights=lattice.lowest.sizes, minlength=axis.size).astype(np.int64)
            self.totals.append([int(held @ leaves) for leaves in axis.leaves])

    def least(self):
        out = np.zeros(())
        for axis, totals in zip(self.axes, self.totals):
            out = out[..., None] + np.array(totals, float) / axis.size
        return out

    def ranks(self):
        return self.least()

    def learn(self, groups, least_above):
        pass

    def prices(self, groups, bad):
        out = np.zeros(bad.size)
        for d, axis in enumerate(self.axes):
            out += axis.leaves[groups.point[d]][self.codes[groups.firsts[bad], d]] / axis.size
        return out

    def exact(self, groups, bad):
        sizes = groups.sizes[bad]
        loss = self.full * self.unit * int(sizes.sum())
        for d, axis in enumerate(self.axes):
            lost = int(sizes.astype(np.int64) @ axis.leaves[groups.point[d]][self.codes[groups.firsts[bad], d]])
            loss += (self.totals[d][groups.point[d]] - lost) * (self.unit // axis.size)
        return loss


class Discernibility:
    unit = 1

    def __init__(self, lattice):
        self.axes, self.codes = lattice.axes, lattice.codes
        self.rows = self.full = int(lattice.lowest.sizes.sum())
        self.shape = lattice.shape
        self.pairs = []
        for d, axis in enumerate(self.axes):
            held = np.bincount(self.codes[:, d], weights=lattice.lowest.sizes, minlength=axis.size)
            self.pairs.append(
                [float(np.square(np.bincount(nodes, weights=held) / self.rows).sum()) for nodes in axis.nodes]
            )

    def least(self):
        cells = np.ones(())
        for axis in self.axes:
            cells = cells[..., None] * np.array(axis.kinds, float)
        return np.maximum(self.rows, self.rows**2 / cells)

    def ranks(self):
        out = np.ones(())
        for p in self.pairs:
            out = out[..., None] * np.array(p)
        return out

    def learn(self, groups, least_above):
        np.maximum(least_above, float(np.square(groups.sizes, dtype=np.int64).sum()), out=least_above)

    def prices(self, groups, bad):
        return groups.sizes[bad].astype(float)

    def exact(self, groups, bad):
        sizes = groups.sizes[bad]
        return int(np.square(groups.sizes, dtype=np.int64).sum() - np.square(sizes, dtype=np.int64).sum() + int(sizes.sum()) * self.rows)


Loss = Ncp
LOSSES = {"ncp": Ncp, "discernibility": Discernibility}
