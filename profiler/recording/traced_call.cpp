// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/traced_call.h"

#include "profiler/openmpi/mpi_library.h"
#include "profiler/recording/traced_functions.h"

namespace fathom::profiler::traced {

void Requests::open() {
  null_ = find_variable_in_mpi("ompi_request_null");
  empty_ = find_variable_in_mpi("ompi_request_empty");
  empty_send_ = find_variable_in_mpi("ompi_request_empty_send");  // since 6.0
}

}  // namespace fathom::profiler::traced
