"""A package to aim at."""
