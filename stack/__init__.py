"""What runs beside SHRAG: is it configured and well (`shrag doctor`), and what an isolated machine needs."""
