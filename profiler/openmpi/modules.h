// SPDX-License-Identifier: BSD-3-Clause
// Which of Open MPI's collective and one-sided modules move data without PML messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fathom::profiler {

// The number (> 0) of the module that serves a collective on this communicator, if it moves data
// past the PML or is not known to use the PML; 0 if its messages can be counted. `offset`: position
// of the module in mca_coll_base_comm_coll_t. Cold: once per communicator and function.
std::uint32_t bypassing_module(const void* comm, std::ptrdiff_t offset);

// The number of the module of a window, 0 for osc/pt2pt, whose data travel as PML messages.
std::uint32_t bypassing_window_module(const void* window);

// The number for a name of the caller's choice; a new name gets the next number.
std::uint32_t module_number(const std::string& name);

// The name with this number, such as "coll/sm"; empty if there is none.
std::string module_name(std::uint32_t number);

}  // namespace fathom::profiler
