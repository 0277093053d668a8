// SPDX-License-Identifier: BSD-3-Clause
// Lists of names as users write them: "MPI_Send,MPI_I*,-MPI_Test*". One meaning for what a trace
// records (FATHOM_TRACE_FUNCTIONS and the like) and for what every subcommand reads of it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::base {

// The items of "a,b,c", without empty ones.
std::vector<std::string> comma_separated(std::string_view list);

// Whether a pattern, less a leading '-', fits a name; '*' at its end matches any rest.
bool fits_name(std::string_view pattern, std::string_view name);

inline bool leaves_out(std::string_view pattern) { return pattern.starts_with('-'); }

// Whether a thing that goes by these names is chosen. The last pattern that fits one of them
// decides: '-' in front leaves out. Where none fits, it is chosen unless some pattern chooses.
bool chooses(const std::vector<std::string>& patterns,
             std::initializer_list<std::string_view> names);
inline bool chooses(const std::vector<std::string>& patterns, std::string_view name) {
  return chooses(patterns, {name});
}

}  // namespace fathom::base
