#!/usr/bin/env bash
# Records what a commit takes on this machine, for the last column of `--bench execute`: benches/before.sh [COMMIT]
set -euo pipefail
cd "$(dirname "$0")/.."
commit=$(git rev-parse --short "${1:-5f66ecd}")
folder=$(mktemp -d)
trap 'git worktree remove --force "$folder"' EXIT
git worktree add --quiet --detach "$folder" "$commit"
(cd "$folder" && CARGO_TARGET_DIR=$folder/target cargo bench --locked -p isaforge-benches --bench execute) >"$folder/printed"
processor=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
{ printf '# %s on %s\n\n' "$commit" "$processor"; cat "$folder/printed"; } >benches/data/before.md
