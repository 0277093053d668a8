// SPDX-License-Identifier: BSD-3-Clause
// Translates the reference simulator's class names to ours.
#pragma once

#include <string>

namespace fathom::scenario {

// "pfsim.router.DmodKRouter" is "dmodk"; any other name stays unchanged.
std::string our_name(const std::string& name);

}  // namespace fathom::scenario
