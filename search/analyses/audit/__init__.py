"""Auditing fixes: each trial of each fix is searched with the fix off and with it on, and the two are compared."""
