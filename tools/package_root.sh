#!/usr/bin/env bash
# A bare Debian with what a package depends on, systemd, and nothing else, as a tar file: for tests of the package.
#
#   tools/package_root.sh DEB TAR
#
# Made by mmdebstrap from this machine's own sources of Debian; as root. One that is there, for the same packages and
# from today, is kept.
set -euo pipefail

deb=$1 tar=$2
packages=$(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed -E 's/^ *([a-z0-9.+-]+).*/\1/' | sort | paste -sd,),systemd,systemd-sysv,procps
name="$packages $(date +%F)"
if [[ -f $tar && $(cat "$tar.name" 2>/dev/null) == "$name" ]]; then exit 0; fi
# Other vendors' sources may not be reachable, and are not needed.
sources=/etc/apt/sources.list.d/debian.sources
[[ -f $sources ]] || sources=/etc/apt/sources.list
mmdebstrap --mode=root --variant=apt --quiet --skip=check/qemu \
  --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-include=/usr/share/man/*/orrery*' \
  --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' \
  --include="$packages" --format=tar bookworm "$tar.new" "$sources"
mv "$tar.new" "$tar"
printf '%s\n' "$name" >"$tar.name"
