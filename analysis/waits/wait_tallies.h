// SPDX-License-Identifier: BSD-3-Clause
// Waits and what caused them, added up by calls that are alike (wait_steps.h). Of the processes of
// one analysis process.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/waits/wait_steps.h"
#include "base/flat_map.h"

namespace fathom::analysis {

struct WaitKey {
  std::uint64_t site = 0;
  std::uint32_t process = 0, function = 0, phase = 0, culprit = 0;
  std::uint32_t kind = 0;
  bool operator==(const WaitKey&) const = default;
};
struct WaitKeyHash {
  std::uint64_t operator()(const WaitKey& key) const {
    return base::mixed(
        key.site * 31 ^ base::mixed(std::uint64_t{key.culprit} << 32 | key.phase) ^
        (std::uint64_t{key.process} << 24 | std::uint64_t{key.function} << 4 | key.kind));
  }
};

class WaitTallies {
 public:
  void add(const WaitKey& key, std::uint64_t ns, std::uint64_t at_ns);

  // Before the step `call`; the other had waited for `waited_ns` by then.
  void caused(const WaitKey& key, std::uint64_t direct_ns, std::uint64_t indirect_ns,
              std::uint32_t call, std::uint64_t waited_ns);

  // A wait of another process, by the key that it has there, and the step of the own call that it
  // was for.
  void late(const WaitKey& key, std::uint32_t call, std::uint64_t waited_ns);

  // In no order.
  std::vector<WaitRow> wait_rows() const;
  // What late() was told of, of each key the longest: key, late_for and meanwhile, the rest is 0.
  std::vector<WaitRow> late_rows(const JoinedJob& job) const;
  // Cost: for each row once the steps of its worst instance.
  std::vector<OriginRow> origin_rows(const JoinedJob& job) const;

 private:
  // An OriginRow, and its worst instance: the call that came late, and how long the other had
  // waited by then.
  struct Origin {
    OriginRow row;
    std::uint64_t worst_ns = 0, waited_ns = 0;
    std::uint32_t call = 0;
  };

  struct Late {
    std::uint64_t waited_ns = 0;
    std::uint32_t call = kNobody;
  };

  base::FlatMap<WaitKey, WaitRow, WaitKeyHash> waits_;
  base::FlatMap<WaitKey, Late, WaitKeyHash> late_;
  base::FlatMap<WaitKey, Origin, WaitKeyHash> origins_;
};

}  // namespace fathom::analysis
