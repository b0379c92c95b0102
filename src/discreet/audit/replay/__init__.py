"""Play the cuts of a partition again, to see what those that it refused tell; `publish` does so as well.

minimality  which values are certain for whom, by the cuts of `local` or `mondrian`
refusals    what one refused cut rules out
"""
