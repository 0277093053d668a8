// SPDX-License-Identifier: BSD-3-Clause
// results.json, schema fathom-simulation/1: the load of each simulated combination on the links.
//
//   {"schema": "fathom-simulation/1",
//    "runs": [{"cluster", "job", "selection", "placement", "routing", "model": "load", "seed",
//              "host_links": false, "max_traffic", "max_congestion", "max_flows",
//              "mean_congestion", "congestion_deviation", "p95_congestion",
//              "imbalance" (max_congestion over mean_congestion),
//              "worst_link": {"source", "target", "capacity", "traffic"}, between switches,
//              "worst_host_link" (likewise, whether host_links or not; both if there is traffic),
//              "congestion_bound" (routing optimal only: no routing can go below),
//              "links": [{"source", "target", "capacity", "traffic", "flows"}, …]}, …]}
//
// traffic is in bytes, congestion in bytes per unit of capacity. Whole numbers are written without
// a decimal point. The file is streamed: memory does not grow with the number of runs.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/json/writer.h"
#include "base/result.h"
#include "simulator/run/one_job.h"

namespace fathom::simulator {

inline constexpr char kResultsSchema[] = "fathom-simulation/1";

// One run as an object, as in "runs".
void write_load_run(base::JsonWriter& json, const Network& network, const std::string& job,
                    const LoadRun& run, bool host_links);

class ResultsWriter {
 public:
  ResultsWriter();
  ~ResultsWriter();  // without finish(), no file remains

  // An existing file is replaced only when finish() succeeds.
  base::Status open(const std::string& path);
  void add(const Network& network, const std::string& job, const LoadRun& run, bool host_links);
  void add_text(const std::string& run);        // a complete JSON object
  std::size_t count() const { return count_; }  // of the runs added so far
  base::Status finish();

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
  std::size_t count_ = 0;
};

}  // namespace fathom::simulator
