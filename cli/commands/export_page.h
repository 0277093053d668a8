// SPDX-License-Identifier: BSD-3-Clause
// `fathom export RUN --format html`: the viewer's pages with a run in them, in one file.
#pragma once

#include <string>

namespace fathom::cli {

inline constexpr char kPageFormat[] = "html";

// False where Fathom was built without its viewer.
bool can_export_page();

// The exit code. `force`: replaces an existing file.
int export_page(const std::string& run, const std::string& path, bool force);

}  // namespace fathom::cli
