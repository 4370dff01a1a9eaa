"""Where ranks run."""
