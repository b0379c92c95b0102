"""Releases that live in a database: a schema of its own, with the tables, their keys, the manifest and every file."""
