"""Sign-in of persons: an OpenID Connect provider, or a header of a trusted proxy."""
