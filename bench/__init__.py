"""The project's figures, measured: `python -m bench`. Nothing here is a test of time."""
