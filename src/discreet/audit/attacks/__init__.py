"""Attacks on a release, from its files alone; one per file."""
