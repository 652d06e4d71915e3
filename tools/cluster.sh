#!/usr/bin/env bash
# A cluster of N nodes on this machine, for tests and for trying things out. ./dev cluster is its front.
#
#   tools/cluster.sh up N DIR ceph|directory [FLAG...]   starts it; FLAGs are for every `orrery serve`
#   tools/cluster.sh down DIR                            ends just those processes; the data stay
#
#   DIR/nodes.json     [{"name", "endpoint", "key", "pid"}] of the nodes, once all are ready
#   DIR/certificates   the cluster's CA, and a certificate a node
#   DIR/ceph, DIR/store  the volume that the nodes share: a Ceph of its own on loopback, or a directory
#   DIR/nK, DIR/nK.log   a node's data folder, and what it said
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
program=${ORRERY_PROGRAM-$here/../build/orrery}

die() {
  echo "cluster: $*" >&2
  exit 1
}
progress() { echo "cluster: $*" >&2; }

# COUNT different ones that nobody listens on now.
free_ports() {
  python3 -c '
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for one in held: one.bind(("127.0.0.1", 0))
for one in held: print(one.getsockname()[1])' "$1"
}

# Whether process $1 is the node of folder $2.
is_node() { tr '\0' '\n' < "/proc/$1/cmdline" 2> /dev/null | grep -qxF -- "$2"; }

up() {
  local count=$1 volume_kind=$3 name ports volume=() pids=() i key
  dir=$2
  shift 3
  [[ -x $program ]] || die "there is no $program: ./dev build makes it"
  mkdir -p "$dir"
  dir=$(readlink -f "$dir")
  [[ ! -e $dir/nodes.json ]] || die "a cluster runs in $dir already, or was not ended: ./dev cluster down --dir $dir"

  local names=()
  for ((i = 1; i <= count; i++)); do names+=("n$i"); done
  progress "certificates"
  "$here/cluster_certificates.sh" "$dir/certificates" 127.0.0.1 "${names[@]}"
  if [[ $volume_kind == ceph ]]; then
    [[ ! -e $dir/ceph ]] || die "the Ceph of $dir was ended, and cannot be started again: take another folder"
    progress "Ceph on loopback, which takes half a minute"
    "$here/ceph.sh" up "$dir/ceph"
    volume=(--volume rados:orrery --ceph-conf "$dir/ceph/ceph.conf")
  else
    mkdir -p "$dir/store"
    volume=(--volume "directory:$dir/store")
  fi

  mapfile -t ports < <(free_ports $((2 * count)))
  for ((i = 0; i < count; i++)); do
    name=${names[i]}
    # A session of its own: it outlives the shell that started it.
    setsid "$program" serve --data "$dir/$name" --port "${ports[2 * i]}" "${volume[@]}" \
      --node "$name" --node-address "127.0.0.1:${ports[2 * i + 1]}" \
      --cluster-ca "$dir/certificates/ca.pem" --cluster-cert "$dir/certificates/$name.pem" \
      --cluster-key "$dir/certificates/$name.key" "$@" > "$dir/$name.log" 2>&1 < /dev/null &
    pids+=($!)
  done
  for ((i = 0; i < count; i++)); do
    progress "waiting for ${names[i]}"
    until grep -q '^orrery ready on ' "$dir/${names[i]}.log"; do
      if ! kill -0 "${pids[i]}" 2> /dev/null; then
        for pid in "${pids[@]}"; do kill -KILL "$pid" 2> /dev/null || true; done
        [[ $volume_kind != ceph ]] || "$here/ceph.sh" down "$dir/ceph"
        die "${names[i]} did not start: $(tail -n 3 "$dir/${names[i]}.log")"
      fi
      sleep 0.05
    done
  done

  # With --dev there is no file of keys: the key is the emulator's, as `orrery keys list` tells.
  key=$("$program" keys list --data "$dir/n1" 2> /dev/null | awk '$1 == "primary" { print $2 }')
  {
    printf '['
    for ((i = 0; i < count; i++)); do
      ((i == 0)) || printf ',\n '
      printf '{"name": "%s", "endpoint": "http://127.0.0.1:%s", "key": "%s", "pid": %s}' \
        "${names[i]}" "${ports[2 * i]}" "$key" "${pids[i]}"
    done
    printf ']\n'
  } > "$dir/nodes.json.part"
  mv "$dir/nodes.json.part" "$dir/nodes.json"
  progress "$count nodes are ready: $dir/nodes.json"
}

down() {
  local name pid i
  [[ -d $1 ]] || die "there is no $1"
  dir=$(readlink -f "$1")
  if [[ -e $dir/nodes.json ]]; then
    local running=()
    while read -r name pid; do
      if is_node "$pid" "$dir/$name"; then
        kill -TERM "$pid" && running+=("$name $pid")
        # One that a test has stopped ends only when it goes on.
        kill -CONT "$pid" || true
      fi
    done < <(sed -nE 's/.*"name": "([^"]*)".*"pid": ([0-9]+).*/\1 \2/p' "$dir/nodes.json")
    for one in "${running[@]}"; do
      read -r name pid <<< "$one"
      progress "waiting for $name to end"
      for ((i = 0; i < 600; i++)); do
        is_node "$pid" "$dir/$name" || break
        sleep 0.05
      done
      if is_node "$pid" "$dir/$name"; then
        progress "$name does not end: killed"
        kill -KILL "$pid" || true
      fi
    done
    rm -f "$dir/nodes.json"
  fi
  [[ ! -d $dir/ceph ]] || "$here/ceph.sh" down "$dir/ceph"
}

case ${1-} in
  up) (($# >= 4)) || die "usage: tools/cluster.sh up N DIR ceph|directory [FLAG...]" ;;
  down) (($# == 2)) || die "usage: tools/cluster.sh down DIR" ;;
  *) die "usage: tools/cluster.sh up|down …" ;;
esac
"$@"
