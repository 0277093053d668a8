# SPDX-License-Identifier: BSD-3-Clause
# Shared by the scripts: paths, long steps with progress, error sentences. Source it, do not run it.

fathom_scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fathom_root=$(dirname "$fathom_scripts")
fathom_cache=${FATHOM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/fathom}
fathom_build=${FATHOM_BUILD:-$fathom_root/build}
# Each checkout has its own logs; an installed copy of the scripts has no checkout.
fathom_logs=${FATHOM_LOGS:-$fathom_build/setup-logs}
if [ -z "${FATHOM_LOGS:-}" ] && [ ! -f "$fathom_root/meson.build" ]; then
  fathom_logs=$fathom_cache/log
fi

# The Open MPI on which the tests run, and where `scripts/openmpi.sh` leaves it (a link).
fathom_openmpi=4.1.4-peruse
# Later releases, on which some tests run where they can be had.
fathom_releases='5.0.7 6.0.0rc2'
openmpi_prefix=${FATHOM_OPENMPI:-$fathom_cache/openmpi-$fathom_openmpi}

# mpirun refuses to run as root unless two variables allow it; inside a container or CI root is all there is.
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

die() { printf 'fathom: %s\n' "$*" >&2; exit 1; }

skip() { printf '==> %s: %s\n' "$1" "$2"; }

# The last line of a log, cut to this many columns: what a compiler or package manager does now.
last_line() { tail -c 2000 "$1" | tr '\r' '\n' | sed '/^[[:space:]]*$/d' | tail -n 1 | cut -c "1-$2"; }

# Shows what a log says until it is killed: every second on a terminal, in place; otherwise a line
# every 20 seconds.
show_progress() {
  local log=$1 started=$SECONDS interval=20 columns=72
  if [ -t 1 ]; then interval=1; fi
  while sleep "$interval" && kill -0 "$$" 2>/dev/null; do
    if [ -t 1 ]; then
      printf '\r    %4d s  %s\033[K' $((SECONDS - started)) "$(last_line "$log" $columns)"
    else
      printf '    %4d s  %s\n' $((SECONDS - started)) "$(last_line "$log" $columns)"
    fi
  done
}

# step TITLE COMMAND...: runs the command (errexit is on in a function), its output in a log.
step() {
  local title=$1 started=$SECONDS status watcher log errexit=$-
  shift
  log=$fathom_logs/$(printf '%s' "$title" | tr -cs 'A-Za-z0-9.\n' '-').log
  mkdir -p "$fathom_logs" || die "cannot make the folder $fathom_logs for logs; set FATHOM_LOGS to another one"
  printf '==> %s\n' "$title"
  : >"$log"
  show_progress "$log" &
  watcher=$!
  # Not in a condition, where bash would ignore errexit inside the command too.
  set +e
  (set -e; "$@") >"$log" 2>&1
  status=$?
  kill "$watcher" 2>/dev/null
  wait "$watcher" 2>/dev/null
  case $errexit in *e*) set -e ;; esac
  if [ -t 1 ]; then printf '\r\033[K'; fi
  if [ "$status" != 0 ]; then
    tail -n 30 "$log" >&2
    die "\"$title\" failed with exit code $status after $((SECONDS - started)) s; the whole log is $log"
  fi
  printf '    done in %d s\n' $((SECONDS - started))
}
