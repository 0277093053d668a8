// SPDX-License-Identifier: BSD-3-Clause
// Distributions that times are drawn from: the same numbers on every machine for the same seed.
// How to add one: docs/adding-a-simulator-part.md.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "base/random.h"
#include "base/result.h"

namespace fathom::simulator {

using Parameters = std::array<double, 2>;

// A row of the registry.
struct DistributionRow {
  const char* name;
  const char* help;                       // one line
  std::array<const char*, 2> parameters;  // names; nullptr where there are fewer
  // What is wrong with the parameters, or nullptr.
  const char* (*complaint)(const Parameters& parameters);
  double (*sample)(const Parameters& parameters, base::Random& random);  // 0 or more
};

struct Distribution {
  const DistributionRow* row = nullptr;  // nullptr: there is none
  Parameters parameters = {};

  double sample(base::Random& random) const { return row->sample(parameters, random); }
};

std::span<const DistributionRow> distributions();
// An Error lists the known names.
base::Result<const DistributionRow*> find_distribution(std::string_view name);

// Always `value`, which is 0 or more.
Distribution constant(double value);

}  // namespace fathom::simulator
