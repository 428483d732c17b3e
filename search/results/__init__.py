"""What a search returns: verdicts, traces that plain Python has confirmed, and what they leave open."""
