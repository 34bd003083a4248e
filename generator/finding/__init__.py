"""Paper finding after SPAR (Shi et al. 2025, section 3): from a question to a list of papers with reasons."""
