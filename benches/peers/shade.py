#!/usr/bin/env python3
"""Compares fragment, vertex and image programs with GLSL on llvmpipe; prints a table in Markdown. See README.md."""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

import contender

HERE = pathlib.Path(__file__).resolve().parent
OURS, PEER = "isaforge", "llvmpipe"
# Without threads of its own, llvmpipe rasterizes on the thread that calls it.
ENVIRONMENT = {"GALLIUM_DRIVER": "llvmpipe", "LIBGL_ALWAYS_SOFTWARE": "1", "LP_NUM_THREADS": "0"}
INSTALL = "apt-get install gcc libegl-dev libgles-dev libegl-mesa0 libgl1-mesa-dri"
SECONDS = 1.0
TOLERANCE = 1 / 255


def build(folder):
    """Builds both programs; what cannot be built is said and ends the run."""
    host = folder / "shade"
    try:
        subprocess.run(["cc", "-O2", "-o", host, HERE / "shade.c", "-lEGL", "-lGLESv2"], check=True)
    except (OSError, subprocess.CalledProcessError):
        sys.exit(f"shade.c cannot be built: {INSTALL}")
    return host, contender.example("shade")


def measure(program, environment):
    """The programs' ns and means, and what was said about the contender; ends the run if it fails."""
    run = contender.pinned([program, SECONDS], environment)
    said = run.stderr.strip()
    if run.returncode != 0:
        hint = f"; {INSTALL}" if environment else ""
        sys.exit(f"{said or f'status {run.returncode}'}{hint}")
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    return {name: (float(ns), [float(mean) for mean in means.split()]) for name, ns, means in rows}, said


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often the contenders take turns (default: 5)")
    rounds = max(1, parser.parse_args().rounds)
    seen = {}
    with tempfile.TemporaryDirectory() as name:
        host, ours = build(pathlib.Path(name))
        for _ in range(rounds):
            found, _ = measure(ours, {})
            theirs, renderer = measure(host, ENVIRONMENT)
            for shader, result in found.items():
                seen.setdefault(shader, []).append((result, theirs[shader]))
    print(f"{rounds} rounds, {renderer}")
    print("Millions of pixels, vertices or texels a second, in brackets how many times ours; medians\n")
    print(f"| shader | {OURS} | {PEER} |\n|---|---|---|")
    different = []
    for shader, pairs in seen.items():
        speeds = [statistics.median(1e3 / pair[side][0] for pair in pairs) for side in range(2)]
        ratio = statistics.median(own[0] / other[0] for own, other in pairs)
        print(f"| {shader} | {speeds[0]:.3g} | {speeds[1]:.3g} ({ratio:.3g} x) |")
        (_, own), (_, other) = pairs[0]
        if len(own) != len(other) or any(abs(a - b) > TOLERANCE for a, b in zip(own, other)):
            different.append(f"{shader}: {PEER} computes something else, {other} and not {own}")
    if different:
        sys.exit("\n" + "\n".join(different))


main()
