"""Snapshots of real clusters: captures are read, diagnosed, and turned into initial states and series of the model.

`capture` reads a file, `diagnosis` judges it without a search. `snapshot` begins a search at one capture, whose
`initial_state` it infers; `series` leads a behaviour through several. For a series, `scope` says how much of the model
it needs, `projection` what a behaviour must show at each capture, and `limits` what cannot happen between two.
"""
