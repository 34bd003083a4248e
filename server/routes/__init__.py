"""The endpoints, a file each: one that holds `router` is found by its file."""
