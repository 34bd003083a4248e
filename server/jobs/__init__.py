"""Builds, verifications and backups that an operator starts, each as a process of the `shrag` command."""
