"""Judgements of readers, kept for evaluation."""
