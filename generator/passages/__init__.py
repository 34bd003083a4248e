"""Steps of ways that answer from passages, not papers (paper-QA, sections 3–5)."""
