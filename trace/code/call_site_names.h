// SPDX-License-Identifier: BSD-3-Clause
// Source locations of a run's call sites, for all processes, looked up once per place in a file.
//
// Places are numbered from 0 in the order in which they are first asked for. Processes that run the
// same program share places, answers and open files.
//
// Threading: one thread. Memory: one answer per place, one number per process and address.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/code/code_sites.h"
#include "trace/definitions.h"

namespace fathom::trace {

class CallSiteNames {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit CallSiteNames(const Definitions& definitions)
      : definitions_(definitions), numbers_(definitions.processes.size()) {}

  // The place of the call that returns to `address` in a process. Address 0 is at no place: kNone,
  // and an empty site. Asking again costs one look into a hash table.
  std::uint32_t number_of(std::size_t process, std::uint64_t address);
  const CodeSite& of_call(std::size_t process, std::uint64_t address);

  // Valid as long as this.
  const CodeSite& operator[](std::uint32_t number) const { return places_[number]; }
  std::size_t size() const { return places_.size(); }

 private:
  std::uint32_t look_up(std::size_t process, std::uint64_t address);
  std::uint32_t given(const NamedSite& site);

  const Definitions& definitions_;
  std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> numbers_;  // by process, address
  std::size_t process_ = ~std::size_t{0};  // the process whose files are open
  std::unique_ptr<CodeSites> sites_;
  std::map<std::pair<std::string, std::uint64_t>, std::uint32_t>
      known_;  // by file with build-id, and place
  std::deque<CodeSite> places_;
};

}  // namespace fathom::trace
