# SPDX-License-Identifier: BSD-3-Clause
# The Debian archive of another release, for the recipes beside this file. Source it after lib.sh.
#
# It is the one in this machine's own apt configuration, with the name of the suite exchanged. apt
# verifies it against the keys of Debian that this machine trusts (Debian 12's package
# debian-archive-keyring has those of Debian 13 and of sid). apt's own lists, cache and state stay as
# they are.

# debian_suite RELEASE: which one has this release of Open MPI.
debian_suite() {
  case $1 in
    5.0.*) echo trixie ;;
    *) echo sid ;;
  esac
}

# open_archive FOLDER RELEASE KIND: reads the list of packages (KIND deb) or of their sources (deb-src)
# of the suite that has this release of Open MPI, and fails with one sentence if it has another one.
# FOLDER/apt.conf is a configuration file for apt, which is read last, after this machine's proxies
# and the like. Its hooks are cleared, because some write to apt's state.
open_archive() {
  local folder=$1 release=$2 kind=$3 suite archive options keyring there
  suite=$(debian_suite "$release")
  command -v apt-get dpkg >/dev/null ||
    die "Open MPI $release is taken from Debian's packages, which needs apt and dpkg"
  archive=$(apt-get indextargets --format '$(REPO_URI)' \
    'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
  [ -n "$archive" ] || die "Open MPI $release is taken from Debian's packages, and apt knows no" \
    "archive of Debian here (on Debian, run 'apt-get update' as root first)"
  options=arch=$(dpkg --print-architecture)
  for keyring in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
    [ ! -f "$keyring" ] || options="$options signed-by=$keyring"
  done
  printf '%s [%s] %s %s main\n' "$kind" "$options" "$archive" "$suite" >"$folder/sources.list"
  mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial" "$folder/empty"
  : >"$folder/state/status"
  cat >"$folder/apt.conf" <<-END
	#clear APT::Update;
	#clear DPkg::Pre-Install-Pkgs;
	APT::Update::Error-Mode "any";
	APT::Install-Recommends "false";
	APT::Sandbox::User "root";
	Acquire::Languages "none";
	Acquire::Retries "1";
	Acquire::http::Timeout "20";
	Acquire::https::Timeout "20";
	Dir::Cache "$folder/cache";
	Dir::Etc::preferences "$folder/none";
	Dir::Etc::preferencesparts "$folder/empty";
	Dir::Etc::sourcelist "$folder/sources.list";
	Dir::Etc::sourceparts "$folder/empty";
	Dir::State "$folder/state";
	Dir::State::status "$folder/state/status";
	END
  apt-get -c="$folder/apt.conf" update >"$folder/update.log" 2>&1 ||
    die "Open MPI $release is not available: apt cannot fetch or verify Debian's suite $suite" \
      "($(sed -n 's/^[EW]: //p' "$folder/update.log" | head -n 1))"
  there=$(offered "$folder" "$kind")
  [ "$there" = "$release" ] || die "Open MPI $release is not available: Debian's suite $suite has" \
    "${there:-no Open MPI}"
}

# Of the version of a package: "6.0.0~rc2-2+b1" is 6.0.0rc2.
offered() {
  case $2 in
    deb) apt-cache -c="$1/apt.conf" show --no-all-versions libopenmpi40 ;;
    deb-src) apt-cache -c="$1/apt.conf" showsrc --only-source openmpi ;;
  esac | sed -n 's/^Version: \([0-9]*:\)\?//p' | head -n 1 | sed 's/-[^-]*$//; s/~//'
}
