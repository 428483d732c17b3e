"""Tic-tac-toe: every position that two players can reach.

Words: X begins. A *line* is a row, a column or a diagonal. The game ends with a full line or a full board; an ended
game is a state that no step leaves, and here that is no error.

Source: 5,478 positions in all, 958 of them ended (derived by hand in "TicTacToe State Space Choose Calculation",
Mathematics Stack Exchange); X has won 626 of those (D. W. Aha, data set "Tic-Tac-Toe Endgame", UCI Machine Learning
Repository, 1991).
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import Actor, Array, Domain, Scenario, action, always, array, reachable, require, state

SIDE = Domain("side", "rows and columns of the board")
Place = Annotated[int, SIDE]

X_PLAYER = Actor("X")
O_PLAYER = Actor("O")


class Mark(Enum):
    """What is in a square."""

    EMPTY = " "
    X = "X"
    O = "O"


@state
class Board:
    """The squares, row by row."""

    square: Array[Array[Mark]] = array(SIDE, array(SIDE, Mark))

    def count(self, mark: Mark) -> int:
        """How many squares hold a mark."""
        return sum(square is mark for row in self.square for square in row)

    def has_line(self, mark: Mark) -> bool:
        """Whether a row, a column or a diagonal is full of a mark."""
        rows = any(all(square is mark for square in row) for row in self.square)
        columns = any(all(row[column] is mark for row in self.square) for column in SIDE)
        falling = all(row[i] is mark for i, row in enumerate(self.square))
        rising = all(self.square[i][len(SIDE) - 1 - i] is mark for i in SIDE)
        return rows or columns or falling or rising

    @property
    def ended(self) -> bool:
        """Whether there is nothing left to play."""
        return self.has_line(Mark.X) or self.has_line(Mark.O) or self.count(Mark.EMPTY) == 0


def play(board: Board, row: int, column: int, mark: Mark) -> None:
    """Put a mark into an empty square."""
    require(not board.ended and board.square[row][column] is Mark.EMPTY)
    board.square[row][column] = mark


@action(by=X_PLAYER, description="plays row {row}, column {column}")
def x_plays(board: Board, row: Place, column: Place) -> None:
    """X plays when there are as many Os."""
    require(board.count(Mark.X) == board.count(Mark.O))
    play(board, row, column, Mark.X)


@action(by=O_PLAYER, description="plays row {row}, column {column}")
def o_plays(board: Board, row: Place, column: Place) -> None:
    """O plays when there is one more X."""
    require(board.count(Mark.X) > board.count(Mark.O))
    play(board, row, column, Mark.O)


@always()
def one_winner(board: Board) -> bool:
    """Never have both players a line."""
    return not (board.has_line(Mark.X) and board.has_line(Mark.O))


@reachable()
def o_wins(board: Board) -> bool:
    """The second player can win."""
    return board.has_line(Mark.O)


@reachable()
def draw(board: Board) -> bool:
    """The game can end without a winner."""
    return board.ended and not board.has_line(Mark.X) and not board.has_line(Mark.O)


TIC_TAC_TOE = Scenario(
    name="tic-tac-toe",
    story="Two players fill a board of three by three.",
    state=Board,
    actions=(x_plays, o_plays),
    properties=(one_winner, o_wins, draw),
    bounds={"side": 3},
    source="Mathematics Stack Exchange; UCI Machine Learning Repository, Tic-Tac-Toe Endgame",
)
