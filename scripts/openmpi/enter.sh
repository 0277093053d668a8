#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program of the Debian release in PREFIX/root on a machine with another one.
#
#   PREFIX/bin/NAME WORD...     a link to PREFIX/enter, a copy of this file (scripts/openmpi/debian.sh)
#
# The program sees /usr and /etc of that release and everything else of this machine at the same
# paths: the folder of the caller, the program of the job, the run directory. A container would not
# do, because the tool `fathom` stays outside and must agree with the ranks about every path. Only the
# program and its children see it, in a mount namespace of their own; nothing remains when they have
# ended.
#
# Every step replaces the process by the next, so signals reach the program and its exit code is that
# of the wrapper. LD_PRELOAD and LD_LIBRARY_PATH are meant for the program, not for the shell and tools
# of this machine: they are set again in the last step.
set -eu

fail() { printf 'fathom: %s\n' "$*" >&2; exit 1; }

# enter NAMESPACE USER GROUP WORD...: in a namespace other than the caller's, as its root. The last
# words go to `env`. Without the check, calling this file by its own name would mount the other
# release's /usr over that of the whole machine.
enter() {
  case ${1:-} in
    "$(readlink /proc/self/ns/mnt)") fail "unshare made no mount namespace" ;;
    mnt:*) ;;
    *) fail "do not run $0 itself; run one of the programs in $prefix/bin" ;;
  esac
  user=$2 group=$3
  shift 3
  # What belongs to this machine although it is in those two folders.
  for path in /etc/passwd /etc/group /etc/hosts /etc/resolv.conf /etc/nsswitch.conf; do
    [ ! -f "$path" ] || [ ! -f "$root$path" ] || mount --bind "$path" "$root$path"
  done
  for path in /usr/local /usr/lib/*/fathom /usr/share/fathom; do
    [ ! -d "$path" ] || { mkdir -p "$root$path" && mount --rbind "$path" "$root$path"; }
  done
  # Elsewhere than on Debian, these may be folders, not links into /usr.
  for path in /bin /sbin /lib /lib64; do
    [ ! -d "$path" ] || [ -L "$path" ] || mount --rbind "$root/usr$path" "$path"
  done
  mount --rbind "$root/etc" /etc
  mount --rbind "$root/usr" /usr
  [ "$user" = 0 ] || exec unshare --user --map-user="$user" --map-group="$group" /usr/bin/env "$@"
  exec /usr/bin/env "$@"
}

name=${0##*/}
if [ "$name" != enter ]; then
  set -- "/usr/bin/$name" "$@"
  if [ -n "${LD_LIBRARY_PATH:-}" ]; then set -- "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" "$@"; fi
  if [ -n "${LD_PRELOAD:-}" ]; then set -- "LD_PRELOAD=$LD_PRELOAD" "$@"; fi
  unset LD_PRELOAD LD_LIBRARY_PATH
fi
prefix=$(realpath "$0")
prefix=${prefix%/*}
root=$prefix/root
if [ "$name" = enter ]; then enter "$@"; fi

user=$(id -u)
[ "$user" = 0 ] && as_root='' || as_root=--map-root-user
refused=$(unshare $as_root --mount true 2>&1) ||
  fail "$prefix is another Debian release, which needs a mount namespace of its own, which this" \
    "account is not allowed to make ($refused)"
exec unshare $as_root --mount /bin/sh "$prefix/enter" "$(readlink /proc/self/ns/mnt)" "$user" \
  "$(id -g)" "$@"
