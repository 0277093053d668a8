// SPDX-License-Identifier: BSD-3-Clause
// An Open MPI that this process cannot load, because it needs another libc or is seen only by what
// its own launcher starts: asked through its ompi_info and its mpirun.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/launch/mpi_probe.h"

namespace fathom::cli {

// Which components may carry messages, as the ompi_info beside a launcher says it. That reads the
// parameter files and the environment of its own installation, as jobs there will.
struct PmlSettings {
  std::string library_folder;           // as its processes see it
  std::vector<std::string> components;  // "ob1", "ucx"
  std::string chosen;                   // the parameter pml: "^ucx"; empty: all take part
  std::string set_by;                   // "file (/etc/openmpi/openmpi-mca-params.conf:69)"

  // Whether this component is there and not left out.
  bool takes_part(const std::string& component) const;
};

// Nothing if there is no ompi_info beside the launcher, or if it does not answer.
std::optional<PmlSettings> pml_settings(const std::string& launcher);

struct OtherMpi {
  MpiFacts facts;
  std::optional<std::string> overlay;  // one of overlays() that was built for it
};

// Looks at the library in a process that the launcher starts. Nothing if it starts none, or if that
// finds no library.
std::optional<OtherMpi> look_through_launcher(const std::string& launcher,
                                              const std::string& library_folder);

}  // namespace fathom::cli
