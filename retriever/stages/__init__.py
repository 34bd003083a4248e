"""Values that the stages of a search make: candidates, ranking, hits."""
