"""The endpoints, one file each; a file is found by its `router`."""
