#!/usr/bin/env bash
# Builds the program of another commit in build/previous:  tools/previous_build.sh COMMIT
set -euo pipefail
cd "$(dirname "$0")/.."
commit=$(git rev-parse --verify "$1^{commit}")
tree=build/previous
[[ -d $tree ]] || git worktree add --detach "$tree" "$commit"
git -C "$tree" checkout --quiet --detach "$commit"
make -C "$tree" build
