// SPDX-License-Identifier: BSD-3-Clause
// What the viewer asks the command line for (view/tools.h): for `fathom view` and the shareable file.
#pragma once

#include "view/tools.h"

namespace fathom::cli {

view::Tools view_tools();

}  // namespace fathom::cli
