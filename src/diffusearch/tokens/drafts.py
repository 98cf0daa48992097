"""The nodes of a draft: the positions of a first move and of what the network plays after it.

Node 0 is the position after the move (ply 1). Nodes 1 and 2 come after the likeliest reply and its answer (plies 2 and
3), nodes 3 and 4 after the second-likeliest reply and its answer.
"""

from __future__ import annotations

DEPTH = 3  # plies of a line
PLIES = (1, 2, 3, 2, 3)  # the ply of each node
BEFORE = (None, 0, 1, 0, 3)  # the node in which the move that leads to it is played; None: the root
LINES = ((0, 1, 2), (0, 3, 4))  # the nodes of each line
NODES = len(PLIES)
