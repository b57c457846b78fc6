#!/bin/sh
# Checks the requirements without which no program of the archive starts, then starts the runner.
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin}
export PATH
case $0 in
*/*) home=${0%/*} ;;
*) home=. ;;
esac
home=$(CDPATH='' cd -- "$home" && pwd) || exit 2

machine=$(uname -m)
[ "$machine" = arm64 ] && machine=aarch64
if [ "$machine" != "@MACHINE@" ]; then
    echo "run-all: this archive is for @MACHINE@ processors, and this machine has $machine" >&2
    exit 2
fi

# The major version is 0 if the programs need no GNU C library.
if [ "@MAJOR@" -gt 0 ]; then
    have=$(getconf GNU_LIBC_VERSION 2>/dev/null) || have=$(ldd --version 2>/dev/null | head -n 1)
    have=${have##* }
    major=${have%%.*}
    minor=${have#*.}
    minor=${minor%%[!0-9]*}
    case $major$minor in
    '' | *[!0-9]*)
        echo "run-all: the GNU C library @MAJOR@.@MINOR@ or later is needed, and this machine has another C library or none that tells its version" >&2
        exit 2
        ;;
    esac
    if [ "$major" -lt "@MAJOR@" ] || { [ "$major" -eq "@MAJOR@" ] && [ "$minor" -lt "@MINOR@" ]; }; then
        echo "run-all: the GNU C library @MAJOR@.@MINOR@ or later is needed, and this machine has $major.$minor; make the archive on a system as old as this one" >&2
        exit 2
    fi
fi
exec "$home/bin/runner" "$@"
