"""Cluster: part the rows around two extreme ones, then deal inside each part."""
