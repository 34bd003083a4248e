"""Generated corpora and papers, and their indexes."""
