#!/usr/bin/env bash
# The certificates of a cluster: a CA of its own, and one certificate a node, which the CA signed.
#
#   tools/cluster_certificates.sh DIR HOST NAME...
#
# makes DIR/ca.pem (and ca.key) unless they are there, and DIR/NAME.pem and DIR/NAME.key for each NAME. HOST is the
# address or name at which others reach the nodes: it is in the certificates, and callers compare it.
set -euo pipefail

die() {
  echo "certificates: $*" >&2
  exit 1
}

(($# >= 3)) || die "usage: tools/cluster_certificates.sh DIR HOST NAME..."
dir=$1 host=$2
shift 2
umask 077
mkdir -p "$dir"
cd "$dir"

# openssl's own messages only if it fails.
quietly() { openssl "$@" 2>openssl.log || die "$(cat openssl.log)"; }
key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
days=825

if [[ ! -f ca.pem ]]; then
  quietly req -x509 "${key[@]}" -days "$days" -subj "/CN=Orrery cluster CA" -keyout ca.key -out ca.pem
fi
kind=DNS
[[ $host =~ ^[0-9.]+$|: ]] && kind=IP
for name in "$@"; do
  quietly req "${key[@]}" -subj "/CN=$name" -addext "subjectAltName=$kind:$host" -keyout "$name.key" -out "$name.csr"
  quietly x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -days "$days" -copy_extensions copy -out "$name.pem"
  rm -f "$name.csr"
done
rm -f openssl.log
