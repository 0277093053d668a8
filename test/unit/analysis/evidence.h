// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "analysis/results/finding.h"

namespace fathom::test {

// A number in the finding's evidence; the test fails without it.
inline double evidence(const analysis::Finding& finding, const std::string& name) {
  for (const analysis::Figure& figure : finding.evidence) {
    if (figure.name == name) return std::get<double>(figure.value);
  }
  FAIL("no evidence " << name);
  return 0;
}

}  // namespace fathom::test
