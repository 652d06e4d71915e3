# Shell functions shared by ./run, ./test and ./dev: messages, Debian packages, builds.
# To be sourced by bash with `set -euo pipefail`, from the root of the repository.
# shellcheck shell=bash

if [[ -t 2 ]]; then
  bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else
  bold='' red='' green='' plain=''
fi

say() { printf '%s\n' "${bold}$*${plain}" >&2; }
good() { printf '%s\n' "${green}$*${plain}" >&2; }
bad() { printf '%s\n' "${red}$*${plain}" >&2; }
die() {
  bad "$*"
  exit 1
}

cores() { nproc; }

# A second checkout compiles nothing again: the compiler cache sees paths from the root on, and debug
# information does not tell it which folder it was made in.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# Prints the packages of the given needs (build, test, bench) that are not there.
missing_packages() {
  local need package unless_word command wanted=()
  while read -r need package unless_word command; do
    [[ " $* " == *" $need "* ]] || continue
    [[ -n $unless_word ]] && command -v "$command" >/dev/null && continue
    wanted+=("$package")
  done < <(grep -v '^#' tools/packages.txt)
  ((${#wanted[@]} > 0)) || return 0
  # dpkg-query fails when it does not know one of them, and still answers for the others.
  # shellcheck disable=SC2016
  comm -23 <(printf '%s\n' "${wanted[@]}" | sort -u) \
    <(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null |
      awk '$2 == "installed" { print $1 }' | sort -u)
}

# Installs what the given needs lack. Without anything missing it needs no root and takes no time.
need() {
  local missing=() as_root=()
  command -v dpkg-query >/dev/null ||
    die "This is not Debian: install by hand what tools/packages.txt lists, then use cmake itself."
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} > 0)); then
    if ((EUID != 0)); then
      if command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
        as_root=(sudo)
      else
        die "These Debian packages are missing, and installing them needs root or sudo:
  apt-get install --no-install-recommends ${missing[*]}"
      fi
    fi
    say "Installing ${missing[*]}"
    install_packages "${missing[@]}"
  fi
  node -e 'process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)' ||
    die "$(command -v node) is version $(node --version); the console and the tests need 18 or newer."
}

install_packages() {
  local log
  log=$(mktemp)
  if ! "${as_root[@]}" apt-get update >"$log" 2>&1; then
    cat "$log" >&2
    bad "apt-get update failed; going on with the package lists that are there."
  fi
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y \
    --no-install-recommends "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "apt-get could not install: $*"
  fi
  rm -f "$log"
}

# configure FOLDER [CMAKE ARGUMENT...]: once; ninja looks after changes from then on.
configure() {
  local folder=$1
  shift
  [[ -f $folder/build.ninja ]] && return 0
  local log
  log=$(mktemp)
  if ! cmake -S . -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# build FOLDER [TARGET...]: progress on a terminal, otherwise only what fails.
build() {
  local folder=$1
  shift
  if [[ -t 1 ]]; then
    ninja -C "$folder" "$@"
  else
    ninja -C "$folder" --quiet "$@" | { grep -v '^ninja: no work to do' >&2 || true; }
  fi
}

build_release() {
  configure build -DCMAKE_BUILD_TYPE=Release && build build "$@"
}

# The Debian package, into build/package. CPack prints what it did only when it failed.
make_package() {
  local log
  log=$(mktemp)
  rm -rf build/package
  if build_release orrery reference && (cd build && cpack -G DEB) >"$log" 2>&1; then
    rm -rf build/package/_CPack_Packages "$log"
    return 0
  fi
  cat "$log" >&2
  rm -f "$log"
  return 1
}

# The C++ files, one a line.
cxx_files() {
  find src tests bench -name node_modules -prune -o -name '*.cc' -print -o -name '*.h' -print \
    2>/dev/null | sort
}
