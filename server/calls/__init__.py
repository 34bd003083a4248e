"""What a call asks: an index or sources, and a search of them."""
