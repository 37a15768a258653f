#!/usr/bin/env bash
# Builds and runs test programs under sanitizers:
#   tools/run_sanitized.sh PRESET JOBS [--build-only] PROGRAM...
# Programs named LAYER_test whose layer has no tests are left out.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1 jobs=$2
shift 2
build_only=false
if [[ ${1:-} == --build-only ]]; then
  build_only=true
  shift
fi

cmake --preset "$preset" >/dev/null
known=$(ninja -C "build/$preset" -t targets all)
programs=()
for program in "$@"; do
  if grep -q "^$program:" <<<"$known"; then programs+=("$program"); fi
done
ninja -C "build/$preset" -j "$jobs" "${programs[@]}"
$build_only && exit 0

export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
for program in "${programs[@]}"; do
  echo "== $program ($preset)"
  "build/$preset/$program" --gtest_brief=1
done
