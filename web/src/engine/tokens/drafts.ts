// The nodes of a draft: the positions of a first move and of what the network plays after it (tokens/drafts.py).

export const PLIES = [1, 2, 3, 2, 3]; // the ply of each node
export const BEFORE = [null, 0, 1, 0, 3]; // the node in which the move that leads to it is played; null: the root
export const FIRST_LINE = [0, 1, 2]; // by the likeliest reply
export const SECOND_LINE = [0, 3, 4]; // by the second-likeliest reply
export const NODES = PLIES.length;
