"""Diagnosis of configuration and services, with remedies: `shrag doctor`."""
