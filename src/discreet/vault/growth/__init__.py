"""How a vault grows: rows are led to leaves, wait there, and leave in groups."""
