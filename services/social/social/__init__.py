"""Service of a social network's users, which behaves like real services under test. README.md describes its settings."""
