"""Tools of development, each run as `python -m eval.development.NAME`.

Recorded scores, agreement of analyzers and engines, constants tuned on training data.
"""
