"""Keywords, answers and paper finding with a language model behind an OpenAI-compatible endpoint."""
