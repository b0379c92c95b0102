"""Play the cuts of a partition again, to see what those that it refused tell; `publish` follows cuts as well.

minimality  which values are certain for whom, by following the cuts of `local` or `mondrian`
refusals    what one refused cut rules out
everybody   which rows share a group, where boxes are shown to one who knows everybody
played      run a partition as it was published: the one door from here to how groups are formed
worlds      what is believed of whom, by running it on tables that the release permits
"""
