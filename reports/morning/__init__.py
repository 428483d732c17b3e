"""The morning after a nightly run: what it came to as a page, and what is new against another run."""
