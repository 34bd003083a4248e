"""Records of searches, to save, report and repeat them."""
