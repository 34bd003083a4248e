"""Quality of answers: overlap with reference texts, accepted strings, and judgements by a language model."""
