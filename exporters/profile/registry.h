// SPDX-License-Identifier: BSD-3-Clause
// Every export format, one row each.
#pragma once

#include <span>
#include <string_view>

#include "exporters/common/exporter.h"

namespace fathom::exporters {

std::span<const Exporter> all();

// nullptr if there is no such format.
const Exporter* find(std::string_view name);

}  // namespace fathom::exporters
