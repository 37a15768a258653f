#!/usr/bin/env bash
# Builds the fuzz targets with clang's libFuzzer, address and undefined-behaviour sanitizers and
# runs each for some seconds.
#
#   fuzz/run.sh [SECONDS] [TARGET...]     60 seconds, all targets
#
# Needs clang-19 and libclang-rt-19-dev. Corpus and binaries go to build/fuzz; an input that breaks
# a promise is left there as crash-*: make it a unit test.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
if (($# > 0)); then targets=("$@"); else targets=(request reply); fi

out=build/fuzz
mkdir -p "$out"
sources() { find "$@" -maxdepth 1 -name '*.cc' ! -name '*_test.cc' ! -name '*_bench.cc'; }
mapfile -t product < <(sources src/base src/wire; echo src/route/command_table.cc;
                       echo src/route/command_reply.cc; echo src/route/find_keys.cc;
                       echo src/route/known_commands.cc)
for target in "${targets[@]}"; do
  clang++-19 -std=c++23 -O1 -g1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    -I. -Isrc "fuzz/${target}_fuzz.cc" "${product[@]}" -o "$out/${target}_fuzz"
  mkdir -p "$out/$target-corpus"
  "$out/${target}_fuzz" -max_total_time="$seconds" -dict=fuzz/resp.dict -max_len=4096 \
    -artifact_prefix="$out/" -print_final_stats=1 "$out/$target-corpus"
done
