// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/performance_variables.h"

#include <algorithm>
#include <cstring>

#include "mpi_functions.h"
#include "profiler/openmpi/mpi.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/standard_abi.h"

namespace fathom::profiler {
namespace {

double as_double(const char* at, int size, bool floating) {
  if (floating) {
    double value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  if (size == 4) {
    std::uint32_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

// MPI_T_pvar_handle_alloc for a variable of a communicator. That of Open MPI 6.0.0rc2 looks for the
// communicator's flags behind the handle instead of in the communicator (the check of the object in
// ompi/mpi/tool): in libmpi 224 bytes behind the caller's variable, in libmpi_abi 224 bytes behind a
// copy on its own stack, which is 152 bytes up the caller's frame. What it finds there decides
// whether it refuses the handle, so there are zeros in both places.
[[gnu::noinline]] int allocate_for(MPI_Comm comm, decltype(&PMPI_T_pvar_handle_alloc) allocate,
                                   MPI_T_pvar_session session, int index, MPI_T_pvar_handle* handle,
                                   int* count) {
  struct {
    MPI_Comm comm;
    char zeros[1024];
  } padded;
  std::memset(&padded, 0, sizeof padded);
  padded.comm = comm;
  return allocate(session, index, &padded, handle, count);
}

}  // namespace

void PerformanceVariables::open(const std::vector<std::string>& names, bool has_world,
                                std::vector<std::string>& unknown) {
  if (names.empty()) return;
  unknown = names;
  const auto init = FATHOM_PMPI(MPI_T_init_thread);
  const auto get_num = FATHOM_PMPI(MPI_T_pvar_get_num);
  const auto get_info = FATHOM_PMPI(MPI_T_pvar_get_info);
  const auto create = FATHOM_PMPI(MPI_T_pvar_session_create);
  const auto allocate = FATHOM_PMPI(MPI_T_pvar_handle_alloc);
  const auto start = FATHOM_PMPI(MPI_T_pvar_start);
  const auto type_size = FATHOM_PMPI(MPI_Type_size);
  const auto world = static_cast<MPI_Comm>(predefined_handle("ompi_mpi_comm_world"));
  int provided = 0, count = 0;
  MPI_T_pvar_session session = nullptr;
  if (!init || !get_num || !get_info || !create || !allocate || !start || !type_size ||
      init(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS || create(&session) != MPI_SUCCESS ||
      get_num(&count) != MPI_SUCCESS) {
    return;
  }
  session_ = session;
  for (int i = 0; i < count; ++i) {
    char name[256] = "", description[1024] = "";
    int name_size = sizeof name, description_size = sizeof description;
    int verbosity, variable_class, binding, read_only, continuous, atomic;
    MPI_Datatype datatype;
    MPI_T_enum enumeration;
    // Open MPI's count includes variables whose component is gone; get_info fails for those
    // (MPI_T_ERR_INVALID_INDEX).
    if (get_info(i, name, &name_size, &verbosity, &variable_class, &datatype, &enumeration,
                 description, &description_size, &binding, &read_only, &continuous,
                 &atomic) != MPI_SUCCESS) {
      continue;
    }
    const auto wanted = std::find(unknown.begin(), unknown.end(), name);
    if (wanted == unknown.end()) continue;
    const bool on_comm = binding == FATHOM_OF_PROGRAM(MPI_T_BIND_MPI_COMM);
    if (on_comm && !has_world) continue;
    if (!on_comm && binding != FATHOM_OF_PROGRAM(MPI_T_BIND_NO_OBJECT)) continue;
    Variable variable;
    MPI_T_pvar_handle handle = nullptr;
    const int allocated = on_comm
                              ? allocate_for(world, allocate, session, i, &handle, &variable.count)
                              : allocate(session, i, nullptr, &handle, &variable.count);
    if (allocated != MPI_SUCCESS) continue;
    type_size(datatype, &variable.datatype_size);
    variable.name = name;
    variable.description = description;
    variable.bound_to_world = on_comm;
    variable.is_floating =
        datatype == static_cast<MPI_Datatype>(predefined_handle("ompi_mpi_double"));
    variable.accumulates = variable_class == FATHOM_OF_PROGRAM(MPI_T_PVAR_CLASS_COUNTER) ||
                           variable_class == FATHOM_OF_PROGRAM(MPI_T_PVAR_CLASS_AGGREGATE) ||
                           variable_class == FATHOM_OF_PROGRAM(MPI_T_PVAR_CLASS_SIZE);
    variable.handle = handle;
    if (!continuous) start(session, handle);
    variable.at_start = values_of(variable);
    unknown.erase(wanted);
    variables_.push_back(std::move(variable));
  }
}

std::vector<double> PerformanceVariables::values_of(const Variable& variable) const {
  const auto read = FATHOM_PMPI(MPI_T_pvar_read);
  std::vector<char> buffer(static_cast<std::size_t>(variable.count) * 16 + 16);
  if (read(static_cast<MPI_T_pvar_session>(session_),
           static_cast<MPI_T_pvar_handle>(variable.handle), buffer.data()) != MPI_SUCCESS) {
    return {};
  }
  std::vector<double> values;
  for (int i = 0; i < variable.count; ++i) {
    values.push_back(as_double(buffer.data() + i * variable.datatype_size, variable.datatype_size,
                               variable.is_floating));
  }
  return values;
}

void PerformanceVariables::restart() {
  for (Variable& variable : variables_) variable.at_start = values_of(variable);
}

void PerformanceVariables::stop() {
  if (stopped_) return;
  last_ = read();
  stopped_ = true;
}

std::vector<PerformanceVariables::Reading> PerformanceVariables::read() {
  if (stopped_) return last_;
  std::vector<Reading> readings;
  for (const Variable& variable : variables_) {
    std::vector<double> values = values_of(variable);
    // Read and subtract, because MPI_T_pvar_readreset is a stub in Open MPI 4.1.
    for (std::size_t i = 0;
         variable.accumulates && i < std::min(values.size(), variable.at_start.size()); ++i) {
      values[i] -= variable.at_start[i];
    }
    readings.push_back({variable.name, variable.description,
                        variable.bound_to_world ? "MPI_COMM_WORLD" : "", std::move(values)});
  }
  return readings;
}

}  // namespace fathom::profiler
