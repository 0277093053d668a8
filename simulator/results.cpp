#include "simulator/results.h"

#include <rapidjson/writer.h>

#include "profile/atomic_file.h"
#include "simulator/json_fields.h"

namespace fathom::simulator {
namespace {

class JsonOutput {
 public:
  using Ch = char;
  explicit JsonOutput(profile::AtomicFile& file) : file_(file) {}
  void Put(char byte) { file_.put(byte); }
  void Flush() {}

 private:
  profile::AtomicFile& file_;
};

}  // namespace

struct ResultsWriter::Stream {
  profile::AtomicFile file;
  JsonOutput output{file};
  rapidjson::Writer<JsonOutput> json{output};

  void text(const char* key, const std::string& value) { put_text(json, key, value); }
  void number(const char* key, double value) { put_number(json, key, value); }
  void link(const Network& network, const LinkUse& use, LinkId id) {
    const Link& link = network.link(id);
    json.StartObject();
    text("source", network.node_name(link.source));
    text("target", network.node_name(link.target));
    number("capacity", link.capacity_Bps);
    number("traffic", use.bytes[id]);
    number("flows", use.flows[id]);
    json.EndObject();
  }
};

ResultsWriter::ResultsWriter() : stream_(std::make_unique<Stream>()) {}
ResultsWriter::~ResultsWriter() = default;

base::Status ResultsWriter::open(const std::string& path) {
  if (auto status = stream_->file.open(path, profile::AtomicFile::Existing::kReplace); !status) {
    return status;
  }
  stream_->json.StartObject();
  stream_->text("schema", kResultsSchema);
  stream_->json.Key("runs");
  stream_->json.StartArray();
  return base::Done{};
}

void ResultsWriter::add(const Network& network, const std::string& job, const LoadRun& run,
                        bool host_links) {
  Stream& out = *stream_;
  ++count_;
  const LoadFigures figures = load_figures(network, run.use, host_links);
  out.json.StartObject();
  out.text("cluster", network.name());
  out.text("job", job);
  out.text("selection", run.selection);
  out.text("placement", run.placement);
  out.text("routing", run.routing);
  out.text("model", "load");
  out.json.Key("seed");
  out.json.Uint64(run.seed);
  out.json.Key("host_links");
  out.json.Bool(host_links);
  out.number("max_traffic", figures.max_traffic);
  out.number("max_congestion", figures.max_congestion);
  out.number("max_flows", figures.max_flows);
  out.number("mean_congestion", figures.mean_congestion);
  out.number("congestion_deviation", figures.congestion_deviation);
  if (run.congestion_bound > 0) out.number("congestion_bound", run.congestion_bound);
  out.json.Key("links");
  out.json.StartArray();
  for (LinkId id = 0; id < network.link_count(); ++id) {
    if (host_links || network.joins_switches(id)) out.link(network, run.use, id);
  }
  out.json.EndArray();
  out.json.EndObject();
}

void ResultsWriter::add_text(const std::string& run) {
  ++count_;
  stream_->json.RawValue(run.data(), run.size(), rapidjson::kObjectType);
}

base::Status ResultsWriter::finish() {
  stream_->json.EndArray();
  stream_->json.EndObject();
  stream_->file.put('\n');
  return stream_->file.commit();
}

}  // namespace fathom::simulator
