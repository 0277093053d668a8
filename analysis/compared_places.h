// SPDX-License-Identifier: BSD-3-Clause
// Which call sites of several runs are the same, although the program was edited and built anew.
//
// The calls of an MPI function in one function of one file are matched in the order of their lines,
// or of their offsets where lines are unknown, if both runs have equally many. If not, only those of
// the same line are the same. Equal lines do not count before that: after an edit, line 10 may be
// what line 9 was, and line 11 what line 10 was.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"

namespace fathom::analysis {

class ComparedPlaces {
 public:
  explicit ComparedPlaces(const std::vector<const profile::Profile*>& profiles);

  // "exchange (halo.c:88)", as the last run has it; empty if it is not known.
  const std::string& of(std::size_t run, const std::string& mpi_function, std::int64_t site) const;
  // How the first run calls a place of of(); the same text if it has it there, or not at all.
  const std::string& in_first_run(const std::string& mpi_function, const std::string& place) const;

 private:
  using Site = std::pair<std::string, std::int64_t>;  // MPI function, number in its run
  using Place = std::pair<std::string, std::string>;  // MPI function, text
  std::vector<std::map<Site, std::string>> texts_;    // by run, as the last run has them
  std::map<Place, std::string> in_first_;
};

}  // namespace fathom::analysis
