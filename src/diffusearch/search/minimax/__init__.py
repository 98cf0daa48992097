"""Fixed-width minimax: the likeliest moves of each turn, followed to a fixed depth."""
