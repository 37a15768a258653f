#!/usr/bin/env bash
# Prints the Python of build/venv, which has the real clients of the integration tests; makes it
# when it is missing or when tests/integration/requirements.txt is newer.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=build/venv
wanted=tests/integration/requirements.txt
if [[ ! -e $venv/ready || $wanted -nt $venv/ready ]]; then
  /usr/bin/python3 -m venv "$venv" >&2
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted" >&2
  touch "$venv/ready"
fi
echo "$venv/bin/python"
