#!/usr/bin/env bash
# Installs what only `make faults` needs: packet filters, a coordinator, and Go where none is there.
#
#   tools/faults_packages.sh etcd|zookeeper
#
# Does nothing when all is there. As root or through sudo. A package that starts a service is told
# not to, as in tools/setup.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

coordinator=${1:-etcd}
wanted=()

# want PROGRAM PACKAGE
want() { command -v "$1" >/dev/null || wanted+=("$2"); }

want_all() {
  want unshare util-linux
  want ip iproute2
  want iptables iptables
  want redis-server redis-server
  # tests/fleet/load/go.mod asks for no more than Debian's Go.
  want go golang-go
  case $coordinator in
    etcd) want etcd etcd-server ;;
    zookeeper)
      want java default-jre-headless
      [[ -e /usr/share/java/zookeeper.jar ]] || wanted+=(zookeeper libzookeeper-java)
      ;;
    *)
      echo "COORD is etcd or zookeeper, not '$coordinator'" >&2
      exit 2
      ;;
  esac
}

install_wanted() {
  local as_root=() policy=/usr/sbin/policy-rc.d
  if ((EUID != 0)); then as_root=(sudo); fi
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
    # shellcheck disable=SC2064
    trap "${as_root[*]} rm -f $policy" EXIT
  fi
  echo "faults: installing ${wanted[*]}"
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${wanted[@]}"
}

want_all
if ((${#wanted[@]} > 0)); then install_wanted; fi
