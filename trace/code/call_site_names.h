// SPDX-License-Identifier: BSD-3-Clause
// Source locations of a run's call sites, for all processes, looked up once per place in a file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "trace/code/code_sites.h"
#include "trace/definitions.h"

namespace fathom::trace {

class CallSiteNames {
 public:
  explicit CallSiteNames(const Definitions& definitions) : definitions_(definitions) {}

  // `address` 0 gives an empty site. Processes that run the same program share answers and open
  // files.
  const CodeSite& of_call(std::uint32_t process, std::uint64_t address);

 private:
  const Definitions& definitions_;
  std::uint32_t process_ = ~std::uint32_t{0};  // the process whose files are open
  std::unique_ptr<CodeSites> sites_;
  std::map<std::pair<std::string, std::uint64_t>, CodeSite>
      known_;  // by file with build-id, and place
};

}  // namespace fathom::trace
