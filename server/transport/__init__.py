"""How calls arrive and answers leave: HTTP, its bounds, its streams."""
