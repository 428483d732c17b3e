"""What commands do: the functions that the declarations in `commands` name."""
