"""What every package builds on, and nothing about papers: files, terminal, HTTP, settings, logs, errors."""
