"""How fast and how large: what is measured while the project is developed, each figure beside its bar."""
