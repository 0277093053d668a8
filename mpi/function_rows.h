// SPDX-License-Identifier: BSD-3-Clause
// The rows generated from functions.table, sorted by key. A FunctionId is the position of its row.
#pragma once

#include <cstddef>

#include "mpi/meaning.h"

namespace fathom::mpi {

struct FunctionRow {
  std::string_view key;   // "isend", "bcast_init"
  std::string_view name;  // "MPI_Isend"
  FunctionId id;
  Meaning meaning;
};

extern const FunctionRow kFunctionRows[];
extern const std::size_t kFunctionRowCount;

}  // namespace fathom::mpi
