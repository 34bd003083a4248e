"""Results of the stages of a search: candidates, ranking, hits."""
