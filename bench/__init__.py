"""How fast the engines are on this machine: `python -m bench`."""
