"""The append-only record of a run, and what can be made of it."""
