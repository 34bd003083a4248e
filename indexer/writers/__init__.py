"""Writers: analysed passages into an engine's index."""
