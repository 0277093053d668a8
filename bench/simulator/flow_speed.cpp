// SPDX-License-Identifier: BSD-3-Clause
// Measures the flow model on the pattern of flow_pattern.h, with SimGrid's weights: 1 / latency of
// the route. Prints one JSON object; "seconds" is processor time from an empty model to the last
// end, without computing the routes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "bench/simulator/flow_pattern.h"

int main(int argc, char** argv) {
  using namespace fathom;
  const bench::FlowPattern pattern = bench::flow_pattern(argc, argv);
  const double before = bench::processor_seconds();
  auto model = simulator::FlowModel::create(pattern.network.links);
  for (const test::PlainFlow& flow : pattern.flows) {
    const test::Route& route = pattern.network.route(flow.from, flow.to);
    double latency_s = 0;
    for (std::uint32_t link : route) latency_s += pattern.network.links[link].latency_s;
    if (!model->start({.route = route, .size_bytes = flow.size_bytes, .weight = 1 / latency_s}))
      return 1;
  }
  double last_s = 0;
  while (model->next_event_s() != simulator::FlowModel::kNever) {
    for (const simulator::EndedFlow& flow : model->step()) last_s = std::max(last_s, flow.end_s);
  }
  const double seconds = bench::processor_seconds() - before;
  std::uint64_t hops = 0;
  for (const test::PlainFlow& flow : pattern.flows)
    hops += pattern.network.route(flow.from, flow.to).size();
  std::printf(
      "{\"seconds\": %.6f, \"flows\": %zu, \"hops\": %llu, \"solutions\": %llu, "
      "\"settled_hops\": %llu, \"changed_rates\": %llu, \"flows_solved\": %llu, \"hops_solved\": "
      "%llu, "
      "\"last_end_s\": %.9g}\n",
      seconds, pattern.flows.size(), static_cast<unsigned long long>(hops),
      static_cast<unsigned long long>(model->solutions()),
      static_cast<unsigned long long>(model->settled_hops()),
      static_cast<unsigned long long>(model->changed_rates()),
      static_cast<unsigned long long>(model->flows_solved()),
      static_cast<unsigned long long>(model->hops_solved()), last_s);
  return 0;
}
