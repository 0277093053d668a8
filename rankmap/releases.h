// SPDX-License-Identifier: BSD-3-Clause
// The releases of Open MPI whose structures Fathom knows, by their names.
//
// The list is that of the layouts (rankmap/layouts/all.h). The library counts in jobs of these
// releases, and the tool names them (--version, doctor). A release whose series is known and whose
// number is not may still have one of the series' layouts; the library then tries to prove one.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "rankmap/layouts/all.h"

namespace fathom::openmpi {

inline bool is_same_series(const Version& a, const Version& b) {
  return a.major == b.major && a.minor == b.minor;
}

// Whether any release of the series is known.
inline bool is_known_series(const Version& version) {
  bool known = false;
  Layouts::for_each([&]<const Layout & layout> { known |= is_same_series(layout.first, version); });
  return known;
}

// {4, 1, 4} of "Open MPI v4.1.4, package: …", and {6, 0, 0} of "Open MPI v6.0.0rc2, …", as
// MPI_Get_library_version writes them; {0, 0, 0} of anything else.
inline Version version_of(std::string_view library_version) {
  constexpr std::string_view kPrefix = "Open MPI v";
  if (!library_version.starts_with(kPrefix)) return {};
  const char* at = library_version.data() + kPrefix.size();
  const char* const end = library_version.data() + library_version.size();
  int numbers[3] = {};
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return {};
    const auto [rest, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || rest == at) return {};
    at = rest;
  }
  return {numbers[0], numbers[1], numbers[2]};
}

// "4.1, 5.0, 6.0".
inline std::string known_releases() {
  std::vector<std::string> series;
  Layouts::for_each([&]<const Layout & layout> {
    const std::string name =
        std::to_string(layout.first.major) + "." + std::to_string(layout.first.minor);
    if (std::find(series.begin(), series.end(), name) == series.end()) series.push_back(name);
  });
  std::string list;
  for (const std::string& name : series) list += (list.empty() ? "" : ", ") + name;
  return list;
}

}  // namespace fathom::openmpi
