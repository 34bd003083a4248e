"""Who may ask: keys, sessions, names of hosts, sites."""
