"""Drives `isaforge debug` in a pseudo-terminal: python3 .ci/terminal.py path/to/isaforge

What the terminal shows is kept as a grid of characters, as far as the sequences that ratatui writes need it.
"""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

COLUMNS, ROWS = 120, 32
LAUNCH = os.path.join(os.path.dirname(__file__), "../cli/tests/data/loop.yaml")


class Screen:
    def __init__(self, fd):
        self.fd, self.grid, self.at, self.rest = fd, [[" "] * COLUMNS for _ in range(ROWS)], [0, 0], ""

    def take(self, text):
        text = self.rest + text
        self.rest = ""
        while text:
            escape = re.match(r"\x1b\[([?>=]?)([\d;]*)([A-Za-z])", text)
            if escape:
                mode, numbers, final = escape.groups()
                text = text[escape.end() :]
                if final == "H" and not mode:
                    row, column = (numbers.split(";") + ["1", "1"])[:2] if numbers else ("1", "1")
                    self.at = [int(row or 1) - 1, int(column or 1) - 1]
                elif final == "J":
                    self.grid = [[" "] * COLUMNS for _ in range(ROWS)]
                elif final == "n" and numbers == "6":
                    os.write(self.fd, b"\x1b[1;1R")
            elif text[0] == "\x1b":
                if len(text) < 24:
                    self.rest = text
                    return
                text = text[1:]
            else:
                row, column = self.at
                if text[0] >= " " and row < ROWS and column < COLUMNS:
                    self.grid[row][column] = text[0]
                    self.at[1] += 1
                text = text[1:]

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.grid)

    def until(self, wanted):
        """Waits until the screen shows a text."""
        end = time.monotonic() + 20
        while not re.search(wanted, self.text()):
            if time.monotonic() > end:
                sys.exit(f"`{wanted}` is not shown:\n{self.text()}")
            if select.select([self.fd], [], [], 0.1)[0]:
                self.take(os.read(self.fd, 65536).decode(errors="replace"))

    def press(self, keys):
        os.write(self.fd, keys.encode())


child, fd = pty.fork()
if child == 0:
    os.environ["TERM"] = "xterm-256color"
    os.execv(sys.argv[1], [sys.argv[1], "debug", LAUNCH])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
screen = Screen(fd)
screen.until(r"again:")
screen.until(r"lanes: 2 active of 2")
screen.press("s")
screen.until(r"\*r0 +00000003")
# A label is completed.
screen.press(":break ag\t if r0 == 1\r")
screen.until(r"breakpoint 1 at 1")
screen.press("c")
screen.until(r"r0 +00000001")
screen.press("b")
screen.until(r"\d+ executed")
screen.press("f")
screen.until(r"executed +u32")
# Memory stays in view.
screen.press(":view 0x2000\r")
screen.until(r"memory at 0x2000")
screen.press("?")
screen.until(r"any other key goes back")
screen.press("xq")
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
print("the debugger works in a terminal")
