"""Records of one paper, copies of one text, and texts that state nothing."""
