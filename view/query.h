// SPDX-License-Identifier: BSD-3-Clause
// The parameters of a request, checked. They come from anybody, so each has a bound.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/scope/input.h"
#include "base/result.h"
#include "view/tools.h"

namespace fathom::view {

class Query {
 public:
  using Parameters = std::map<std::string, std::string>;

  explicit Query(const Parameters& parameters) : parameters_(parameters) {}

  bool has(const std::string& name) const { return parameters_.contains(name); }
  std::string text(const std::string& name, const std::string& otherwise = "") const;
  std::vector<std::string> words(const std::string& name) const;  // a,b,c; none if left out

  // A whole number up to `most`; an Error names the parameter.
  base::Result<std::uint64_t> number(const std::string& name, std::uint64_t otherwise,
                                     std::uint64_t most) const;

  // from, to, ranks, phases, classes, communicators; or one phase, class or communicator.
  base::Result<analysis::Scope> scope(const Tools& tools) const;

  const Parameters& parameters() const { return parameters_; }

  // The same for the same question, whatever the order of its parameters.
  std::string key(const std::string& path) const;

 private:
  const Parameters& parameters_;
};

}  // namespace fathom::view
