"""The trees of a vault: boxes, cuts and leaves, and the way of a row to its leaf."""
