// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/run/results.h"

#include "base/atomic_file.h"
#include "simulator/run/json_fields.h"

namespace fathom::simulator {

void write_load_run(base::JsonWriter& json, const Network& network, const std::string& job,
                    const LoadRun& run, bool host_links) {
  const LoadFigures figures = load_figures(network, run.use, host_links);
  json.object([&] {
    json.field("cluster", network.name());
    json.field("job", job);
    json.field("selection", run.selection);
    json.field("placement", run.placement);
    json.field("routing", run.routing);
    json.field("model", "load");
    json.field("seed", run.seed);
    json.field("host_links", host_links);
    put_number(json, "max_traffic", figures.max_traffic);
    put_number(json, "max_congestion", figures.max_congestion);
    put_number(json, "max_flows", figures.max_flows);
    put_number(json, "mean_congestion", figures.mean_congestion);
    put_number(json, "congestion_deviation", figures.congestion_deviation);
    put_spread(json, network, run.use.bytes, host_links);
    if (run.congestion_bound > 0) put_number(json, "congestion_bound", run.congestion_bound);
    put_links(json, network, host_links, [&](LinkId id) {
      put_number(json, "traffic", run.use.bytes[id]);
      put_number(json, "flows", run.use.flows[id]);
    });
  });
}

struct ResultsWriter::Stream {
  base::AtomicFile file;
  base::JsonWriter json{file};
};

ResultsWriter::ResultsWriter() : stream_(std::make_unique<Stream>()) {}
// Without commit() the AtomicFile leaves nothing behind.
ResultsWriter::~ResultsWriter() = default;

base::Status ResultsWriter::open(const std::string& path) {
  if (auto status = stream_->file.open(path, base::AtomicFile::Existing::kReplace); !status) {
    return status;
  }
  stream_->json.open_object();
  stream_->json.field("schema", kResultsSchema);
  stream_->json.key("runs");
  stream_->json.open_list();
  return base::Done{};
}

void ResultsWriter::add(const Network& network, const std::string& job, const LoadRun& run,
                        bool host_links) {
  ++count_;
  write_load_run(stream_->json, network, job, run, host_links);
}

void ResultsWriter::add_text(const std::string& run) {
  ++count_;
  stream_->json.raw(run);
}

base::Status ResultsWriter::finish() {
  stream_->json.close_list();
  stream_->json.close_object();
  stream_->json.line_break();
  stream_->json.finish();
  return stream_->file.commit();
}

}  // namespace fathom::simulator
