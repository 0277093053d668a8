#include "cli/report_json.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include "cli/advice.h"

namespace fathom::cli {
namespace {

class Json {
 public:
  std::string take() { return std::string(buffer_.GetString(), buffer_.GetSize()) + "\n"; }

  Json& key(const char* name) { return writer_.Key(name), *this; }
  void value(const std::string& text) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  void value(std::uint64_t number) { writer_.Uint64(number); }
  void value(std::int64_t number) { writer_.Int64(number); }
  void value(double number) { writer_.Double(number); }
  void value(bool truth) { writer_.Bool(truth); }
  void null() { writer_.Null(); }

  template <typename T>
  void field(const char* name, const T& content) {
    key(name).value(content);
  }
  void volume(const profile::Volume& volume) {
    field("bytes", volume.bytes);
    field("messages", volume.messages);
  }
  template <typename Body>
  void object(Body body) {
    writer_.StartObject();
    body();
    writer_.EndObject();
  }
  template <typename List, typename Each>
  void array(const char* name, const List& list, Each each) {
    key(name);
    writer_.StartArray();
    for (const auto& entry : list) object([&] { each(entry); });
    writer_.EndArray();
  }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer_{buffer_};
};

void write_run(Json& json, const RunSummary& summary) {
  const profile::Header& header = summary.header;
  json.field("application", header.application.executable);
  json.field("seconds", header.application.seconds);
  json.field("ranks", summary.ranks);
  json.field("hosts", std::uint64_t{summary.hosts});
  json.key("mpi").object([&] {
    json.field("library", header.mpi.library);
    json.field("version", header.mpi.version);
    json.field("pml", header.mpi.pml);
  });
  json.field("source", header.source);
  json.key("class");
  summary.class_name ? json.value(*summary.class_name) : json.null();
}

void write_traffic(Json& json, const RunSummary& summary) {
  json.key("total").object([&] { json.volume(summary.total); });
  json.key("hidden").object([&] { json.volume(summary.hidden); });
  json.array("classes", summary.classes, [&](const profile::ClassTotal& entry) {
    json.field("class", entry.class_name);
    json.field("hidden", entry.hidden);
    json.volume(entry.volume);
  });
  json.array("message_sizes", summary.sizes, [&](const SizeBin& bin) {
    json.field("low", bin.low);
    json.field("high", bin.high);
    json.field("messages", bin.messages);
  });
  json.field("pairs", std::uint64_t{summary.pairs});
  json.field("density", summary.density);
  json.key("between_hosts").object([&] { json.volume(summary.between_hosts); });
  json.array("top_pairs", summary.top_pairs, [&](const profile::PairCount& pair) {
    json.field("source", pair.source);
    json.field("destination", pair.destination);
    json.volume({pair.bytes, pair.messages});
  });
  const auto rank = [&](const BusiestRank& entry) {
    json.field("rank", entry.rank);
    json.volume(entry.volume);
  };
  json.array("top_senders", summary.top_senders, rank);
  json.array("top_receivers", summary.top_receivers, rank);
  json.field("imbalance_sent", summary.imbalance_sent);
  json.field("imbalance_received", summary.imbalance_received);
}

void write_trust(Json& json, const RunSummary& summary) {
  const profile::Coverage& coverage = summary.header.coverage;
  const auto side = [&](const char* name, const profile::Totals& totals) {
    json.key(name).object([&] {
      json.volume({totals.bytes, totals.messages});
      json.field("witness", totals.witness);
    });
  };
  json.key("exactness").object([&] {
    json.field("verdict", coverage.verdict);
    json.field("sentence", exactness(summary).sentence);
    side("sent", coverage.sent);
    side("received", coverage.received);
    side("unreceived", coverage.unreceived);
    json.field("pairs_that_differ", std::uint64_t{coverage.differences.size()});
    json.field("lost_messages", coverage.lost_messages);
    json.field("cut_short", coverage.cut_short);
  });
  const auto remark = [&](const Remark& entry) {
    json.field("kind", entry.kind);
    json.field("text", entry.text);
  };
  json.array("limits", limits(summary), remark);
  json.array("warnings", warnings(summary), remark);
}

}  // namespace

std::string report_json(const RunSummary& summary) {
  Json json;
  json.object([&] {
    json.field("schema", std::string("fathom-report/1"));
    write_run(json, summary);
    write_traffic(json, summary);
    write_trust(json, summary);
  });
  return json.take();
}

}  // namespace fathom::cli
