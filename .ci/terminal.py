"""Drives `isaforge debug` in a pseudo-terminal: python3 .ci/terminal.py path/to/isaforge

What the terminal shows is kept as a grid of characters, as far as the sequences that ratatui writes need it.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time

COLUMNS, ROWS = 120, 32
LAUNCH = os.path.join(os.path.dirname(__file__), "../cli/tests/data/loop.yaml")
SHOWN = termios.ECHO | termios.ICANON


class Screen:
    def __init__(self, fd):
        self.fd, self.grid, self.at, self.rest = fd, [[" "] * COLUMNS for _ in range(ROWS)], [0, 0], ""
        self.raw = ""

    def take(self, text):
        self.raw += text
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

    def until(self, wanted, raw=False):
        """Waits until the screen shows a text, or until it has been written."""
        end = time.monotonic() + 20
        while not re.search(wanted, self.raw if raw else self.text()):
            if time.monotonic() > end:
                sys.exit(f"`{wanted}` is not shown:\n{self.text()}")
            if select.select([self.fd], [], [], 0.1)[0]:
                self.take(os.read(self.fd, 65536).decode(errors="replace"))

    def until_end(self, child):
        """Waits until the program ends. Returns its exit status, or the number of its signal, negative."""
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.take(os.read(self.fd, 65536).decode(errors="replace"))
                except OSError:
                    pass
            if ended:
                return os.waitstatus_to_exitcode(status)

    def press(self, keys):
        os.write(self.fd, keys.encode())


def execute(launch, term):
    os.environ["TERM"] = term
    os.execv(sys.argv[1], [sys.argv[1], "debug", launch])


def start(launch=LAUNCH, run=execute, term="xterm-256color"):
    """Starts the debugger in a terminal. Returns its process and its screen."""
    child, fd = pty.fork()
    if child == 0:
        run(launch, term)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return child, Screen(fd)


child, screen = start()
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
# The line is edited: the one before the last one, up to its first word.
screen.press(":\x1b[A\x1b[A\x17\x17\x17\x17\x17\x01\x1b[3~\x1b[3~\x1b[C\x1b[C\x1b[C\x15\x05stops\r")
screen.until(r"breakpoint 1 at 1 .* if r0")
screen.press("?")
screen.until(r"any other key goes back")
screen.press("xq")
assert screen.until_end(child) == 0

# A signal leaves the terminal as it was.
for number in [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP]:
    child, screen = start()
    screen.until(r"again:")
    assert termios.tcgetattr(screen.fd)[3] & SHOWN == 0
    inside = os.dup(screen.fd)
    os.kill(child, number)
    assert screen.until_end(child) == -number, number
    assert "\x1b[?1049l" in screen.raw and screen.raw.rfind("\x1b[?25h") > screen.raw.rfind("\x1b[?25l"), number
    assert termios.tcgetattr(inside)[3] & SHOWN == SHOWN, number


def shell(launch, term):
    """Starts the debugger as a shell does, and continues it once it is suspended."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        execute(launch, term)
    while True:
        _, status = os.waitpid(child, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            os._exit(os.waitstatus_to_exitcode(status))
        os.tcsetpgrp(0, os.getpgrp())
        print("suspended" if termios.tcgetattr(0)[3] & SHOWN == SHOWN else "raw", flush=True)
        os.tcsetpgrp(0, child)
        os.kill(child, signal.SIGCONT)


child, screen = start(run=shell)
screen.until(r"again:")
screen.press("\x1a")
screen.until("suspended", raw=True)
screen.until(r"again:")
screen.press("s")
screen.until(r"\*r0 +00000003")
screen.press("q")
assert screen.until_end(child) == 0

# The exit status tells of a failure.
with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
    file.write("isa: valhall\nlocal size: [1]\nprogram: |\n  STORE.i32.slot0.end @r0, u0, offset:0\n")
    file.flush()
    child, screen = start(file.name)
    screen.until(r"STORE")
    screen.press("c")
    screen.until(r"the program failed")
    screen.press("q")
    assert screen.until_end(child) == 1

# What cannot place a cursor is no terminal.
child, screen = start(term="dumb")
assert screen.until_end(child) == 2
assert "there is no terminal to debug in" in screen.raw and "\x1b[?1049h" not in screen.raw
print("the debugger works in a terminal")
