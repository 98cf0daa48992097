"""MCTS as in the paper's appendix, split in selection, expansion, backup and play."""
