// SPDX-License-Identifier: BSD-3-Clause
// Names the constructor of a communicator that different functions make from its two sides.
#pragma once

#include <string_view>

namespace fathom::mpi {

// One name for both sides: MPI_Comm_connect gives MPI_Comm_accept (MPI 3.1, section 10.4.2); any
// other function gives itself.
constexpr std::string_view shared_maker(std::string_view function) {
  return function == "MPI_Comm_connect" ? "MPI_Comm_accept" : function;
}

}  // namespace fathom::mpi
