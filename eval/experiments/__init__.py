"""Experiments: one file per table or figure, each run as `python -m eval.experiments.NAME`."""
