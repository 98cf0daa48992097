"""The one error that a user can cause. The command line prints it as one sentence and exits with 2."""


class UserError(Exception):
    """Bad input: a FEN, a PGN, a recipe, a weights file, an option.

    The message names the value that was refused and says what to do next.
    """
