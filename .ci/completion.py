"""Completes command lines in the shells that are installed: python3 .ci/completion.py path/to/isaforge

The shells find a command in place of `isaforge` that passes on requests for candidates, and otherwise writes its
arguments to a file.
"""

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

COMMAND = os.path.abspath(sys.argv[1])
STANDS_IN = f"""#!/bin/sh
[ -z "$ISAFORGE_COMPLETE" ] || exec '{COMMAND}' "$@"
printf '%s\\n' "$@" > "$HOME/arguments.tmp"
mv "$HOME/arguments.tmp" "$HOME/arguments"
"""
START = {
    "bash": ["--noprofile", "--rcfile", "start", "-i"],
    "zsh": ["-i"],
    "fish": ["-i"],
}

# What is typed, and the arguments that the command gets. A line ends with a tab.
TYPED = [
    ("dis valhall ~/pr", ["dis", "valhall", "HOME/prog.s"]),
    ("dis valhall tw", ["dis", "valhall", "two words.s"]),
    (r"dis valhall two\ w", ["dis", "valhall", "two words.s"]),
    ("dis valhall do", ["dis", "valhall", "do$lar.s"]),
    ("dis valhall $HOME/pr", ["dis", "valhall", "HOME/prog.s"]),
    (r"dis valhall a\ folder/i", ["dis", "valhall", "a folder/inner.bin"]),
    ("asm valhall --output=pr", ["asm", "valhall", "--output=prog.s"]),
    ("translate valhall valhall-", ["translate", "valhall", "valhall-2021"]),
    ("translate pr", ["translate", "prog.s"]),
    ("explain valhall fma_rs", ["explain", "valhall", "FMA_RSCALE"]),
    ("explain valhall FMA.f32 cla", ["explain", "valhall", "FMA.f32", "clamp"]),
    ("explain --spec riscv sltiu", ["explain", "--spec", "riscv", "sltiu"]),
    ("explain --spec=riscv sltiu", ["explain", "--spec=riscv", "sltiu"]),
    ("dis valhall --order=m", ["dis", "valhall", "--order=memory"]),
    ("dis valhall --in=h", ["dis", "valhall", "--in=hex"]),
    ("check --explain P0001", ["check", "--explain", "P0001"]),
    ("complet", ["completions"]),
]


class Session:
    """A shell in a pseudo-terminal, at home in a folder."""

    def __init__(self, shell, home):
        self.shell, self.home = shell, home
        self.child, self.fd = pty.fork()
        if self.child == 0:
            os.chdir(home)
            os.environ.update(HOME=home, ZDOTDIR=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home, TERM="xterm")
            os.environ["PATH"] = f"{home}/bin:{os.environ['PATH']}"
            os.execvp(shell, [shell, *START[shell]])

    def quiet(self, seconds=0.4):
        """Reads what the shell writes, until it writes nothing for a time."""
        shown = b""
        while select.select([self.fd], [], [], seconds)[0]:
            shown += os.read(self.fd, 65536)
        return shown

    def complete(self, typed):
        """Types a line and a tab, executes it and returns the command's arguments."""
        answer = os.path.join(self.home, "arguments")
        os.write(self.fd, f"isaforge {typed}\t".encode())
        shown = self.quiet()
        os.write(self.fd, b"\r")
        end = time.monotonic() + 20
        while not os.path.exists(answer):
            shown += self.quiet(0.1)
            if time.monotonic() > end:
                sys.exit(f"{self.shell}: `isaforge {typed}` executes nothing:\n{shown.decode(errors='replace')}")
        with open(answer) as file:
            arguments = file.read().splitlines()
        os.remove(answer)
        self.quiet(0.15)
        return arguments

    def end(self):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.fd)


def prepared(shell, home):
    """A folder with files to complete, in which the shell has the script where it looks for it."""
    os.makedirs(f"{home}/bin")
    os.makedirs(f"{home}/a folder")
    for name in ["prog.s", "two words.s", "do$lar.s", "a folder/inner.bin"]:
        open(f"{home}/{name}", "w").close()
    shutil.copytree(os.path.join(os.path.dirname(__file__), "../examples/riscv"), f"{home}/riscv")
    with open(f"{home}/bin/isaforge", "w") as file:
        file.write(STANDS_IN)
    os.chmod(f"{home}/bin/isaforge", 0o755)
    script = subprocess.run([COMMAND, "completions", shell], capture_output=True, check=True, text=True).stdout
    zshrc = "fpath=(~/functions $fpath)\nautoload -U compinit\ncompinit -u\n"
    files = {
        "bash": {"start": script},
        "zsh": {".zshrc": zshrc, "functions/_isaforge": script},
        "fish": {"fish/completions/isaforge.fish": script},
    }
    for name, text in files[shell].items():
        os.makedirs(os.path.dirname(f"{home}/{name}"), exist_ok=True)
        with open(f"{home}/{name}", "w") as file:
            file.write(text)


wrong = []
for shell in START:
    if not shutil.which(shell):
        print(f"NOT RUN: completion in {shell}, which is not installed")
        continue
    with tempfile.TemporaryDirectory() as home:
        prepared(shell, home)
        session = Session(shell, home)
        session.quiet(2)
        for typed, expected in TYPED:
            arguments = session.complete(typed)
            if arguments != [part.replace("HOME", home) for part in expected]:
                wrong.append(f"{shell}: `isaforge {typed}` becomes {arguments}")
        session.end()
    print(f"completion in {shell}: {len(TYPED)} lines")
if wrong:
    sys.exit("\n".join(wrong))
