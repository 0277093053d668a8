// SPDX-License-Identifier: BSD-3-Clause
// A program that was written for critter, with Fathom's header in place of critter's: two openings
// of its window, and two of its kernels.
#include <fathom_critter.h>

#include <string>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  critter::init(argc);
  critter::start(1);
  CRITTER_START(factor)
  MPI_Barrier(MPI_COMM_WORLD);
  CRITTER_STOP(factor)
  critter::stop(1, 2);
  critter::record();
  critter_start(MPI_COMM_WORLD);
  critter_set_mode(1);
  critter_register_timer("solve");
  critter_start_timer("solve", true, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  critter_stop_timer("solve");
  const std::string named = "check";
  critter_start_timer(named);
  MPI_Barrier(MPI_COMM_WORLD);
  critter_stop_timer(named);
  critter_stop(MPI_COMM_WORLD);
  critter_record();
  std::vector<float> costs(static_cast<std::size_t>(critter_get_critical_path_costs()));
  critter_get_critical_path_costs(costs.data());
  critter_get_max_per_process_costs(costs.data());
  critter_get_volumetric_costs(costs.data());
  MPI_Finalize();
  return 0;
}
