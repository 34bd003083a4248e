"""Limits of each process: concurrent work and its queue, rates, calls per day; the gate applies them."""
