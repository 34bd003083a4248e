"""HTTP clients with limits on bytes and time, and pauses before a retry."""
