#!/usr/bin/env bash
# Installs Debian packages, as root or through sudo, and leaves no service running that was not
# running before:  tools/install_packages.sh PACKAGE...
set -euo pipefail

if ((EUID == 0)); then
  as_root=()
elif command -v sudo >/dev/null; then
  as_root=(sudo)
else
  echo "setup: missing packages: $*" >&2
  echo "setup: run this as root, or install sudo, or install them by hand" >&2
  exit 2
fi

# Debian starts a daemon when its package is installed, unless this file says no. cleave starts its
# own servers; one more on port 6379 would only be in the way.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi

echo "setup: installing $*"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -q --no-install-recommends "$@"
