"""All that a language model writes: keywords and answers, through an OpenAI-compatible endpoint."""
