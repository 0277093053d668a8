// SPDX-License-Identifier: BSD-3-Clause
// MPI_T performance variables that the user names (FATHOM_PVARS), read when MPI ends.
//
// MPI_T is the standard's tools interface (MPI 4.0, chapter 15). Variables bound to a communicator
// are read for MPI_COMM_WORLD. MPI_T_finalize is never called: Open MPI's pvars must outlive
// MPI_Finalize.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::profiler {

class PerformanceVariables {
 public:
  // Allocates and starts handles. Names that this library lacks go into `unknown`, and so do
  // variables of MPI_COMM_WORLD if there is none: Open MPI would look into it.
  void open(const std::vector<std::string>& names, bool has_world,
            std::vector<std::string>& unknown);

  // Makes the current values the new start.
  void restart();

  struct Reading {
    std::string name;
    std::string description;
    std::string bound_to;
    std::vector<double> values;
  };
  // For variables that accumulate, the change since the start; for others, the current value.
  std::vector<Reading> read();

  // MPI is about to end, with the components that the variables belong to. From now on read() gives
  // the values of this moment, also if MPI begins again.
  void stop();

 private:
  struct Variable {
    std::string name, description;
    bool bound_to_world = false;
    int datatype_size = 0;
    bool is_floating = false;
    bool accumulates = false;
    int count = 0;
    void* handle = nullptr;
    std::vector<double> at_start;
  };
  std::vector<double> values_of(const Variable& variable) const;

  void* session_ = nullptr;
  std::vector<Variable> variables_;
  bool stopped_ = false;
  std::vector<Reading> last_;  // once stopped
};

}  // namespace fathom::profiler
