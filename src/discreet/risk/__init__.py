"""The risk figures of the field, of private tables and of releases: from sizes of classes and counts of values."""
