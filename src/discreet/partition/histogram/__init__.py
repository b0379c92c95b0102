"""Groups planned on the histogram of the sensitive column alone."""
