#!/usr/bin/env bash
# Installs the Debian packages of some groups of tools/packages.txt that are missing, as root or
# through sudo:  tools/setup.sh [GROUP...], all groups without an argument. Does nothing, quickly,
# when all are there.
set -euo pipefail
cd "$(dirname "$0")/.."
list=tools/packages.txt

mapfile -t known < <(sed -nE 's/^\[([a-z]+)\].*/\1/p' "$list")
groups=("$@")
if (($# == 0)); then groups=("${known[@]}"); fi

wanted=()
for group in "${groups[@]}"; do
  if [[ " ${known[*]} " != *" $group "* ]]; then
    echo "setup: no group '$group' in $list; there are: ${known[*]}" >&2
    exit 2
  fi
  mapfile -t -O ${#wanted[@]} wanted < <(awk -v group="[$group]" '
    /^\[/ { inside = $1 == group; next }
    inside && NF && !/^#/ { print $1 }' "$list")
done

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then exit 0; fi

exec tools/install_packages.sh "${missing[@]}"
