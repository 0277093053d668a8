#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds libmpi and pml/ob1 with PERUSE for an installed Open MPI, and nothing else of Open MPI.
#
#   scripts/openmpi/overlay.sh RELEASE PREFIX [SOURCES]   (called by scripts/openmpi.sh)
#
# PREFIX/lib       libmpi.so.40 and mca_pml_ob1.so with PERUSE
# PREFIX/replaces  the installed files, for which alone these are meant: profiler/overlay/overlay.c
# PREFIX/bin       mpirun, whose ranks load them, and the installed compilers
#
# Everything else of the installed Open MPI works with the two files, so their structures must be the
# same to the byte: they are compiled with the installed opal_config.h, where there is one, and with
# the installed compiler flags; symbols and the sizes of all classes are compared at the end. A build
# without UCX, for instance, has a shorter ompi_proc_t, and the installed pml/ucx would write beyond
# its end.
#
# Open MPI 4.1 has a file for each component. In 5.0 all of them are in libmpi, which is then the only
# file, and everything that it knows is compiled: MPI-IO, UCX, libfabric.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/sources.sh"

release=$1 prefix=$2 sources=${3:-}
: "${ompi_info:?}" "${libmpi:?}" "${component:?}"  # from openmpi.sh
[ -f "$component" ] && separate=yes || separate=no  # components
launchers=${launchers:-$(dirname "$ompi_info")}     # where mpirun and the compilers are
work=$(mktemp -d "${TMPDIR:-/tmp}/fathom-openmpi.XXXXXX")
trap 'rm -rf "$work"' EXIT

installed_config=$("$ompi_info" --path incdir --parsable | cut -d: -f3-)/openmpi/opal_config.h

# fact NAME: what `ompi_info -c` says after "NAME: ".
fact() { "$ompi_info" -c | sed -n "s/^ *$1: //p" | head -n 1; }

# Flags as the installed Open MPI was built with; debugging information is taken off anyway.
build_flags() {
  fact "Build $1" | tr -s ' ' '\n' | grep -Ev '^(-g[0-9]?|-DNDEBUG|-f(file|debug|macro)-prefix-map=.*)$' |
    paste -sd ' '
}

# The installed configuration, less what does not matter for libmpi and pml/ob1. With the installed
# opal_config.h, that includes transports in files of their own, whose headers may not be here.
configure() {
  local word words=() without= transports=yes
  if [ "$separate" = yes ]; then
    without=,io-romio321
    [ ! -f "$installed_config" ] || transports=no
  fi
  while IFS= read -r word; do
    case $word in
      --enable-mpi-java* | --with-jdk-* | --enable-oshmem* | --runstatedir=* | '') continue ;;
      CFLAGS=* | CXXFLAGS=* | FCFLAGS=* | LDFLAGS=*) continue ;;
      --with-verbs* | --with-libfabric* | --with-ofi* | --with-psm* | --with-ucx* | --with-portals4* | \
        --with-knem* | --with-xpmem* | --with-hcoll* | --with-mxm* | --with-fca* | --with-lustre*)
        if [ "$transports" = no ]; then continue; fi ;;
    esac
    # What is built in elsewhere has a `configure` of its own, which takes a third of the time.
    case $word in
      --with-hwloc=external | --with-hwloc=/*) without+=,hwloc-hwloc201 ;;
      --with-libevent=external | --with-libevent=/*) without+=,event-libevent2022 ;;
      --with-pmix=external | --with-pmix=/*) without+=,pmix-pmix3x ;;
    esac
    words+=("$word")
  done < <(fact "Configure command line" | xargs -r printf '%s\n')
  if [ "$transports" = no ]; then
    words+=(--without-verbs --without-libfabric --without-psm --without-psm2 --without-ucx)
  fi
  mkdir -p "$work/build"
  cd "$work/build"
  ../source/configure "${words[@]}" --enable-peruse --disable-oshmem --disable-mpi-java \
    --without-prrte --disable-man-pages --enable-mca-no-build="${without#,}" \
    --disable-dependency-tracking --enable-silent-rules \
    CFLAGS="$(build_flags CFLAGS)" CXXFLAGS="$(build_flags CXXFLAGS)" \
    FCFLAGS="$(build_flags FCFLAGS)" LDFLAGS="$(build_flags LDFLAGS)"
  if [ -f "$installed_config" ]; then
    sed 's/^#define OMPI_WANT_PERUSE 0$/#define OMPI_WANT_PERUSE 1/' "$installed_config" \
      >opal/include/opal_config.h
    touch opal/include/stamp-h1
  fi
  grep -q '^#define OMPI_WANT_PERUSE 1$' opal/include/opal_config.h
}

# The folders under ompi/ whose objects are in libmpi, in the order of Open MPI's own Makefile.
library_folders() {
  local apart=
  [ "$separate" = no ] || apart=mca/common
  printf 'print:\n\t@echo include datatype debuggers mpi/c mpi/tool $(OMPI_MPIEXT_C_DIRS) %s %s\n' \
    "mpi/fortran/base \$(filter-out $apart,\$(MCA_ompi_FRAMEWORKS_SUBDIRS))" \
    '$(MCA_ompi_FRAMEWORK_COMPONENT_STATIC_SUBDIRS)' |
    make --no-print-directory -C ompi -f Makefile -f - print
}

# RPATH and RUNPATH as in a file that is replaced.
run_path_flags() {
  readelf -d "$1" | sed -n \
    -e 's/.*(RPATH).*\[\(.*\)\]/-Wl,-rpath,\1 -Wl,--disable-new-dtags/p' \
    -e 's/.*(RUNPATH).*\[\(.*\)\]/-Wl,-rpath,\1 -Wl,--enable-new-dtags/p'
}

# libopen-rte (4.1) and libopen-pal are the installed ones.
compile() {
  local folder jobs installed
  cd "$work/build"
  jobs=$(nproc)
  installed=$(ldd "$libmpi" | awk '$1 ~ /^libopen-(rte|pal)\./ { printf " -Wl,%s", $3 }')
  find ompi -name Makefile -exec sed -i -E 's#[^ ]*/libopen-(pal|rte)\.la##' {} +
  sed -i 's/^hardcode_libdir_flag_spec=.*/hardcode_libdir_flag_spec=""/' libtool
  # What components need and Open MPI brings along: ROMIO, TreeMatch.
  [ ! -d 3rd-party ] || make -C 3rd-party -j"$jobs"
  for folder in $(library_folders); do
    make -C "ompi/$folder" -j"$jobs"
  done
  make -C ompi libmpi.la OMPI_LIBMPI_EXTRA_LDFLAGS="$installed $(run_path_flags "$libmpi")"
  [ "$separate" = no ] || make -C ompi/mca/pml/ob1 -j"$jobs" mca_pml_ob1.la \
    LDFLAGS="$(build_flags LDFLAGS) $(run_path_flags "$component")"
}

symbols() { nm -D --defined-only "$1" | awk '{ print $NF }' | sort; }

# Variables only: PMPI_Error_class is a function.
class_sizes() {
  nm -D --defined-only "$1" | awk '$(NF - 1) ~ /^[BDGRV]$/ && $NF ~ /_class$/ { print $NF }' | sort |
    "$work/class_sizes" "$(dirname "$1")/libmpi.so.40" "$1"
}

# same_interface INSTALLED BUILT: what other files of Open MPI, and programs, can see of them.
same_interface() {
  local missing
  missing=$(comm -23 <(symbols "$1") <(symbols "$2") | paste -sd ' ')
  [ -z "$missing" ] || die "the built $(basename "$2") lacks symbols of the installed one: $missing"
  class_sizes "$1" >"$work/installed.sizes"
  class_sizes "$2" | grep -v '^ompi_peruse' >"$work/built.sizes"
  diff "$work/installed.sizes" "$work/built.sizes" ||
    die "classes of the built $(basename "$2") differ in size from those of the installed one," \
      "so it cannot replace it; its sources or configuration differ from those of $1"
}

lay_out() {
  local name
  mkdir -p "$prefix/lib" "$prefix/replaces" "$prefix/bin"
  cc -O2 -o "$work/class_sizes" "$fathom_scripts/openmpi/class_sizes.c" -ldl
  cp "$work/build/ompi/.libs/libmpi.so.40" "$prefix/lib/"
  cp "$libmpi" "$prefix/replaces/libmpi.so.40"
  if [ "$separate" = yes ]; then
    cp "$work/build/ompi/mca/pml/ob1/.libs/mca_pml_ob1.so" "$prefix/lib/"
    cp "$component" "$prefix/replaces/"
  fi
  strip --strip-unneeded "$prefix"/lib/*
  for name in "$prefix"/lib/*; do
    same_interface "$prefix/replaces/$(basename "$name")" "$name"
  done
  compilers_and_launchers
  printf '%s\n' "Open MPI $release with PERUSE: an overlay over" "$libmpi" "$component" \
    "configured with: $(fact 'Configure command line')" >"$prefix/about.txt"
}

compilers_and_launchers() {
  local name
  for name in mpicc mpicxx mpic++ mpiCC mpif77 mpif90 mpifort ompi_info; do
    [ ! -x "$launchers/$name" ] || ln -s "$launchers/$name" "$prefix/bin/$name"
  done
  for name in mpirun mpiexec; do
    {
      printf '%s\n' '#!/bin/sh' \
        "# The installed $name. Its ranks on this host load libmpi and pml/ob1 with PERUSE." \
        "export LD_LIBRARY_PATH='$prefix/lib'\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
      [ "$separate" = no ] || printf '%s\n' \
        "export OMPI_MCA_mca_base_component_path='$prefix/lib':\${OMPI_MCA_mca_base_component_path:-SYSTEM_DEFAULT:USER_DEFAULT}"
      printf '%s\n' "exec '$launchers/$name' \"\$@\""
    } >"$prefix/bin/$name"
    chmod +x "$prefix/bin/$name"
  done
}

step "fetch the sources of Open MPI $release" fetch_sources "$work" "$release" $sources
step "configure Open MPI $release as it is installed, with PERUSE" configure
step "compile libmpi and pml/ob1 of Open MPI $release" compile
step "compare them with the installed ones" lay_out
