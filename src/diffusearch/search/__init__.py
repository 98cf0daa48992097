"""Explicit search: a planner (MCTS, minimax, rollout) over an evaluator (priors, values) and dynamics (next states)."""
