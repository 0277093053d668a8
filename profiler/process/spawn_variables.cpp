// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/process/spawn_variables.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace fathom::profiler {
namespace {

constexpr char kPreload[] = "LD_PRELOAD";

bool is_handed_over(const std::string& library, const std::string& own_path) {
  const std::string name = library.substr(library.rfind('/') + 1);
  return library == own_path || name.starts_with("libfathom-overlay.so") ||
         name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan");
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string_view name_in(std::string_view line) { return line.substr(0, line.find('=')); }

std::string value_in(std::string_view line) {
  return std::string(line.substr(std::min(name_in(line).size() + 1, line.size())));
}

}  // namespace

SpawnVariables spawn_variables(const SpawnVariables& given,
                               const std::vector<std::string_view>& environment,
                               const std::string& own_path) {
  std::set<std::string, std::less<>> named;
  std::string preload;  // the program's, for its children
  const auto without_preload = [&](const std::string& text) {
    std::string kept;
    for (const std::string& line : parts_of(text, '\n')) {
      named.emplace(name_in(line));
      if (name_in(line) == kPreload) {
        preload = value_in(line);
      } else {
        base::add_to_list(kept, line, "\n");
      }
    }
    return kept;
  };
  SpawnVariables variables;
  variables.env = without_preload(given.env);
  variables.pmix_envar = without_preload(given.pmix_envar);

  std::vector<std::string> libraries;
  for (const std::string_view line : environment) {
    if (name_in(line) == kPreload) libraries = parts_of(value_in(line), ':');
    const bool is_ours = line.starts_with("FATHOM_") && line.find('\n') == line.npos;
    if (is_ours && !named.contains(name_in(line)))
      base::add_to_list(variables.pmix_envar, line, "\n");
  }
  std::erase_if(libraries, [&](const std::string& one) { return !is_handed_over(one, own_path); });
  if (std::find(libraries.begin(), libraries.end(), own_path) == libraries.end())
    libraries.push_back(own_path);
  const std::vector<std::string> already = parts_of(preload, ':');
  for (const std::string& library : libraries) {
    if (std::find(already.begin(), already.end(), library) == already.end())
      base::add_to_list(preload, library, ":");
  }
  base::add_to_list(variables.pmix_envar, std::string(kPreload) + "=" + preload, "\n");
  return variables;
}

}  // namespace fathom::profiler
