"""A position, a move, a value <-> token ids; the layout of a record (paradigm, horizon)."""
