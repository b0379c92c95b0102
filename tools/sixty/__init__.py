"""Sixty questions that analysts ask, over every publication, beside the truth: `python tools/questions.py`."""
