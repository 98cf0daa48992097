"""Board features (`board_features = true`): chess geometry as input and output terms. Needs the compact encoding.

    attacks         input: attack features of the root's squares, added to their places before the trunk
    policy_skip     output: a term of move logits, read directly from the board by lookup tables
    king_exposure   output: the part of that term for the pieces that would attack the mover's king after a move
    lines           the squares that a move can join, and the squares between them

All of them start at zero and are learned. They contain the geometry of lines and jumps, not the rules: which piece
moves how, and which piece gives check on which line, is learned. The two output terms exist only where the model
predicts moves with head = "typed" or "squares".
"""
