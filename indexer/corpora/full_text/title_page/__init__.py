"""Fields on the title page of a paper."""
