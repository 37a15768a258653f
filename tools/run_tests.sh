#!/usr/bin/env bash
# Runs test tiers, tells how far it is, and sums what they counted:  tools/run_tests.sh TIER...
#
#   lint         layers, tidiness, formatting, and the linters' own tests
#   build        the whole release tree
#   unit         every *_test program of the release tree (built before)
#   sim          a short run of the simulated world (built before)
#   integration  the program (built before) against real servers
#   sanitizers   the core and the simulated world under address + undefined behaviour
#
#   tools/run_tests.sh only NAME     one thing, after building what it needs. NAME is
#     ring               the unit tests of that layer, and the integration tests of that name
#     ring_test          only the unit tests;  ring_test.py  only the integration tests
#     CutPoint           a suite of unit tests;  'CutPoint.Refuses*'  some tests of it
#
# Each tier runs, also after one failed. The last line is "N passed, N failed"; the exit code is 1
# when something failed. A program that dies without a count counts as one failure. WIDTH things run
# at a time, two by default: most wait for servers, some mind a machine that is full.
set -uo pipefail
cd "$(dirname "$0")/.."

release=build/release
jobs=${JOBS:-$(nproc)}
width=${WIDTH:-2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
summary=()
failures=()  # what they were, for the end

# ---- pieces of work, some at a time: begin KIND NAME COMMAND..., then end_all

total=0        # of this tier
done_count=0   # of them
begun=0        # the tier, in $SECONDS
declare -A piece_of=()  # by process: "KIND NUMBER SECONDS NAME"

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

begin() {
  local kind=$1 name=$2 number=$((done_count + ${#piece_of[@]} + 1))
  shift 2
  while ((${#piece_of[@]} >= width)); do end_one; done
  "$@" >"$work/$number" 2>&1 </dev/null &
  piece_of[$!]="$kind $number $SECONDS $name"
}

end_one() {
  local pid code=0 kind number since name good bad
  wait -n -p pid "${!piece_of[@]}" || code=$?
  read -r kind number since name <<<"${piece_of[$pid]}"
  unset "piece_of[$pid]"
  read -r good bad < <("count_$kind" "$work/$number" "$code")
  passed=$((passed + good))
  failed=$((failed + bad))
  done_count=$((done_count + 1))
  printf '[%*d/%d] %6s  %-32s %5d passed  %6s  %4d s\n' ${#total} "$done_count" "$total" \
    "$(clock $((SECONDS - begun)))" "$name" "$good" "$( ((bad == 0)) || echo "$bad FAILED")" \
    $((SECONDS - since))
  if ((bad > 0)); then
    failures+=("$name$(failed_tests "$work/$number")$(failed_why "$work/$number")")
    echo "FAILED: $name (exit code $code)"
    tail -n 120 "$work/$number"
  fi
  rm "$work/$number"
}

# failed_tests LOG: their names.
failed_tests() {
  grep -hE '^\[  FAILED  \] [A-Za-z].*[^:]$|^(FAIL|ERROR): ' "$1" |
    sed -E 's/^\[  FAILED  \] /  /; s/^(FAIL|ERROR): /  /; s/ \([0-9]+ ms\)$//' | sort -u |
    sed 's/^/  /; 1s/^/\n/'
}

# failed_why LOG: what failed where, for who sees the end of the output only.
failed_why() {
  local pattern=': Failure$|, in test_|^[A-Za-z.]*(Error|Exception|Expired): |: CHECK\(.*failed'
  grep -hE -A 4 --no-group-separator "$pattern" "$1" |
    cut -c 1-300 | head -n 40 | sed 's/^/      /; 1s/^/\n/'
}

end_all() { while ((${#piece_of[@]} > 0)); do end_one; done; }

# count_KIND LOG CODE prints how many passed and how many failed.

# A check that either holds or does not.
count_check() { if (($2 == 0)); then echo 1 0; else echo 0 1; fi; }

# A GoogleTest program: its own closing lines.
count_gtest() {
  local good bad
  good=$(sed -nE 's/^\[  PASSED  \] ([0-9]+) tests?\..*/\1/p' "$1" | tail -n 1)
  bad=$(sed -nE 's/^\[  FAILED  \] ([0-9]+) tests?, listed below:.*/\1/p' "$1" | tail -n 1)
  if (($2 != 0)) && [[ -z $bad ]]; then bad=1; fi
  echo "${good:-0} ${bad:-0}"
}

# Python's unittest: "Ran N tests" and "FAILED (failures=1, errors=2)".
count_unittest() {
  local ran bad
  ran=$(sed -nE 's/^Ran ([0-9]+) tests? in .*/\1/p' "$1" | awk '{s += $1} END {print s + 0}')
  bad=$(grep -E '^FAILED \(' "$1" | grep -oE '(failures|errors)=[0-9]+' | cut -d= -f2 |
    awk '{s += $1} END {print s + 0}')
  if (($2 != 0 && bad == 0)); then bad=1; fi
  echo "$((ran > bad ? ran - bad : 0)) $bad"
}

# ---- tiers

tier_lint() {
  local tool tools=(tools/*_test.py)
  total=$((${#tools[@]} + 4))
  for tool in "${tools[@]}"; do begin unittest "$tool" python3 "$tool"; done
  begin check layers python3 tools/check_layers.py
  begin check twins python3 tools/check_twins.py
  begin check tidiness python3 tools/tidy.py
  begin check formatting bash -c \
    "git ls-files '*.h' '*.hpp' '*.c' '*.cc' | xargs clang-format-19 --dry-run -Werror"
}

# build_release [TARGET...]
build_release() {
  cmake --preset release -DCLEAVE_BENCH=OFF >/dev/null &&
    cmake --build --preset release -j "$jobs" ${1:+--target} "$@"
}

tier_build() {
  total=1
  begin check "release build" build_release
}

tier_unit() {
  local program programs=("$release"/*_test)
  total=${#programs[@]}
  for program in "${programs[@]}"; do begin_gtest "$program"; done
}

begin_gtest() { begin gtest "$(basename "$1")" "$1" --gtest_brief=1 "${@:2}"; }

# In windows, for two cores. The same seed must give the same history, in every process.
tier_sim() {
  local seeds=${SEEDS:-200} half
  half=$((seeds / 2))
  total=3
  begin check "seeds 1 to $half" "$release/cleave-sim" --seeds "$half"
  begin check "seeds $((half + 1)) to $seeds" "$release/cleave-sim" --seeds-file /dev/null \
    --first $((half + 1)) --seeds $((seeds - half))
  begin check "one seed, twice" bash -c \
    "diff <($release/cleave-sim --seed 7) <($release/cleave-sim --seed 7)"
}

tier_integration() {
  local file files=(tests/integration/*_test.py)
  total=${#files[@]}
  begin_integration "${files[@]}"
}

# Those that ask how fast something is have the machine for themselves, at the end.
begin_integration() {
  local python file alone=()
  if ! python=$(tools/python_env.sh 2>"$work/python"); then
    begin check "the Python environment with redis-py" bash -c "cat '$work/python'; false"
    return
  fi
  for file in "$@"; do
    if grep -q '^# Runs alone' "$file"; then
      alone+=("$file")
    else
      begin unittest "$(basename "$file")" "$python" "$file"
    fi
  done
  for file in ${alone[@]+"${alone[@]}"}; do
    end_all
    begin unittest "$(basename "$file")" "$python" "$file"
  done
}

# The core, which is where memory is handled by hand, and the simulated world, which runs nearly all
# of the rest. What is left is under `make asan` and `make tsan`.
tier_sanitizers() {
  local program programs=(base ring ring_library wire route migrate heat) seeds=12
  total=$((${#programs[@]} + 3))
  begin check "asan-ubsan build" tools/run_sanitized.sh asan-ubsan "$jobs" --build-only \
    "${programs[@]/%/_test}" cleave-sim
  end_all
  export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
  begin check "simulated world, sanitized" bash -o pipefail -c \
    "build/asan-ubsan/cleave-sim --seeds $seeds | tee '$work/sanitized'"
  for program in "${programs[@]}"; do begin_gtest build/asan-ubsan/"${program}"_test; done
  end_all
  # Neither the compiler nor a sanitizer may decide what happens in a world.
  begin check "the same worlds, not sanitized" bash -o pipefail -c \
    "$release/cleave-sim --seeds $seeds | diff '$work/sanitized' -"
}

# ---- one thing

# Program and filter of a suite of unit tests, "layer_test SUITE.*", from the sources; nothing when
# there is no such suite.
find_suite() {
  local suite=${1%%.*} source
  source=$(grep -rlE "^(TEST|TEST_F|TEST_P|TYPED_TEST)\(${suite//\*/\\w*}," src sim | head -n 1)
  [[ $source ]] || return 0
  [[ $source != src/* ]] || source=${source#src/}
  [[ $1 == *.* ]] || set -- "$1.*"
  echo "${source%%/*}_test $1:*/$1"
}

run_only() {
  local name=$1 layer=${1%_test} program='' filter='' file='' targets=()
  layer=${layer%.py}
  layer=${layer%_test}
  if [[ $name != *.py && $layer != */* ]] &&
    { [[ -d src/$layer ]] || [[ $layer == sim ]]; }; then
    program=${layer}_test
  elif [[ $name != *.py ]]; then
    read -r program filter < <(find_suite "$name") || true
  fi
  if [[ $name != *_test && -e tests/integration/${layer}_test.py ]]; then
    file=tests/integration/${layer}_test.py
    targets+=(cleave)
  fi
  [[ -z $program ]] || targets+=("$program")
  if ((${#targets[@]} == 0)); then
    echo "nothing is called '$name': there are layers (src/*), tests/integration/*_test.py, and" \
      "suites of unit tests; tools/run_tests.sh explains"
    failed=1
    return
  fi
  build_release "${targets[@]}" || { failed=1; return; }
  total=${#targets[@]}
  begun=$SECONDS
  [[ -z $program ]] || begin_gtest "$release/$program" ${filter:+"--gtest_filter=$filter"}
  [[ -z $file ]] || begin_integration "$file"
  end_all
  if ((passed + failed == 0)); then
    echo "no test is called '$name'"
    failed=1
  fi
}

run_tier() {
  local tier=$1 passed_before=$passed failed_before=$failed
  echo "== $tier"
  begun=$SECONDS
  done_count=0
  "tier_$tier"
  end_all
  summary+=("$(printf '%-12s %6d passed %4d failed   %6s' "$tier" $((passed - passed_before)) \
    $((failed - failed_before)) "$(clock $((SECONDS - begun)))")")
}

if [[ ${1:-} == only ]]; then
  run_only "${2:-}"
else
  for tier in "$@"; do run_tier "$tier"; done
  echo "== summary"
  printf '%s\n' "${summary[@]}"
fi
if ((${#failures[@]} > 0)); then
  echo "== failed"
  printf '%s\n' "${failures[@]}"
fi
echo "$passed passed, $failed failed"
((failed == 0))
