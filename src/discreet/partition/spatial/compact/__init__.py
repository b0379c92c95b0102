"""Boxes that lose little: cut where most is saved, then group neighbours, then move rows."""
