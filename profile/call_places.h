// SPDX-License-Identifier: BSD-3-Clause
// Where in the program calls are made: what the numbers in one process's rows (rows.h) mean, and
// one number in the run for each place.
//
// A call site is the same on all ranks if file, build id and place in the file are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "profile/rows_reader.h"

namespace fathom::profile {

class CallSites {
 public:
  struct Site {
    std::string module, build_id;
    std::uint64_t offset;
    auto operator<=>(const Site&) const = default;
  };

  // Sites are numbered in the order in which they appear, until settle().
  std::uint32_t number(Site site);

  // Numbers the sites by file and place instead, so that the result does not depend on the order of
  // the processes, and lists them. Returns the final number of each, by its earlier one.
  std::vector<std::uint32_t> settle(std::vector<CallSite>& list) const;

 private:
  std::map<Site, std::uint32_t> sites_;
};

// The calls of one function from one site, on one communicator and in one phase.
struct CallPlace {
  std::string function;
  std::uint32_t site = 0;
  std::int64_t communicator = kNone;
  std::string phase;
  auto operator<=>(const CallPlace&) const = default;
};

// The places in the rows of one process, which must outlive it.
class ProcessPlaces {
 public:
  // `kind_of`: the number in the run of each of the process's communicators; `phase_of`: the name
  // of each of its phases.
  ProcessPlaces(const ProcessRows& rows, const std::vector<std::uint32_t>& kind_of,
                std::function<std::string(std::uint32_t)> phase_of, CallSites& sites);

  CallPlace place(const CallKey& key, const CodePlaceRow& code);
  std::string function(const CodePlaceRow& code) const;
  std::uint32_t site(const CodePlaceRow& code);
  std::int64_t communicator(std::uint32_t number) const;  // its number in the run; kNone

 private:
  std::map<std::uint32_t, std::string> functions_;
  std::map<std::uint32_t, std::pair<std::string, std::string>> files_;  // build id, path
  const std::vector<std::uint32_t>& kind_of_;
  std::function<std::string(std::uint32_t)> phase_of_;
  CallSites& sites_;
};

}  // namespace fathom::profile
