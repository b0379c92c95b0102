"""Groups of people who may have several rows: strata of people with alike many, cut and dealt as whole people."""
