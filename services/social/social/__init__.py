"""A social network's users: a service under test, with the habits that real ones have. README.md tells its settings."""
