"""Why a passage has its rank, and where it holds what was searched for."""
