// SPDX-License-Identifier: BSD-3-Clause
// The releases of Open MPI whose structures Fathom knows. The only list of them: the library counts
// in jobs of these, and the tool names them (--version, doctor).
//
// rankmap/layout_probe.c measures the structures of one release at build time; the library checks
// that it is listed here. To support another: a layout, and a row.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace fathom::openmpi {

struct Release {
  int major = 0, minor = 0;
  bool operator==(const Release&) const = default;
};

inline constexpr Release kKnownReleases[] = {{4, 1}};

constexpr bool is_known(Release release) {
  for (const Release& known : kKnownReleases) {
    if (known == release) return true;
  }
  return false;
}

// {4, 1} of "Open MPI v4.1.4, package: …", as MPI_Get_library_version writes it; {0, 0} of anything
// else.
inline Release release_of(std::string_view library_version) {
  constexpr std::string_view kPrefix = "Open MPI v";
  Release release;
  if (!library_version.starts_with(kPrefix)) return {};
  const char* const end = library_version.data() + library_version.size();
  const auto [point, failed] =
      std::from_chars(library_version.data() + kPrefix.size(), end, release.major);
  if (failed != std::errc() || point == end || *point != '.') return {};
  const auto [rest, no_minor] = std::from_chars(point + 1, end, release.minor);
  return no_minor == std::errc() && rest != end && *rest == '.' ? release : Release{};
}

// "4.1", or a list with commas.
inline std::string known_releases() {
  std::string list;
  for (const Release& known : kKnownReleases) {
    if (!list.empty()) list += ", ";
    list += std::to_string(known.major) + "." + std::to_string(known.minor);
  }
  return list;
}

}  // namespace fathom::openmpi
