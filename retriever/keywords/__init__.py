"""The keywords of a question, from statistics or given."""
