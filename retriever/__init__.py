"""Questions to hits, without a language model."""
