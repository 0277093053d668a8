// SPDX-License-Identifier: BSD-3-Clause
// What the reference simulator's classes are called here.
#pragma once

#include <string>

namespace fathom::scenario {

// "pfsim.router.DmodKRouter" is "dmodk"; any other name stays as it is.
std::string our_name(const std::string& name);

}  // namespace fathom::scenario
