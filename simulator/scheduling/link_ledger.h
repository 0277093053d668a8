// SPDX-License-Identifier: BSD-3-Clause
// The load of running jobs on the links over simulated time: current, highest and average.
//
// A link's mean is weighted by time, from the start of the ledger to finish(). Bytes are integers,
// so when a job ends its load vanishes exactly.
// Threading: one thread at a time. Cost: the links of the job. Memory: 56 bytes a link.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/routing/routing.h"

namespace fathom::simulator {

// One job's load on the links it uses.
struct JobUse {
  struct OnLink {
    LinkId link;
    double bytes, flows;
  };
  std::vector<OnLink> links;  // each once
};

class LinkLedger {
 public:
  explicit LinkLedger(const Network& network) : now_(network), history_(network.link_count()) {}

  void add(double at_s, const JobUse& use) { change(at_s, use, 1); }
  void remove(double at_s, const JobUse& use) { change(at_s, use, -1); }
  void finish(double at_s);

  const LinkUse& now() const { return now_; }
  double peak_bytes(LinkId link) const { return history_[link].peak_bytes; }
  double peak_flows(LinkId link) const { return history_[link].peak_flows; }
  double mean_bytes(LinkId link) const {  // after finish()
    return end_s_ > 0 ? history_[link].byte_seconds / end_s_ : now_.bytes[link];
  }

 private:
  struct History {
    double since_s = 0, byte_seconds = 0, peak_bytes = 0, peak_flows = 0;
  };
  void change(double at_s, const JobUse& use, double sign);
  void count(LinkId link, double until_s);

  LinkUse now_;
  std::vector<History> history_;  // by link
  double end_s_ = 0;
};

// A sink that collects a job's use. Memory kept between jobs: 20 bytes per link.
class JobUseSum : public RouteSink {
 public:
  explicit JobUseSum(const Network& network) : sum_(network), seen_(network.link_count(), 0) {}

  void start(std::span<const Demand> demands) { demands_ = demands; }
  void take(std::size_t index, std::span<const LinkId> links, double share) override;
  JobUse finish();  // also resets for the next job

 private:
  LinkUse sum_;
  std::vector<char> seen_;
  std::vector<LinkId> used_;
  std::span<const Demand> demands_;
};

}  // namespace fathom::simulator
