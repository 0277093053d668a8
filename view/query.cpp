// SPDX-License-Identifier: BSD-3-Clause
#include "view/query.h"

#include <charconv>

namespace fathom::view {

std::string Query::text(const std::string& name, const std::string& otherwise) const {
  const auto found = parameters_.find(name);
  return found == parameters_.end() ? otherwise : found->second;
}

std::vector<std::string> Query::words(const std::string& name) const {
  std::vector<std::string> words;
  const std::string all = text(name);
  if (all.empty()) return words;
  std::size_t begin = 0;
  while (begin <= all.size()) {
    const std::size_t end = std::min(all.find(',', begin), all.size());
    words.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

base::Result<std::uint64_t> Query::number(const std::string& name, std::uint64_t otherwise,
                                          std::uint64_t most) const {
  const auto found = parameters_.find(name);
  if (found == parameters_.end()) return otherwise;
  const std::string& given = found->second;
  std::uint64_t value = 0;
  const auto read = std::from_chars(given.data(), given.data() + given.size(), value);
  if (given.empty() || read.ec != std::errc() || read.ptr != given.data() + given.size() ||
      value > most)
    return base::Error{"'" + name + "' is not a whole number from 0 to " + std::to_string(most)};
  return value;
}

base::Result<analysis::Scope> Query::scope(const Tools& tools) const {
  constexpr std::uint64_t kLatest = std::uint64_t{1} << 62;
  analysis::Scope scope;
  const auto from = number("from", 0, kLatest);
  if (!from) return from.error();
  const auto to = number("to", ~std::uint64_t{0}, kLatest);
  if (!to) return to.error();
  scope.from_ns = *from;
  scope.to_ns = *to;
  if (scope.from_ns >= scope.to_ns) return base::Error{"the window ends before it begins"};
  if (const std::string ranks = text("ranks"); !ranks.empty()) {
    auto chosen = tools.ranks(ranks);
    if (!chosen) return chosen.error();
    scope.ranks = std::move(*chosen);
  }
  if (has("phases")) scope.phases = words("phases");
  scope.classes = words("classes");
  scope.communicators = words("communicators");
  if (const std::string one = text("class"); !one.empty()) scope.classes.push_back(one);
  if (const std::string one = text("communicator"); !one.empty())
    scope.communicators.push_back(one);
  if (const std::string one = text("phase"); !one.empty()) scope.phases = {one};
  return scope;
}

std::string Query::key(const std::string& path) const {
  std::string key = path;
  for (const auto& [name, value] : parameters_) {
    // With lengths, so that two questions stay apart whatever their values contain.
    key += '?' + name + '=' + std::to_string(value.size()) + ':' + value;
  }
  return key;
}

}  // namespace fathom::view
