#!/usr/bin/env bash
# Installs the Debian packages of tools/packages.txt that are missing, as root or through sudo.
# Does nothing, quickly, when all are there.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t wanted < <(grep -v '^#' tools/packages.txt)
missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then exit 0; fi

exec tools/install_packages.sh "${missing[@]}"
