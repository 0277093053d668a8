#include "cli/report_json.h"

#include "cli/advice.h"
#include "cli/json.h"

namespace fathom::cli {
namespace {

void write_volume(Json& json, const profile::Volume& volume) {
  json.field("bytes", volume.bytes);
  json.field("messages", volume.messages);
}

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
  json.key("total").object([&] { write_volume(json, summary.total); });
  json.key("hidden").object([&] { write_volume(json, summary.hidden); });
  json.array("classes", summary.classes, [&](const profile::ClassTotal& entry) {
    json.field("class", entry.class_name);
    json.field("hidden", entry.hidden);
    write_volume(json, entry.volume);
  });
  json.array("message_sizes", summary.sizes, [&](const SizeBin& bin) {
    json.field("low", bin.low);
    json.field("high", bin.high);
    json.field("messages", bin.messages);
  });
  json.field("pairs", std::uint64_t{summary.pairs});
  json.field("density", summary.density);
  json.key("between_hosts").object([&] { write_volume(json, summary.between_hosts); });
  json.array("top_pairs", summary.top_pairs, [&](const profile::PairCount& pair) {
    json.field("source", pair.source);
    json.field("destination", pair.destination);
    write_volume(json, {pair.bytes, pair.messages});
  });
  const auto rank = [&](const BusiestRank& entry) {
    json.field("rank", entry.rank);
    write_volume(json, entry.volume);
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
      write_volume(json, {totals.bytes, totals.messages});
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
