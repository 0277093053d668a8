// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/session/spawn_info.h"

#include <unistd.h>

#include <new>
#include <string>

#include "profiler/counting/profiled_process.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/standard_abi.h"
#include "profiler/process/spawn_variables.h"
#include "rankmap/communicator_view.h"

namespace fathom::profiler::session {
namespace {

constexpr char kEnv[] = "env", kPmixEnvar[] = "PMIX_ENVAR";
constexpr int kFirstThatInheritsNothing = 5;  // major release of Open MPI

// The functions of an info that are needed here.
struct InfoFunctions {
  int (*create)(MPI_Info*);
  int (*dup)(MPI_Info, MPI_Info*);
  int (*free)(MPI_Info*);
  int (*erase)(MPI_Info, const char*);
  int (*get_length)(MPI_Info, const char*, int*, int*);
  int (*get)(MPI_Info, const char*, int, char*, int*);
  // MPI_Info_set refuses values of 256 bytes and more, and two paths may be longer. The code that
  // reads these two keys takes values of any length.
  int (*set)(MPI_Info, const char*, const char*);
  MPI_Info null;

  bool all() const { return create && dup && free && erase && get_length && get && set && null; }
};

const InfoFunctions& info_functions() {
  static const InfoFunctions found = [] {
    InfoFunctions f{};
    const auto look = [](auto& function, const char* name) {
      function = find_in_mpi_as<std::remove_reference_t<decltype(function)>>(name);
    };
    look(f.create, "PMPI_Info_create");
    look(f.dup, "PMPI_Info_dup");
    look(f.free, "PMPI_Info_free");
    look(f.erase, "PMPI_Info_delete");
    look(f.get_length, "PMPI_Info_get_valuelen");
    look(f.get, "PMPI_Info_get");
    look(f.set, "ompi_info_set");
    f.null = static_cast<MPI_Info>(predefined_handle("ompi_mpi_info_null"));
    return f;
  }();
  return found;
}

// Empty if the info lacks the key.
std::string value_of(MPI_Info info, const char* key) {
  const InfoFunctions& functions = info_functions();
  int length = 0, is_there = 0;
  if (functions.get_length(info, key, &length, &is_there) != 0 || !is_there) return "";
  std::string value(static_cast<std::size_t>(length) + 1, '\0');
  functions.get(info, key, length, value.data(), &is_there);
  value.resize(value.find('\0'));
  return value;
}

SpawnVariables variables_for(const SpawnVariables& given) {
  std::vector<std::string_view> environment;
  for (char** line = environ; line != nullptr && *line != nullptr; ++line)
    environment.push_back(*line);
  static const char inside = 0;
  return spawn_variables(given, environment, file_of(&inside));
}

// A copy of `given` that hands over what is needed; `given` itself if that fails.
MPI_Info copy_with_variables(MPI_Info given) {
  const InfoFunctions& functions = info_functions();
  const bool is_empty = given == functions.null;
  SpawnVariables before;
  if (!is_empty) before = {value_of(given, kEnv), value_of(given, kPmixEnvar)};
  const SpawnVariables after = variables_for(before);
  MPI_Info copy = nullptr;
  const int failed = is_empty ? functions.create(&copy) : functions.dup(given, &copy);
  if (failed != 0) return given;
  if (after.env.empty() && !before.env.empty()) {  // Open MPI does not survive an empty one
    functions.erase(copy, kEnv);
  } else if (after.env != before.env) {
    functions.set(copy, kEnv, after.env.c_str());
  }
  functions.set(copy, kPmixEnvar, after.pmix_envar.c_str());
  return copy;
}

}  // namespace

SpawnInfo::SpawnInfo(MPI_Comm comm, int root, int count, const MPI_Info* given) noexcept
    : given_(given) {
  if (ProfiledProcess::active() == nullptr ||
      openmpi::layout().first.major < kFirstThatInheritsNothing || native(comm) == nullptr ||
      rankmap::my_rank(native(comm)) != root || given == nullptr || count < 1 ||
      !info_functions().all()) {
    return;
  }
  try {
    copies_.assign(given, given + count);
    for (MPI_Info& info : copies_) {
      if (info != nullptr) info = copy_with_variables(info);  // MPI refuses what is no info
    }
  } catch (const std::bad_alloc&) {
    // The processes whose info was not copied run without the library.
  }
}

SpawnInfo::~SpawnInfo() {
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    if (copies_[i] != given_[i]) info_functions().free(&copies_[i]);
  }
}

}  // namespace fathom::profiler::session
