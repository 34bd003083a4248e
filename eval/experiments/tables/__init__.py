"""The experiments, one file for each table or figure, with a constant `EXPERIMENT`."""
