#!/usr/bin/env bash
# Installs what only `make model` needs: Spin, and the C compiler that its verifiers go through.
# Does nothing when both are there.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=()
command -v spin >/dev/null || wanted+=(spin)
command -v gcc >/dev/null || wanted+=(gcc libc6-dev)
if ((${#wanted[@]} > 0)); then exec tools/install_packages.sh "${wanted[@]}"; fi
