"""Fixed-width minimax: the likeliest moves of each turn are expanded, to a fixed depth."""
