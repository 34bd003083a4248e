"""Access control: keys, sessions, host names, origins."""
