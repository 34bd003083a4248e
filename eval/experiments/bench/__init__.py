"""How fast and how large: what `make bench` measures, each figure beside its bar."""
