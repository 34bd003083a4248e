"""Tables of our own, recorded scores and tuned constants, each run as `python -m tools.NAME` in a checkout.

Not installed with the package. `collections.py` has the collections, `bench.py` indexes, runs and rows.
"""
