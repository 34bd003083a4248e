"""Answers, quoted or written by a model, with checked citations."""
