// SPDX-License-Identifier: BSD-3-Clause
// Waits and their causes, summed over calls with the same attributes (wait_steps.h), for the
// processes of one analysis process.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/waits/wait_causes.h"
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

// Without culprit and kind.
WaitKey key_of(const JoinedJob& job, std::uint32_t process, const Step& call);

// The part of a call's wait that counts; the wait begins when the call is entered.
std::uint64_t in_scope_ns(const WaitScope& scope, std::uint32_t process, const Step& call,
                          std::uint64_t wait_ns);

class WaitTallies {
 public:
  explicit WaitTallies(JoinedJob& job) : causes_(job) {}

  void add(const WaitKey& key, std::uint64_t ns, std::uint64_t at_ns);

  // Cause before the step `call`; the other process had waited `waited_ns` by then. `wait`: its key
  // there; `key`: the call's; `waited`: the call that waited.
  void caused(const WaitKey& wait, const WaitKey& key, std::uint64_t direct_ns,
              std::uint64_t indirect_ns, std::uint32_t call, std::uint64_t waited_ns,
              const WorstWait& waited);

  // A wait of another process: its key there, and the own step `call` that it waited for.
  void late(const WaitKey& key, std::uint32_t call, std::uint64_t waited_ns);

  // Unsorted.
  std::vector<WaitRow> wait_rows() const;
  // Longest wait reported to late(), per key: key, late_for and meanwhile; other fields are 0.
  std::vector<WaitRow> late_rows(const JoinedJob& job) const;
  // Cost per row: one pass over the steps around its worst instance.
  std::vector<OriginRow> origin_rows(const JoinedJob& job) const;

  // The same causes by place in the program.
  const CauseTally& causes() const { return causes_; }

 private:
  // As in WaitRow.
  struct Waited {
    std::uint64_t ns = 0, count = 0, worst_ns = 0, worst_at_ns = 0;
  };

  // As in OriginRow, and its worst instance: the late call, and how long the other had waited by
  // then.
  struct Origin {
    std::uint64_t direct_ns = 0, indirect_ns = 0, count = 0;
    std::uint64_t worst_ns = 0, waited_ns = 0;
    std::uint32_t call = 0;
  };

  struct Late {
    std::uint64_t waited_ns = 0;
    std::uint32_t call = kNobody;
  };

  base::FlatMap<WaitKey, Waited, WaitKeyHash> waits_;
  base::FlatMap<WaitKey, Late, WaitKeyHash> late_;
  base::FlatMap<WaitKey, Origin, WaitKeyHash> origins_;
  CauseTally causes_;
};

}  // namespace fathom::analysis
