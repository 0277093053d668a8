// SPDX-License-Identifier: BSD-3-Clause
// The names of the call sites that a process uses and that only the program's own files tell: for tools that write a
// part of a trace, which then keeps them.
//
// Threading: one thread. Cost: a look into a map for each call; each place is looked up once.
#pragma once

#include <cstdint>
#include <map>

#include "trace/code/call_site_names.h"

namespace fathom::cli {

class UsedSites {
 public:
  // `definitions`: those of a trace, which must outlive this.
  explicit UsedSites(const trace::Definitions& definitions)
      : definitions_(definitions), names_(definitions) {}

  // A call that returns to `address`; 0: its place was not recorded.
  void use(std::size_t process, std::uint64_t address);

  // Those of the process that was looked at, as far as they have names; begins anew with the next one.
  std::map<std::uint64_t, trace::NamedSite> take();

 private:
  const trace::Definitions& definitions_;
  trace::CallSiteNames names_;
  std::map<std::uint64_t, trace::NamedSite> used_;  // by address
};

}  // namespace fathom::cli
