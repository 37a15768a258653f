#!/usr/bin/env bash
# Runs test tiers and sums what they counted:  tools/run_tests.sh TIER...
#
#   lint         layers, tidiness, formatting, and the linters' own tests
#   build        the whole release tree
#   unit         every *_test program of the release tree (built before)
#   sim          a short run of the simulated world
#   integration  the program against real servers
#   sanitizers   the core and the simulated world under address + undefined behaviour
#
# Every tier runs, also after one failed. The last line is "N passed, N failed"; the exit code is 1
# when something failed. A program that dies without a count counts as one failure.
set -uo pipefail
cd "$(dirname "$0")/.."

release=build/release
jobs=${JOBS:-$(nproc)}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0
failed=0
summary=()

count() {  # count PASSED FAILED
  passed=$((passed + $1))
  failed=$((failed + $2))
}

# One check that either holds or does not: check NAME COMMAND...
check() {
  local name=$1
  shift
  if "$@" >"$log" 2>&1; then
    count 1 0
  else
    echo "FAILED: $name"
    tail -n 60 "$log"
    count 0 1
  fi
}

# One GoogleTest program; its own closing lines are the counts.
gtest() {
  local program=$1 code=0 good bad
  "$program" --gtest_brief=1 >"$log" 2>&1 || code=$?
  good=$(sed -nE 's/^\[  PASSED  \] ([0-9]+) tests?\..*/\1/p' "$log" | tail -n 1)
  bad=$(sed -nE 's/^\[  FAILED  \] ([0-9]+) tests?, listed below:.*/\1/p' "$log" | tail -n 1)
  if ((code != 0)); then
    echo "FAILED: $program (exit code $code)"
    tail -n 80 "$log"
    [[ -n $bad ]] || bad=1
  fi
  printf '  %-28s %5d passed %3d failed\n' "$(basename "$program")" "${good:-0}" "${bad:-0}"
  count "${good:-0}" "${bad:-0}"
}

# One Python unittest run; "Ran N tests" and "FAILED (failures=1, errors=2)" are the counts.
unittest() {
  local name=$1 code=0 ran bad
  shift
  "$@" >"$log" 2>&1 || code=$?
  ran=$(sed -nE 's/^Ran ([0-9]+) tests? in .*/\1/p' "$log" | awk '{s += $1} END {print s + 0}')
  bad=$(grep -E '^FAILED \(' "$log" | grep -oE '(failures|errors)=[0-9]+' | cut -d= -f2 |
    awk '{s += $1} END {print s + 0}')
  if ((code != 0)); then
    echo "FAILED: $name (exit code $code)"
    tail -n 120 "$log"
    ((bad > 0)) || bad=1
    ((ran >= bad)) || ran=$bad
  fi
  printf '  %-28s %5d passed %3d failed\n' "$name" "$((ran - bad))" "$bad"
  count "$((ran - bad))" "$bad"
}

tier_lint() {
  local tool
  for tool in tools/*_test.py; do unittest "$tool" python3 "$tool"; done
  check "layers" python3 tools/check_layers.py
  check "tidiness" python3 tools/tidy.py
  check "formatting" bash -c \
    "git ls-files '*.h' '*.hpp' '*.c' '*.cc' | xargs clang-format-19 --dry-run -Werror"
}

tier_build() {
  check "release build" bash -c "cmake --preset release -DCLEAVE_BENCH=OFF >/dev/null &&
    cmake --build --preset release -j $jobs"
}

tier_unit() {
  local program
  for program in "$release"/*_test; do gtest "$program"; done
}

tier_sim() {
  check "simulated world, ${SEEDS:-200} seeds" "$release/cleave-sim" --seeds "${SEEDS:-200}"
  # The same seed must give the same history, in every process.
  check "one seed, twice" bash -c \
    "diff <($release/cleave-sim --seed 7) <($release/cleave-sim --seed 7)"
}

tier_integration() {
  local python
  if ! python=$(tools/python_env.sh 2>"$log"); then
    cat "$log"
    echo "FAILED: the Python environment with redis-py"
    count 0 1
    return
  fi
  local file
  for file in tests/integration/*_test.py; do unittest "$file" "$python" "$file"; done
}

# The core, which is where memory is handled by hand, and the simulated world, which runs nearly all
# of the rest. What is left is under `make asan` and `make tsan`.
tier_sanitizers() {
  local program programs=(base ring ring_library wire route migrate heat)
  check "asan-ubsan build" tools/run_sanitized.sh asan-ubsan "$jobs" --build-only \
    "${programs[@]/%/_test}" cleave-sim
  export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
  for program in "${programs[@]}"; do
    gtest build/asan-ubsan/"${program}"_test
  done
  check "simulated world, sanitized" build/asan-ubsan/cleave-sim --seeds 12
}

for tier in "$@"; do
  echo "== $tier"
  begun=$SECONDS
  before=$failed
  "tier_$tier"
  verdict=ok
  ((failed == before)) || verdict=FAILED
  summary+=("$(printf '%-12s %-6s %4d s' "$tier" "$verdict" $((SECONDS - begun)))")
done

echo "== summary"
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed"
((failed == 0))
