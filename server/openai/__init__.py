"""The way in for chat programs: models and chat completions in OpenAI's form; an index is a model."""
