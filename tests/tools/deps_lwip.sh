#!/bin/sh
# lwIP's source, never committed:
#   deps_lwip.sh fetch OUT        Debian source package into OUT/lwip, unless it is there already
#   deps_lwip.sh unpack FILE DIR  check a tarball's hash and unpack it into DIR
#   deps_lwip.sh check DIR        is DIR a tree of the version we need?
#
# The mirror is the one the machine's apt is set up for.  apt works here on private lists, cache and
# sources under OUT/deps: the machine's own are neither read for this nor written, and no root is
# needed.  The private source is marked trusted, because an older Debian lacks the newer one's
# archive key; what makes us trust the tarball is its SHA-256 below.
#
# Every failure is one line; its kind (network, unserved, hash, setup) is left in
# OUT/deps/lwip.error.
set -eu

VERSION=2.2.1
SHA256=83729c274c499d3348e9fbbe043a3113f3fa8953e7efddc7c21c7fcbb1f2b7b1
SUITE=trixie

# fail KIND MESSAGE
fail() {
    [ -d "${apt:-}" ] && echo "$1" >"$apt/lwip.error"
    echo "deps: $2" >&2
    exit 1
}

has_version() {
    sed -n 's/^#define LWIP_VERSION_\(MAJOR\|MINOR\|REVISION\) *\([0-9]*\).*/\2/p' \
        "$1/src/include/lwip/init.h" 2>/dev/null | paste -s -d. -
}

check() {
    found=$(has_version "$1")
    [ "$found" = "$VERSION" ] ||
        fail setup "LWIP=$1 is not lwIP $VERSION: its lwip/init.h says '${found:-no such file}'"
}

# apt-get on the private directories.
private_apt() {
    apt-get -q -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$apt/lists" -o Dir::State::status="$apt/status" \
        -o Dir::Cache="$apt/cache" -o Acquire::Retries=2 -o APT::Sandbox::User= "$@"
}

# Addresses of Debian's main archive among the given index targets ("label|component|uri" lines).
main_archive() {
    sed -n 's/^Debian|main|//p' | awk '!seen[$0]++'
}

# The machine's own lists say where it gets Debian from.  A fresh image may have no lists yet: then
# the machine's sources are read into a private folder, which needs no root.
mirrors() {
    # shellcheck disable=SC2016  # apt's fields, not the shell's
    fields='$(LABEL)|$(COMPONENT)|$(REPO_URI)'
    found=$(apt-get indextargets --format "$fields" 'Created-By: Packages' | main_archive)
    if [ -z "$found" ]; then
        mkdir -p "$apt/machine/partial"
        set -- -o Dir::State::Lists="$apt/machine" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=
        apt-get -q "$@" update >>"$log" 2>&1 || true
        found=$(apt-get "$@" indextargets --format "$fields" 'Created-By: Packages' | main_archive)
    fi
    echo "$found"
}

no_network() {
    grep -qE 'Temporary failure|Could not (resolve|connect)|Unable to connect|timed out' "$log"
}

# Download the source package from one mirror into $apt/source.
download() {
    echo "deb-src [trusted=yes] $1 $SUITE main" >"$apt/sources.list"
    private_apt update >>"$log" 2>&1 || true
    (cd "$apt/source" &&
        private_apt source --download-only "lwip/$SUITE" >>"$log" 2>&1)
}

# shellcheck disable=SC2144  # at most one file matches
have_tarball() {
    [ -f "$apt/source/"lwip_*.orig.tar.* ]
}

unpack() {
    actual=$(sha256sum "$1" | cut -d' ' -f1)
    [ "$actual" = "$SHA256" ] ||
        fail hash "wrong hash: $(basename "$1") has SHA-256 $actual, wanted $SHA256"
    rm -rf "$2.part"
    mkdir -p "$2.part"
    tar -xf "$1" -C "$2.part" --strip-components=1 --no-same-owner
    check "$2.part"
    echo "$SHA256" >"$2.part/.sha256"
    rm -rf "$2"
    mv "$2.part" "$2"
}

fetch() {
    tree=$1/lwip apt=$(realpath -m "$1/deps") log=$1/deps/lwip.log
    [ "$(cat "$tree/.sha256" 2>/dev/null)" != "$SHA256" ] || return 0
    echo "deps: fetching lwIP $VERSION"
    log=$apt/lwip.log
    rm -rf "$apt/source" "$apt/lwip.error"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/source"
    : >"$apt/status"
    : >"$log"
    found=$(mirrors)
    for mirror in $found; do
        download "$mirror" && have_tarball && break
    done
    if ! have_tarball; then
        no_network && fail network "no network: cannot reach the Debian mirror for lwIP (see $log)"
        [ -n "$found" ] ||
            fail setup "apt is set up for no Debian mirror to fetch lwIP from: pass LWIP=/path"
        fail unserved "source package lwip of $SUITE is no longer served: pass LWIP= (see $log)"
    fi
    unpack "$apt/source/"lwip_*.orig.tar.* "$tree"
    rm -rf "$apt/lists" "$apt/cache" "$apt/source" "$apt/machine"
}

"$@"
