"""Tools: declared from functions, schemas, models and servers; checked, asked for, run and cleaned."""
