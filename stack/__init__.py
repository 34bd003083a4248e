"""Tools around the services: diagnosis (`shrag doctor`) and bundles for isolated machines."""
