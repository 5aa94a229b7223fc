#!/usr/bin/env python3
"""Compares the Valhall runtime with OpenCL on the processor; prints a table in Markdown. See README.md."""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import contender

HERE = pathlib.Path(__file__).resolve().parent

# Name, package, part of the platform's name, environment, what starts it, threads of a run, seconds for a kernel.
PEERS = [
    ("llvmpipe (rusticl)", "mesa-opencl-icd", "rusticl", {"RUSTICL_ENABLE": "llvmpipe", "LP_NUM_THREADS": "1"}, [], 1 << 20, 1.0),
    ("pocl", "pocl-opencl-icd", "Portable Computing Language", {"POCL_MAX_PTHREAD_COUNT": "1", "POCL_AFFINITY": "0"}, [], 1 << 20, 1.0),
    ("Oclgrind", "oclgrind", "Oclgrind", {}, ["oclgrind"], 1 << 10, 0.0),
]
OURS = "isaforge"


def build(folder):
    """Builds both programs; what cannot be built is said and ends the run."""
    host = folder / "host"
    try:
        subprocess.run(["cc", "-O2", "-o", host, HERE / "host.c", "-lOpenCL"], check=True)
    except (OSError, subprocess.CalledProcessError):
        sys.exit("host.c cannot be built: apt-get install gcc ocl-icd-opencl-dev")
    return host, contender.example("lane_iterations")


def measure(command, environment):
    """The kernels' ns and sums, and why there are no more of them."""
    run = contender.pinned(command, environment)
    found = {}
    for line in run.stdout.splitlines():
        parts = line.split("\t")
        if len(parts) == 3:
            found[parts[0]] = (float(parts[1]), float(parts[2]))
    reason = (run.stderr.strip().splitlines() or [f"status {run.returncode}"])[-1]
    return found, "" if run.returncode == 0 else reason


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often the contenders take turns (default: 5)")
    rounds = max(1, parser.parse_args().rounds)
    with tempfile.TemporaryDirectory() as name:
        host, ours = build(pathlib.Path(name))
        seen, reasons = {}, {}
        for round in range(rounds):
            found, reason = measure([ours, "1"], {})
            if reason:
                sys.exit(f"{OURS}: {reason}")
            for kernel, (ns, total) in found.items():
                seen.setdefault(kernel, {}).setdefault(OURS, []).append((ns, total))
            for peer, package, platform, environment, starter, threads, seconds in PEERS:
                if starter and not shutil.which(starter[0]):
                    reasons[peer] = f"missing: apt-get install {package}"
                    continue
                # A slow one once; its figures do not depend on a few per cent.
                if seconds == 0.0 and round:
                    continue
                command = starter + [host, HERE / "kernels.cl", platform, seconds, threads]
                found, reason = measure(command, environment)
                if reason:
                    reasons[peer] = f"missing: apt-get install {package}" if not found and "no platform" in reason else reason
                for kernel, result in found.items():
                    seen[kernel].setdefault(peer, []).append(result)
    print(f"{rounds} rounds; ns of processor time per lane-iteration, in brackets how many times ours; medians\n")
    names = [OURS] + [peer[0] for peer in PEERS]
    print("| kernel | " + " | ".join(names) + " |\n" + "|---" * (1 + len(names)) + "|")
    for kernel, results in seen.items():
        cells = []
        for peer in names:
            if peer not in results:
                cells.append("-")
                continue
            ns = [ns for ns, _ in results[peer]]
            text = f"{statistics.median(ns):.3g}"
            if peer != OURS:
                ratios = [theirs / ours for theirs, (ours, _) in zip(ns, results[OURS])]
                text += f" ({statistics.median(ratios):.3g} x)"
            cells.append(text)
        print(f"| {kernel} | " + " | ".join(cells) + " |")
    # Of as many threads the sums differ only where a peer does not fuse.
    for kernel, results in seen.items():
        for peer, _, _, _, starter, _, _ in PEERS:
            for _, total in results.get(peer, [])[:1] if not starter else []:
                if abs(total / results[OURS][0][1] - 1) > 0.001:
                    print(f"\n{peer} computes something else: {kernel}, {total:.0f} and not {results[OURS][0][1]:.0f}")
    for peer, reason in reasons.items():
        print(f"\n{peer}: {reason}")


main()
