// SPDX-License-Identifier: BSD-3-Clause
// The reference profiler's per-rank files: a shipped pair, broken ones, and two real runs where the
// reference data is available.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "exporters/profile/pfprof.h"
#include "importers/pfprof.h"
#include "profile/pair_sums.h"
#include "profile/reader.h"
#include "profile/summary.h"
#include "profile/writer.h"
#include "test/unit/base/scratch_folder.h"

namespace fathom::profile {
namespace {

using test::Scratch;
using test::write_file;

std::string rank_file(int rank, const std::string& tx_bytes, const std::string& tx_messages,
                      const std::string& rx_bytes, const std::string& rx_messages) {
  return "{\"rank\": " + std::to_string(rank) +
         ", \"n_procs\": 2, \"processor_name\": \"n1\", \"duration\": 1.5, \"n_events\": 8,"
         "\"tx_message_sizes\": [{\"message_size\": 5, \"frequency\": 2}], \"rx_message_sizes\": "
         "[]," +
         "\"tx_bytes\": " + tx_bytes + ", \"tx_messages\": " + tx_messages +
         ", \"rx_bytes\": " + rx_bytes + ", \"rx_messages\": " + rx_messages + "}";
}

void write_two_ranks(const Scratch& folder) {
  write_file(folder / "oxton-result0.json", rank_file(0, "[0,10]", "[1,2]", "[0,7]", "[1,1]"));
  write_file(folder / "oxton-result1.json", rank_file(1, "[7,0]", "[1,0]", "[12,0]", "[3,0]"));
}

std::string import_error(const std::string& path) {
  auto imported = importers::import_pfprof(path);
  REQUIRE_FALSE(imported);
  return imported.error().message;
}

TEST_CASE("senders' counts become the traffic, and disagreement with receivers becomes coverage") {
  Scratch folder;
  write_two_ranks(folder);
  auto imported = importers::import_pfprof(folder.path());
  REQUIRE_MESSAGE(imported, imported.error().message);
  CHECK(imported->world_size == 2);
  CHECK(imported->source == "pfprof");
  CHECK(imported->application.seconds == 1.5);
  REQUIRE(imported->traffic.size() == 1);
  const Traffic& traffic = imported->traffic[0];
  CHECK(traffic.class_name == importers::kUnclassified);
  CHECK(traffic.source == std::vector<std::int64_t>{0, 0, 1});
  CHECK(traffic.destination == std::vector<std::int64_t>{0, 1, 0});
  CHECK(traffic.bytes == std::vector<std::uint64_t>{0, 10, 7});
  CHECK(traffic.messages == std::vector<std::uint64_t>{1, 2, 1});
  CHECK(imported->message_sizes[0].size == std::vector<std::uint64_t>{5});
  CHECK(imported->message_sizes[0].messages == std::vector<std::uint64_t>{4});
  CHECK(imported->coverage.verdict == "differs");
  CHECK(imported->coverage.sent.bytes == 17);
  CHECK(imported->coverage.received.bytes == 19);
  REQUIRE(imported->coverage.differences.size() == 1);
  CHECK(imported->coverage.differences[0].sent_messages == 2);
  CHECK(imported->coverage.differences[0].received_messages == 3);
}

TEST_CASE("the reader accepts an imported profile") {
  Scratch folder;
  write_two_ranks(folder);
  auto imported = importers::import_pfprof(folder.path());
  REQUIRE(imported);
  REQUIRE(write_profile(*imported, folder / "profile.json"));
  auto loaded = load_profile(folder / "profile.json");
  CHECK_MESSAGE(loaded, loaded.error().message);
}

TEST_CASE("an export is imported again from a folder, a tar and a tar.gz") {
  Scratch in, out;
  write_two_ranks(in);
  auto imported = importers::import_pfprof(in.path());
  REQUIRE(imported);
  for (const std::string name : {"folder", "archive.tar", "archive.tar.gz"}) {
    CAPTURE(name);
    exporters::Notes notes;
    auto status = exporters::export_pfprof(*imported, {}, out / name, notes);
    REQUIRE_MESSAGE(status, status.error().message);
    auto again = importers::import_pfprof(out / name);
    REQUIRE_MESSAGE(again, again.error().message);
    CHECK(again->traffic[0].bytes == imported->traffic[0].bytes);
    CHECK(again->traffic[0].messages == imported->traffic[0].messages);
    CHECK(again->coverage.verdict == "exact");
    CHECK(again->ranks[1].host == "n1");
    CHECK_FALSE(exporters::export_pfprof(*imported, {}, out / name, notes));
  }
  CHECK(out.entries() == 3);
}

TEST_CASE("each defect in a set of files gives one sentence that names the file") {
  Scratch folder;
  CHECK(import_error(folder / "absent") ==
        folder / "absent: does not exist; give a folder or a tar archive");
  CHECK(import_error(folder.path()).find("holds no oxton-result<rank>.json") != std::string::npos);

  write_two_ranks(folder);
  std::filesystem::remove(folder / "oxton-result1.json");
  CHECK(import_error(folder.path()) ==
        folder.path() + ": oxton-result1.json is missing (1 of 2 ranks are there)");

  write_file(folder / "oxton-result1.json", rank_file(0, "[0,0]", "[0,0]", "[0,0]", "[0,0]"));
  CHECK(import_error(folder.path()).find("not the rank in the file's name") != std::string::npos);

  write_file(folder / "oxton-result1.json", rank_file(1, "[0]", "[0,0]", "[0,0]", "[0,0]"));
  CHECK(import_error(folder.path())
            .find("\"tx_bytes\" has 1 values "
                  "but \"n_procs\" is 2") != std::string::npos);

  write_file(folder / "oxton-result1.json", rank_file(1, "[0,-1]", "[0,0]", "[0,0]", "[0,0]"));
  CHECK(import_error(folder.path()).find("\"tx_bytes[1]\" is not a whole number") !=
        std::string::npos);

  std::string other_run = rank_file(1, "[0]", "[0]", "[0]", "[0]");
  other_run.replace(other_run.find("\"n_procs\": 2"), 12, "\"n_procs\": 1");
  write_file(folder / "oxton-result1.json", other_run);
  CHECK(import_error(folder.path()).find("\"rank\" is 1 and \"n_procs\" is 1") !=
        std::string::npos);

  write_two_ranks(folder);
  write_file(folder / "oxton-result01.json", rank_file(1, "[7,0]", "[1,0]", "[12,0]", "[3,0]"));
  CHECK(import_error(folder.path()).find("is the second file for rank 1") != std::string::npos);

  write_file(folder / "not.tar", "neither tar nor gzip");
  CHECK(import_error(folder / "not.tar").find("is not a readable tar archive") !=
        std::string::npos);
}

TEST_CASE("an archive cut at any place is an error, never a crash or a smaller job") {
  Scratch folder;
  write_two_ranks(folder);
  auto imported = importers::import_pfprof(folder.path());
  REQUIRE(imported);
  exporters::Notes notes;
  REQUIRE(exporters::export_pfprof(*imported, {}, folder / "whole.tar.gz", notes));
  const std::string whole = test::contents(folder / "whole.tar.gz");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(folder / "cut.tar.gz", whole.substr(0, size));
    auto cut = importers::import_pfprof(folder / "cut.tar.gz");
    if (cut) CHECK(total(sum_pairs(*cut)).bytes == total(sum_pairs(*imported)).bytes);
  }
}

struct RealRun {
  const char* name;
  std::uint64_t sent_bytes, sent_messages, received_bytes, received_messages;
  std::size_t pairs_with_messages, pairs_with_bytes;
};

TEST_CASE("the real runs add up to their published totals") {
  const char* data = std::getenv("FATHOM_REFERENCE_DATA");
  constexpr RealRun kRuns[] = {
      {"cg-c-128.tar.gz", 94852203096, 1780871, 94864811508, 3328126, 1024, 759},
      {"milc-128.tar.gz", 82027254272, 10123389, 82031045120, 10347645, 1154, 1154},
  };
  for (const RealRun& run : kRuns) {
    const std::string path = std::string(data ? data : ".") + "/" + run.name;
    CAPTURE(path);
    if (!std::filesystem::exists(path)) {
      MESSAGE("skipped: " << path << " is not there");
      continue;
    }
    auto imported = importers::import_pfprof(path);
    REQUIRE_MESSAGE(imported, imported.error().message);
    const std::vector<PairCount> pairs = sum_pairs(*imported);
    CHECK(imported->world_size == 128);
    CHECK(total(pairs).bytes == run.sent_bytes);
    CHECK(total(pairs).messages == run.sent_messages);
    CHECK(imported->coverage.received.bytes == run.received_bytes);
    CHECK(imported->coverage.received.messages == run.received_messages);
    CHECK(pairs.size() == run.pairs_with_messages);
    std::size_t with_bytes = 0;
    for (const PairCount& pair : pairs) with_bytes += pair.bytes > 0;
    CHECK(with_bytes == run.pairs_with_bytes);
  }
}

}  // namespace
}  // namespace fathom::profile
