"""Answers: their form, quoted or written by a model, with citations checked."""
