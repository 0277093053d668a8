// SPDX-License-Identifier: BSD-3-Clause
// "halo.c:88": where in a running program a call is made, from the program's debug information.
//
// Threading: one thread. Memory: an answer per place, and the files that trace/code keeps open.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "trace/code/code_sites.h"

namespace fathom::live {

class CodePlaces {
 public:
  // `return_address` in the process with this number and start. "module+0x1234" without debug
  // information; empty for address 0, and for a process that has ended before anybody asked.
  std::string place_of(std::int64_t pid, std::uint64_t process_started,
                       std::uint64_t return_address);

 private:
  struct Mapping {
    std::uint64_t begin, file_offset;
    std::string path;
  };
  using Process = std::pair<std::int64_t, std::uint64_t>;

  // The code that is mapped there.
  static std::optional<Mapping> mapping_at(std::int64_t pid, std::uint64_t address);
  std::string described(const Mapping& mapping, std::uint64_t address);

  trace::CodeFiles files_;
  std::map<std::pair<Process, std::uint64_t>, std::string> known_;
};

}  // namespace fathom::live
