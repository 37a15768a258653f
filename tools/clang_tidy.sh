#!/usr/bin/env bash
# clang-tidy on the .cc files that differ from BASE (origin/main where it exists, else the commit
# before); TIDY_ALL=1: on all files of the core, the library and the converters. Slow, hence not
# part of `make lint`.
set -euo pipefail
cd "$(dirname "$0")/.."
# Its compile commands fit clang-tidy: of clang, and each file alone.
cmake --preset tidy >/dev/null
ninja -C build/tidy cleave_pch cleave_pch_shared

if [[ ${TIDY_ALL:-} ]]; then
  mapfile -t files < <(git ls-files \
    'src/base/*.cc' 'src/ring/*.cc' 'src/heat/*.cc' 'src/wire/*.cc' 'src/balance/*.cc' \
    'src/migrate/*.cc' 'src/route/*.cc' 'src/ring_library/*.cc' 'src/convert/*.cc' |
    grep -vE '_(test|bench)\.cc$')
else
  base=${BASE:-$(git rev-parse --verify -q origin/main || git rev-parse HEAD~1)}
  mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'src/*.cc' 'sim/*.cc' |
    grep -vE '_(test|bench)\.cc$')
fi
((${#files[@]})) || { echo "clang-tidy: nothing changed"; exit 0; }
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy-19 -p build/tidy --quiet
