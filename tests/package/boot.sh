#!/usr/bin/env bash
# Boots systemd in a folder that has a Debian, shut off from this machine: processes, mounts, network, host name and
# control groups of its own. As root.
#
#   tests/package/boot.sh ROOT
#
# It runs until it is killed, and everything in it with it.
set -euo pipefail

# Inside: become the first process of the new system.
if [[ ${2-} == inside ]]; then
  cd "$1"
  mount --make-rprivate /
  mount --bind . .
  cd "$1"
  mount -t proc proc proc
  mount --bind proc/sys proc/sys
  mount -o remount,bind,ro proc/sys
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs -o mode=755 tmpfs run
  mount -t tmpfs -o mode=755 tmpfs dev
  for device in null zero full random urandom tty; do
    touch "dev/$device"
    mount --bind "/dev/$device" "dev/$device"
  done
  mkdir dev/pts dev/shm
  mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
  mount -t tmpfs tmpfs dev/shm
  ln -s pts/ptmx dev/ptmx
  ip link set lo up
  # Not chroot: nothing in one may have user namespaces, which the unit asks for.
  mkdir -p old
  pivot_root . old
  umount -l /old
  exec setpriv --bounding-set=-sys_module,-sys_time,-sys_rawio \
    env -i container=orrery-test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --log-target=console --log-level=notice --show-status=0
fi

groups=$(findmnt -t cgroup2 -n -o TARGET | head -n 1)
[[ -n $groups ]] || {
  echo "there is no cgroup2 file system" >&2
  exit 1
}
group=$groups/orrery-package-$$
mkdir "$group"
mover=$BASHPID
# Control groups outlive their processes.
clean() {
  echo "$mover" >"$groups/cgroup.procs"
  find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
}
trap clean EXIT
echo "$mover" >"$group/cgroup.procs"
unshare --mount --pid --fork --kill-child --cgroup --uts --ipc --net "$0" "$1" inside &
child=$!
trap 'kill -KILL "$child" 2>/dev/null || true' TERM INT
wait "$child" || true
# The processes of the name space end with its first one, a moment later.
for ((i = 0; i < 100; i++)); do
  [[ $(grep -rhv "^$mover\$" "$group" --include=cgroup.procs 2>/dev/null | wc -l) == 0 ]] && break
  sleep 0.1
done
