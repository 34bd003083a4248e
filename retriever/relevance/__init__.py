"""How relevant passages and papers are, and whether evidence answers."""
