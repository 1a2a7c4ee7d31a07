"""Golden cases: what an agent should do, run and measured. Each module is imported where it is used."""
