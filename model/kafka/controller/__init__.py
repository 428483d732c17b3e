"""The controller: its context, events, state machines and requests."""
