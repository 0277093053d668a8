// SPDX-License-Identifier: BSD-3-Clause
// Which functions make one communicator together, from both sides.
#pragma once

#include <string_view>

namespace fathom::mpi {

// One name for both sides: MPI_Comm_accept for MPI_Comm_connect too (MPI 3.1, section 10.4.2); any
// other function's own.
constexpr std::string_view shared_maker(std::string_view function) {
  return function == "MPI_Comm_connect" ? "MPI_Comm_accept" : function;
}

}  // namespace fathom::mpi
