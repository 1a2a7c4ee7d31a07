"""One module for each kind of file; each turns bytes into a `Loaded` and imports its library when it is used."""
