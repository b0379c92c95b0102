"""Answers by one compiled pass over the groups, for the engine that is embedded; the plain plan is their oracle."""
