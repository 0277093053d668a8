// SPDX-License-Identifier: BSD-3-Clause
// Reads a .mpic file, as the PMPI tracer Pyrite writes it (versions 1 and 2), into a Fathom trace.
//
//   v2: "MPICv002" | u32 2 | i32 ranks | date 64 | program 1024 | ranks * process
//       | ranks * anchor | sections
//   v1: i32 ranks | date 64 | program 1024 | ranks * process | sections
//   process  i32 rank, pid, core, chip; hostname 1024
//   anchor   i32 rank, 4 bytes, f64 Wtime of its time 0, i64 Unix nanoseconds of its time 0
//   section  i32 rank | label 24 | i32 n | n * small | label 24 | i32 n | n * large
//   small    f64 seconds; i32 id, type, comm, tag, sender, receiver, count, bytes
//   large    f64 seconds; i32 id, type, comm, sender, receiver, count, bytes, tag;
//            the second part's sender, receiver, count, bytes, tag; 4 bytes
//
// A record has a single time, so calls take none; non-blocking sends and receives are placed where
// they completed. Communicators are handles of each process: handles with the same number become
// one communicator of all ranks. Any byte sequence is safe; of a damaged file everything before the
// damage is imported, with a note.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::importers {

base::Status import_mpic(const std::string& path, const std::string& run_directory,
                         std::vector<std::string>& notes);

}  // namespace fathom::importers
