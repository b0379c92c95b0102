"""From a `Question` to the SQL that answers it from a release."""
