// SPDX-License-Identifier: BSD-3-Clause
// Every router: one row each. How to add one: docs/adding-a-simulator-part.md.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

std::span<const RouterRow> routers();

// Where the user names none: the routes that the cluster's file prescribes, otherwise dmodk.
const RouterRow& default_router(const Network& network);

// An Error lists the known names.
base::Result<const RouterRow*> find_router(std::string_view name);

}  // namespace fathom::simulator
