"""The endpoint for chat programs: models and chat completions in OpenAI's format; an index is a model."""
