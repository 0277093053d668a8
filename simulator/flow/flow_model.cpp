// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/flow/flow_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace fathom::simulator {
namespace {

// By the time two times are compared, their rounding error is this large, relative to the time.
constexpr double kRounding = 1e-15;

std::vector<double> capacities(const std::vector<LinkSpeed>& links) {
  std::vector<double> result;
  result.reserve(links.size());
  for (const LinkSpeed& link : links) result.push_back(link.capacity_Bps);
  return result;
}

bool is_amount(double value) { return std::isfinite(value) && value >= 0; }

base::Error bad(const std::string& what, double value, const char* expected) {
  return {what + " is " + std::to_string(value) + "; it must be " + expected};
}

}  // namespace

base::Result<FlowModel> FlowModel::create(const std::vector<LinkSpeed>& links) {
  for (std::size_t index = 0; index < links.size(); ++index) {
    const std::string name = " of link " + std::to_string(index);
    const LinkSpeed& link = links[index];
    if (!is_amount(link.capacity_Bps) || link.capacity_Bps == 0) {
      return bad("the capacity" + name, link.capacity_Bps,
                 "a number of bytes per second above zero");
    }
    if (!is_amount(link.latency_s)) {
      return bad("the latency" + name, link.latency_s, "a number of seconds, zero or more");
    }
  }
  return FlowModel(links);
}

FlowModel::FlowModel(const std::vector<LinkSpeed>& links) : rates_(capacities(links)) {
  latencies_s_.reserve(links.size());
  for (const LinkSpeed& link : links) latencies_s_.push_back(link.latency_s);
}

base::Status FlowModel::check(const FlowRequest& request) const {
  if (!is_amount(request.size_bytes)) {
    return bad("the size of a flow", request.size_bytes, "a number of bytes, zero or more");
  }
  if (!std::isfinite(request.start_s) || request.start_s < now_s_) {
    return bad("the start of a flow", request.start_s, "no earlier than the simulated time");
  }
  if (!is_amount(request.weight) || request.weight == 0) {
    return bad("the weight of a flow", request.weight, "a number above zero");
  }
  if (!(request.rate_bound_Bps > 0)) {
    return bad("the rate bound of a flow", request.rate_bound_Bps, "above zero");
  }
  for (std::uint32_t link : request.route) {
    if (link >= latencies_s_.size()) {
      return base::Error{"a flow's route names link " + std::to_string(link) + "; there are " +
                         std::to_string(latencies_s_.size())};
    }
  }
  return base::Done{};
}

base::Status FlowModel::start(const FlowRequest& request) {
  if (base::Status checked = check(request); !checked) return checked;
  auto flow = static_cast<std::uint32_t>(flows_.size());
  if (free_flows_.empty()) {
    flows_.emplace_back();
  } else {
    flow = free_flows_.back();
    free_flows_.pop_back();
  }
  flows_[flow].request = request;
  begins_.push_back({request.start_s + latency_s(request.route), flow, 0});
  std::push_heap(begins_.begin(), begins_.end(), std::greater<>());
  ++under_way_;
  return base::Done{};
}

double FlowModel::latency_s(std::span<const std::uint32_t> route) const {
  double sum = 0;
  for (std::uint32_t link : route) sum += latencies_s_[link];
  return sum;
}

double FlowModel::next_event_s() {
  refresh_rates();
  drop_void_ends();
  const double begin = begins_.empty() ? kNever : begins_.front().time_s;
  const double end = ends_.empty() ? kNever : ends_.front().time_s;
  return std::min(begin, end);
}

// Whether an event due at `time_s`, which took `age_s`, belongs to the current event.
bool FlowModel::same_instant(double time_s, double age_s) const {
  return time_s <= now_s_ + kSameInstant * age_s + kRounding * now_s_;
}

std::span<const EndedFlow> FlowModel::step() {
  ended_.clear();
  const double next_s = next_event_s();
  if (next_s == kNever) return {};
  now_s_ = std::max(now_s_, next_s);
  while (!ends_.empty()) {
    const Event event = ends_.front();
    const bool gone = is_void(event);
    if (!gone && !same_instant(event.time_s, event.time_s - flows_[event.flow].began_s)) break;
    std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
    ends_.pop_back();
    if (!gone) end(event.flow, event.time_s);
  }
  while (!begins_.empty()) {
    const Event event = begins_.front();
    if (!same_instant(event.time_s, event.time_s - flows_[event.flow].request.start_s)) break;
    std::pop_heap(begins_.begin(), begins_.end(), std::greater<>());
    begins_.pop_back();
    flows_[event.flow].began_s = event.time_s;
    begin(event.flow);
  }
  return ended_;
}

void FlowModel::begin(std::uint32_t index) {
  Flow& flow = flows_[index];
  const FlowRequest& request = flow.request;
  const bool unlimited = request.route.empty() && request.rate_bound_Bps == MaxMin::kUnbounded;
  if (request.size_bytes == 0 || unlimited) {
    ended_.push_back({request.tag, flow.began_s});
    free_flows_.push_back(index);
    --under_way_;
    return;
  }
  flow.remaining_bytes = request.size_bytes;
  flow.since_s = flow.began_s;
  flow.rate_Bps = 0;
  flow.rated = rates_.add(request.route, request.weight, request.rate_bound_Bps);
  if (flow.rated >= flow_of_.size()) flow_of_.resize(flow.rated + 1);
  flow_of_[flow.rated] = index;
  rates_stale_ = true;
}

void FlowModel::end(std::uint32_t index, double end_s) {
  Flow& flow = flows_[index];
  rates_.remove(flow.rated);
  rates_stale_ = true;
  ++flow.version;
  ended_.push_back({flow.request.tag, end_s});
  free_flows_.push_back(index);
  --under_way_;
}

void FlowModel::refresh_rates() {
  if (!rates_stale_) return;
  rates_stale_ = false;
  rates_.solve();
  ++solutions_;
  flows_solved_ += rates_.flow_count();
  hops_solved_ += rates_.hop_count();
  changed_rates_ += rates_.changed_flows().size();
  for (MaxMin::Flow rated : rates_.changed_flows()) change_rate(flows_[flow_of_[rated]]);
  schedule_ends();
  if (usage_ == nullptr) return;
  for (std::uint32_t link : rates_.changed_links()) usage_->change(link, now_s_, rates_.load(link));
}

void FlowModel::keep_usage(LinkUsage* usage) {
  refresh_rates();
  usage_ = usage;
  for (std::uint32_t link = 0; link < rates_.link_count(); ++link) {
    usage_->change(link, now_s_, rates_.load(link));
  }
}

void FlowModel::change_rate(Flow& flow) {
  const double at_s = std::max(flow.since_s, now_s_);
  flow.remaining_bytes =
      std::max(0.0, flow.remaining_bytes - flow.rate_Bps * (at_s - flow.since_s));
  flow.since_s = at_s;
  flow.rate_Bps = rates_.rate(flow.rated);
  ++flow.version;
}

// If many ends move, rebuilding the heap costs less than inserting them one by one. It also keeps
// void events from piling up.
void FlowModel::schedule_ends() {
  const std::size_t changed = rates_.changed_flows().size();
  const bool anew = 8 * changed > ends_.size() || ends_.size() + changed > 4 * rates_.flow_count();
  if (anew) std::erase_if(ends_, [this](const Event& event) { return is_void(event); });
  for (MaxMin::Flow rated : rates_.changed_flows()) {
    const std::uint32_t index = flow_of_[rated];
    const Flow& flow = flows_[index];
    ends_.push_back({flow.since_s + flow.remaining_bytes / flow.rate_Bps, index, flow.version});
    if (!anew) std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
  }
  if (anew) std::make_heap(ends_.begin(), ends_.end(), std::greater<>());
}

void FlowModel::drop_void_ends() {
  while (!ends_.empty() && is_void(ends_.front())) {
    std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
    ends_.pop_back();
  }
}

}  // namespace fathom::simulator
