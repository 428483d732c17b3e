"""What does walks of a run by the chunk, wherever it is: processes of this machine here, Spark in a room of its own."""
