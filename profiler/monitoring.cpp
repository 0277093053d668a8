// Source `mpi_t`: what Open MPI's own monitoring counted, read through MPI_T.
//
// Only on request: pml_monitoring does not count a program's persistent sends, drops peers outside
// MPI_COMM_WORLD, cannot tell collectives apart, and crashes jobs that use neighbourhood collectives on
// distributed graphs (docs/exactness.md). It is switched on in Session::before_init().

#include <cstdio>

#include "profiler/finish.h"
#include "profiler/session.h"

namespace fathom::profiler {

bool open_monitoring(Session& session, std::string& reason) {
  static_cast<void>(session);
  reason = "not available";
  return false;
}

}  // namespace fathom::profiler
