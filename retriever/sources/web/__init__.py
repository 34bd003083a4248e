"""What the sources on the network share: politeness, bounds, Boolean syntax, reading of records."""
