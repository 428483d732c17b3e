"""The explorer: a page on this machine on which a user takes the steps of a model."""
