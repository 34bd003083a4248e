"""The containers that SHRAG runs beside, and what can be told of them without running any."""
