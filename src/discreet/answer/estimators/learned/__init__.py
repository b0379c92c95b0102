"""`learned`: by plausible tables, drawn by a model of the release; their mean, and how far they are apart."""
