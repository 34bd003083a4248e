"""Experiments: one file a table or figure, each run as `python -m eval.experiments.NAME`."""
