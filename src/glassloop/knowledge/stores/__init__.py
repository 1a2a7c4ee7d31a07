"""Where passages are kept: in memory and files, in PostgreSQL, in Qdrant."""
