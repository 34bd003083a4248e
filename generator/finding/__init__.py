"""Paper finding after SPAR (Shi et al. 2025, section 3): a list of papers with reasons for a question."""
