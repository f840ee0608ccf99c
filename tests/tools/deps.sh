#!/bin/sh
# deps.sh SET OUT [LWIP]: make sure that what SET (build, run or test) needs is there.
#
# Missing Debian packages are installed with apt-get, lwIP is fetched by deps_lwip.sh; LWIP is a
# tree of the user's own.  Quick when nothing is missing: it looks every time and trusts no stamp.
# Each failure is one line on stderr; apt's own words are in OUT/deps/apt.log.
set -eu

set_wanted=$1 out=$2 lwip=${3:-}
here=$(dirname "$0")
log=$out/deps/apt.log
mkdir -p "$out/deps"

fail() {
    echo "deps: $*" >&2
    exit 1
}

# Package names of SET and of the sets it builds on.
wanted() {
    case $set_wanted in
    build) sets='build' ;;
    run) sets='build|run' ;;
    test) sets='build|run|test' ;;
    *) fail "unknown set $set_wanted" ;;
    esac
    awk -v sets="^($sets)\$" '$1 ~ sets { print $2 }' "$here/packages.txt"
}

# Those of the arguments that are not installed.
missing() {
    for package in "$@"; do
        case " $installed " in
        *" $package "*) ;;
        *) printf '%s ' "$package" ;;
        esac
    done
}

# How to become root: nothing, sudo, or give up.  sudo may ask for a password only of a person.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        echo env
    elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        echo sudo env
    else
        return 1
    fi
}

apt_install() {
    $root DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        -o DPkg::Lock::Timeout=120 -o Acquire::Retries=2 \
        --no-install-recommends --no-remove install "$@" >>"$log" 2>&1
}

# Package lists may be absent or too old, but fetching them is slow: first without.
install_packages() {
    echo "deps: installing $*"
    : >"$log"
    apt_install "$@" && return
    $root apt-get -q -o Acquire::Retries=2 update >>"$log" 2>&1 || true
    apt_install "$@" && return
    if grep -qE 'Temporary failure|Could not (resolve|connect)|Unable to connect' "$log"; then
        fail "no network: apt-get cannot reach its mirror to install $* (see $log)"
    fi
    fail "apt-get cannot install $*: $(grep '^E:' "$log" | tail -n 1) (see $log)"
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "needs a Debian system (dpkg-query, apt-get) to install: $(wanted | tr '\n' ' ')"
fi
names=$(wanted | tr '\n' ' ')
# dpkg-query fails when it does not know one of them at all; what it does know is printed.
# shellcheck disable=SC2086  # a list of names
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $names 2>/dev/null |
    awk '$1 == "installed" { print $2 }' | tr '\n' ' ') || true
# shellcheck disable=SC2086
absent=$(missing $names)
if [ -n "$absent" ]; then
    root=$(as_root) || fail "needs root or sudo to install: ${absent% }"
    # shellcheck disable=SC2086
    install_packages $absent
fi

if [ -n "$lwip" ]; then
    exec "$here/deps_lwip.sh" check "$lwip"
fi
exec "$here/deps_lwip.sh" fetch "$out"
