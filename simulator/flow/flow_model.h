// SPDX-License-Identifier: BSD-3-Clause
// Flow-level simulation: messages are fluids that share the links of their routes, max-min fair.
//
// A flow of s bytes over links l in R that starts at time t
//
//     begins to use the links at      t + sum_{l in R} latency_l,
//     then transfers at the rates     x(t)  that maxmin.h defines for all flows using links at t,
//     and ends when                   integral x dt = s.
//
// Rates are constant between events (a flow begins, a flow ends), so the model steps from event to
// event. This is SimGrid's network model (P. Velho et al., On the validity of flow-level TCP
// network models for grid and cloud simulations, ACM TOMACS 23(4), 2013, equation 1) without its
// corrections for TCP.
//
// Flows whose ends differ by less than kSameInstant, relative to their duration, end together: a
// symmetric pattern then needs one solution of the rates instead of one per flow. Each flow still
// reports its own end.
//
// Links are known by number only. The caller keeps each route in memory until its flow has ended.
// Cost of an event: solving for the rates, plus O(log flows) for each flow whose rate changes.
// Threading: one thread at a time. Memory: about 250 bytes per active flow plus 16 per hop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/result.h"
#include "simulator/flow/link_usage.h"
#include "simulator/flow/maxmin.h"

namespace fathom::simulator {

struct LinkSpeed {
  double capacity_Bps = 0;  // positive and finite
  double latency_s = 0;
};

struct FlowRequest {
  std::span<const std::uint32_t> route;  // links; if empty, only the bound limits the rate
  double size_bytes = 0;
  double start_s = 0;     // not before now_s()
  std::uint64_t tag = 0;  // the caller's; returned when the flow ends
  double weight = 1;
  double rate_bound_Bps = MaxMin::kUnbounded;
};

struct EndedFlow {
  std::uint64_t tag = 0;
  double end_s = 0;
};

class FlowModel {
 public:
  static constexpr double kSameInstant = 1e-8;
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  // The Error names a link without a usable capacity or latency.
  static base::Result<FlowModel> create(const std::vector<LinkSpeed>& links);

  // The Error says what is wrong with the request; nothing has changed then.
  base::Status start(const FlowRequest& request);

  // When the next flow begins to use links or ends; kNever if there is none.
  double next_event_s();

  // Advances to the next event. Returns the flows that ended there, in no particular order, valid
  // until the next call. The list is often empty: an event may be the begin of a flow.
  std::span<const EndedFlow> step();

  double now_s() const { return now_s_; }
  // Latency of a route whose links all exist.
  double latency_s(std::span<const std::uint32_t> route) const;
  std::size_t flows_under_way() const { return under_way_; }

  // From now on, records in `usage` what each link carries. `usage` must outlive the model; it is
  // complete after usage->bring_to(now_s()).
  void keep_usage(LinkUsage* usage);

  std::uint64_t solutions() const { return solutions_; }  // number of times the rates were solved
  std::uint64_t settled_hops() const { return rates_.settled_hops(); }
  std::uint64_t changed_rates() const {
    return changed_rates_;
  }  // flow rates changed, summed over
     // all solutions
  // Flows that shared links at a solution, summed over all solutions.
  std::uint64_t flows_solved() const { return flows_solved_; }
  std::uint64_t hops_solved() const { return hops_solved_; }

 private:
  struct Flow {
    FlowRequest request;
    double began_s = 0;
    double remaining_bytes = 0;  // at since_s
    double since_s = 0;
    double rate_Bps = 0;
    MaxMin::Flow rated = 0;
    std::uint32_t version = 0;  // of its entry in ends_; older entries are void
  };
  struct Event {
    double time_s;
    std::uint32_t flow;
    std::uint32_t version;
    bool operator>(const Event& other) const { return time_s > other.time_s; }
  };

  explicit FlowModel(const std::vector<LinkSpeed>& links);

  base::Status check(const FlowRequest& request) const;
  bool same_instant(double time_s, double age_s) const;
  void begin(std::uint32_t flow);
  void end(std::uint32_t flow, double end_s);
  void refresh_rates();
  void change_rate(Flow& flow);
  void schedule_ends();
  bool is_void(const Event& event) const { return flows_[event.flow].version != event.version; }
  void drop_void_ends();

  std::vector<double> latencies_s_;
  MaxMin rates_;
  bool rates_stale_ = false;
  std::uint64_t solutions_ = 0, changed_rates_ = 0, flows_solved_ = 0, hops_solved_ = 0;
  double now_s_ = 0;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_flows_;
  std::size_t under_way_ = 0;
  std::vector<std::uint32_t> flow_of_;  // by MaxMin::Flow
  std::vector<Event> begins_, ends_;    // heaps, earliest first
  std::vector<EndedFlow> ended_;
  LinkUsage* usage_ = nullptr;
};

}  // namespace fathom::simulator
