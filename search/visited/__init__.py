"""The set of visited states: keys, the hash table, and the tree compression of long states."""
