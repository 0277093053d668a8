// SPDX-License-Identifier: BSD-3-Clause
// Distributions for drawing times: the same seed gives the same numbers on every machine.
// How to add one: docs/adding-a-simulator-part.md.
#pragma once

#include <array>
#include <cstddef>
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
  std::array<const char*, 2> parameters;  // names; nullptr if unused
  // What is wrong with which of the parameters; nothing if all are right.
  struct Complaint {
    std::size_t parameter = 0;
    const char* what = nullptr;
  };
  Complaint (*complaint)(const Parameters& parameters);
  double (*sample)(const Parameters& parameters, base::Random& random);  // 0 or more
};

struct Distribution {
  const DistributionRow* row = nullptr;  // nullptr: no distribution
  Parameters parameters = {};

  double sample(base::Random& random) const { return row->sample(parameters, random); }
};

std::span<const DistributionRow> distributions();
// An Error lists the known names.
base::Result<const DistributionRow*> find_distribution(std::string_view name);

// Always `value`, which must not be negative.
Distribution constant(double value);

}  // namespace fathom::simulator
