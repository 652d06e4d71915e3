#!/usr/bin/env bash
# A Ceph cluster of its own on plain files, for tests and ./dev cluster: one monitor, one manager,
# three OSDs.
#
#   tools/ceph.sh up DIR [ADDRESS]   starts it; DIR/ceph.conf is what clients need, the pool is "orrery". All
#                                    daemons listen at ADDRESS, loopback by default
#   tools/ceph.sh start DIR DAEMON   starts mon.a or osd.N again, which was killed; DIR/run/DAEMON.pid has its id
#   tools/ceph.sh down DIR           ends just those processes
#
# Everything lies in DIR, and nothing else on the machine is touched. It needs ceph-mon, ceph-mgr,
# ceph-osd and ceph-common, and about 1 GB of memory.
set -euo pipefail

die() {
  echo "ceph: $*" >&2
  exit 1
}

command=${1-} dir=${2-} argument=${3-}
[[ -n $dir && $command =~ ^(up|start|down)$ ]] || die "usage: tools/ceph.sh up DIR [ADDRESS] | start DIR DAEMON | down DIR"
address=127.0.0.1
osds=3

# One that nobody listens on now.
free_port() {
  python3 -c 'import socket, sys; s = socket.socket(); s.bind((sys.argv[1], 0)); print(s.getsockname()[1])' "$address"
}

write_conf() {
  local port=$1
  cat > "$dir/ceph.conf" <<END
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
mon_host = [v2:$address:$port/0]
ms_bind_msgr1 = false
ms_bind_ipv6 = false
public_addr = $address
cluster_addr = $address
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
setuser =
setgroup =
run_dir = $dir/run
log_file = $dir/log/\$name.log
mon_cluster_log_file = $dir/log/cluster.log
crash_dir = $dir/crash
admin_socket = $dir/run/\$name.\$pid.asok
pid_file = $dir/run/\$name.pid
osd_pool_default_size = $osds
osd_pool_default_min_size = 2
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
osd_heartbeat_interval = 1
osd_heartbeat_grace = 4
mon_osd_min_down_reporters = 1
mon_allow_pool_delete = true
mon_warn_on_pool_no_redundancy = false
paxos_propose_interval = 0.2
mon_data = $dir/mon
mgr_data = $dir/mgr
osd_data = $dir/osd\$id
osd_objectstore = bluestore
bluestore_block_size = 4294967296
bluestore_block_create = true
osd_memory_target = 939524096
osd_op_num_shards = 2
osd_scrub_begin_hour = 0
osd_scrub_end_hour = 0
debug_ms = 0
debug_osd = 0
debug_mon = 0
debug_bluestore = 0
debug_rocksdb = 0
END
}

ceph() { command ceph --conf "$dir/ceph.conf" --connect-timeout 30 "$@"; }

up() {
  address=${argument:-$address}
  for program in ceph-mon ceph-mgr ceph-osd monmaptool ceph; do
    command -v "$program" > /dev/null || die "there is no $program: apt-get install ceph-mon ceph-mgr ceph-osd ceph-common"
  done
  mkdir -p "$dir"/{run,log,crash,mon,mgr}
  dir=$(readlink -f "$dir")
  local port fsid
  port=$(free_port)
  write_conf "$port"
  fsid=$(sed -n 's/^fsid = //p' "$dir/ceph.conf")
  monmaptool --create --fsid "$fsid" --addv a "[v2:$address:$port/0]" "$dir/monmap" > /dev/null
  ceph-mon --conf "$dir/ceph.conf" --mkfs -i a --monmap "$dir/monmap" 2> "$dir/log/mkfs.log"
  ceph-mon --conf "$dir/ceph.conf" -i a
  ceph-mgr --conf "$dir/ceph.conf" -i x 2>> "$dir/log/mkfs.log"
  local i uuid jobs=()
  for ((i = 0; i < osds; i++)); do
    uuid=$(cat /proc/sys/kernel/random/uuid)
    mkdir -p "$dir/osd$i"
    ceph osd new "$uuid" > /dev/null
    (
      ceph-osd --conf "$dir/ceph.conf" -i "$i" --mkfs --osd-uuid "$uuid" 2>> "$dir/log/mkfs.log"
      ceph-osd --conf "$dir/ceph.conf" -i "$i" > /dev/null 2>> "$dir/log/mkfs.log"
    ) &
    jobs+=($!)
  done
  wait "${jobs[@]}"
  ceph osd pool create orrery 16 16 > /dev/null 2>&1
  ceph osd pool application enable orrery orrery > /dev/null 2>&1
  for ((i = 0; i < 300; i++)); do
    if ceph pg stat 2> /dev/null | grep -q '16 pgs: 16 active+clean'; then return; fi
    if ceph pg stat 2> /dev/null | grep -Eq '[0-9]+ pgs: ([0-9]+) active\+clean;'; then return; fi
    sleep 0.2
  done
  die "it did not become ready within 60 s: see $dir/log"
}

start() {
  [[ $argument =~ ^(mon\.a|osd\.[0-9])$ ]] || die "which daemon? mon.a, or osd.0 to osd.$((osds - 1))"
  "ceph-${argument%.*}" --conf "$dir/ceph.conf" -i "${argument#*.}" > /dev/null 2>> "$dir/log/start.log"
}

down() {
  local file pid
  for file in "$dir"/run/*.pid; do
    [[ -e $file ]] || continue
    pid=$(cat "$file")
    # Only what was started for this folder.
    if grep -qa "$dir/ceph.conf" "/proc/$pid/cmdline" 2> /dev/null; then kill -KILL "$pid" || true; fi
    rm -f "$file"
  done
}

if [[ $command != up ]]; then dir=$(readlink -f "$dir"); fi
"$command"
