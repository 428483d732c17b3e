"""The commands of `kwalk`: a module for each, which declares it (COMMAND) and names the function that runs it."""
