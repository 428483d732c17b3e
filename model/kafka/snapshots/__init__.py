"""Snapshots of real clusters: read (`capture`), judged (`diagnosis`), and as states and series of the model.

`snapshot` begins a search where one capture was taken; `series` leads a behaviour through several. `symptoms` says what
a capture shows by itself; `focus`, `replicas` and `initial_state` make it a state. `scope` and `numbering` say how much
of the model a series needs and what it calls things; `projection` and `limits`, what a behaviour must show, and when.
"""
