"""What the comparisons share: building our side, and running a contender on one processor."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def example(name):
    """Builds an example of the benches; returns its path."""
    build = ["cargo", "build", "--release", "--quiet", "-p", "isaforge-benches", "--example", name, "--message-format=json"]
    lines = subprocess.run(build, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    made = [json.loads(line).get("executable") for line in lines]
    return next(path for path in reversed(made) if path)


def pinned(command, environment):
    """Runs a command with all that it starts on one processor; returns the finished process with its output as text."""
    line = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] + [str(part) for part in command]
    return subprocess.run(line, env=os.environ | environment, capture_output=True, text=True)
