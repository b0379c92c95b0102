"""From the text of a question to a `Question`, without a look at any data."""
