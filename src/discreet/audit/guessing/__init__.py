"""How attacks guess sensitive values, and how often they are right.

model      the value given the quasi-identifiers: a `logit` beside naive `bayes`
posterior  what a model says of people in a group that has these values
inside     guesses of people by both, or blindly
guesses    guesses, and who counts
scored     an attack beside blind guesses, a model `without` the release, and a holdout
"""
