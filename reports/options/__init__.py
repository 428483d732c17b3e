"""How commands and their options are declared, and what the values of options mean."""
