#!/usr/bin/env bash
# Installs what only `make faults` needs: packet filters, a coordinator, and Go where none is there.
#
#   tools/faults_packages.sh etcd|zookeeper
#
# Does nothing when all is there.
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

want_all
if ((${#wanted[@]} > 0)); then exec tools/install_packages.sh "${wanted[@]}"; fi
