"""HTTP clients bounded in bytes and time, and waiting before a retry."""
