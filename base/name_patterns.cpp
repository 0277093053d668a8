// SPDX-License-Identifier: BSD-3-Clause
#include "base/name_patterns.h"

#include <algorithm>

namespace fathom::base {

std::vector<std::string> comma_separated(std::string_view list) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    if (!item.empty()) items.emplace_back(item);
    list.remove_prefix(std::min(list.size(), item.size() + 1));
  }
  return items;
}

bool fits_name(std::string_view pattern, std::string_view name) {
  if (leaves_out(pattern)) pattern.remove_prefix(1);
  if (!pattern.ends_with('*')) return pattern == name;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

bool chooses(const std::vector<std::string>& patterns,
             std::initializer_list<std::string_view> names) {
  bool chosen = std::all_of(patterns.begin(), patterns.end(), leaves_out);
  for (const std::string& pattern : patterns) {
    const bool fits = std::any_of(names.begin(), names.end(),
                                  [&](std::string_view name) { return fits_name(pattern, name); });
    if (fits) chosen = !leaves_out(pattern);
  }
  return chosen;
}

}  // namespace fathom::base
