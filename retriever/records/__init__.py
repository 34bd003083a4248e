"""Records of searches: kept, reported, run again."""
