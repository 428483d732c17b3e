"""What the commands about real clusters do."""
