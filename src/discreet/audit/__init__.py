"""Audits: metrics of a release and attacks on it, from the released files alone."""
