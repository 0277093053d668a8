// SPDX-License-Identifier: BSD-3-Clause
#include "importers/pfprof.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bundle.h"
#include "base/json/reader.h"
#include "profile/header_targets.h"

namespace fathom::importers {
namespace {

constexpr char kAdvice[] = "the file is damaged or was not written by the reference profiler";

// The content of one oxton-result<rank>.json.
struct RankFile {
  std::int64_t rank = profile::kNone;
  std::int64_t ranks = profile::kNone;  // "n_procs"
  std::string host;
  double seconds = 0;  // absent in older versions
  std::vector<std::uint64_t> sent_bytes, sent_messages, received_bytes, received_messages;
  struct Size {
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0;
  };
  std::vector<Size> sent_sizes;
};

base::Target size_target(RankFile::Size& size) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "message_size") return &size.bytes;
                        if (key == "frequency") return &size.messages;
                        return {};
                      },
                      nullptr};
}

std::optional<base::Complaint> check(const RankFile& file) {
  if (file.rank == profile::kNone) return base::Complaint{"rank", "is missing"};
  if (file.ranks == profile::kNone) return base::Complaint{"n_procs", "is missing"};
  if (file.rank >= file.ranks) {
    return base::Complaint{"rank", "is " + std::to_string(file.rank) + " and \"n_procs\" is " +
                                       std::to_string(file.ranks)};
  }
  for (const auto& [name, values] :
       {std::pair("tx_bytes", &file.sent_bytes), std::pair("tx_messages", &file.sent_messages),
        std::pair("rx_bytes", &file.received_bytes),
        std::pair("rx_messages", &file.received_messages)}) {
    if (values->size() != static_cast<std::uint64_t>(file.ranks)) {
      return base::Complaint{name, "has " + std::to_string(values->size()) +
                                       " values but \"n_procs\" is " + std::to_string(file.ranks)};
    }
  }
  return std::nullopt;
}

base::Object rank_file_target(RankFile& file) {
  return base::Object{[&](std::string_view key) -> base::Target {
                        if (key == "rank") return &file.rank;
                        if (key == "n_procs") return &file.ranks;
                        if (key == "processor_name") return &file.host;
                        if (key == "duration") return &file.seconds;
                        if (key == "tx_bytes") return &file.sent_bytes;
                        if (key == "tx_messages") return &file.sent_messages;
                        if (key == "rx_bytes") return &file.received_bytes;
                        if (key == "rx_messages") return &file.received_messages;
                        if (key == "tx_message_sizes")
                          return base::list_of(file.sent_sizes, &size_target);
                        return {};
                      },
                      [&] { return check(file); }};
}

// The rank in "oxton-result<rank>.json"; nothing for any other name.
std::optional<std::int64_t> rank_in_name(std::string_view name) {
  constexpr std::string_view kPrefix = "oxton-result", kSuffix = ".json";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  std::int64_t rank = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
  if (error != std::errc() || end != name.data() + name.size() || rank < 0) return std::nullopt;
  return rank;
}

// The job, put together from the files of its ranks.
class Job {
 public:
  base::Status add(const std::string& name, const std::string& full_name, base::ByteSource& bytes) {
    const std::optional<std::int64_t> named_rank = rank_in_name(name);
    if (!named_rank) return base::Done{};
    RankFile file;
    if (auto status = base::read_json(bytes, full_name, rank_file_target(file), kAdvice); !status) {
      return status;
    }
    if (file.rank != *named_rank) {
      return base::Error{full_name + ": \"rank\" is " + std::to_string(file.rank) +
                         ", which is not the rank in the file's name; " + kAdvice};
    }
    if (files_.empty()) {
      world_size_ = file.ranks;
    } else if (world_size_ != file.ranks) {
      return base::Error{full_name + ": \"n_procs\" is " + std::to_string(file.ranks) + " and " +
                         files_.begin()->second + " says " + std::to_string(world_size_) +
                         "; the files are of different runs"};
    }
    const auto [earlier, is_new] = files_.try_emplace(file.rank, full_name);
    if (!is_new) {
      return base::Error{full_name + ": is the second file for rank " + std::to_string(file.rank) +
                         ", the first being " + earlier->second};
    }
    add_counts(file);
    return base::Done{};
  }

  base::Result<profile::Profile> finish(const std::string& path) {
    if (files_.empty()) {
      return base::Error{path +
                         ": holds no oxton-result<rank>.json; give the folder or archive "
                         "that the reference profiler's run left"};
    }
    if (auto missing = first_missing_rank()) {
      return base::Error{path + ": oxton-result" + std::to_string(*missing) + ".json is missing (" +
                         std::to_string(files_.size()) + " of " + std::to_string(world_size_) +
                         " ranks are there)"};
    }
    describe_job(path);
    add_traffic();
    judge();
    return std::move(profile_);
  }

 private:
  void add_counts(const RankFile& file) {
    for (std::size_t peer = 0; peer < file.sent_bytes.size(); ++peer) {
      const auto other = static_cast<std::int64_t>(peer);
      if (file.sent_bytes[peer] != 0 || file.sent_messages[peer] != 0) {
        profile::PairDifference& pair = pairs_[{file.rank, other}];
        pair.sent_bytes = file.sent_bytes[peer];
        pair.sent_messages = file.sent_messages[peer];
      }
      if (file.received_bytes[peer] != 0 || file.received_messages[peer] != 0) {
        profile::PairDifference& pair = pairs_[{other, file.rank}];
        pair.received_bytes = file.received_bytes[peer];
        pair.received_messages = file.received_messages[peer];
      }
    }
    for (const RankFile::Size& size : file.sent_sizes) sizes_[size.bytes] += size.messages;
    profile::Rank rank;
    rank.rank = file.rank;
    rank.host = file.host;
    rank.seconds = file.seconds;
    profile_.ranks.push_back(rank);
  }

  std::optional<std::int64_t> first_missing_rank() const {
    std::int64_t expected = 0;
    for (const auto& [rank, name] : files_) {
      if (rank != expected) return expected;
      ++expected;
    }
    if (expected < world_size_) return expected;
    return std::nullopt;
  }

  void describe_job(const std::string& path) {
    profile_.world_size = world_size_;
    profile_.source = "pfprof";
    profile_.mpi.library = "Open MPI";
    profile_.mpi.pml = "ob1";
    std::sort(profile_.ranks.begin(), profile_.ranks.end(),
              [](const profile::Rank& left, const profile::Rank& right) {
                return left.rank < right.rank;
              });
    profile::Communicator world;
    world.name = "MPI_COMM_WORLD";
    world.made_by = "predefined";
    for (const profile::Rank& rank : profile_.ranks) {
      world.world_ranks.push_back(rank.rank);
      profile_.application.seconds = std::max(profile_.application.seconds, rank.seconds);
    }
    profile_.communicators.push_back(std::move(world));
    profile_.coverage.notes.push_back("Imported from " + path +
                                      ", written by the reference PERUSE profiler.");
  }

  void add_traffic() {
    profile::Traffic traffic;
    traffic.class_name = kUnclassified;
    profile::Coverage& coverage = profile_.coverage;
    coverage.sent.witness = "pfprof, senders";
    coverage.received.witness = "pfprof, receivers";
    for (auto& [key, pair] : pairs_) {
      pair.source = key.first;
      pair.destination = key.second;
      coverage.sent.bytes += pair.sent_bytes;
      coverage.sent.messages += pair.sent_messages;
      coverage.received.bytes += pair.received_bytes;
      coverage.received.messages += pair.received_messages;
      if (pair.sent_bytes != pair.received_bytes || pair.sent_messages != pair.received_messages) {
        coverage.differences.push_back(pair);
      }
      if (pair.sent_bytes == 0 && pair.sent_messages == 0) continue;
      traffic.source.push_back(pair.source);
      traffic.destination.push_back(pair.destination);
      traffic.bytes.push_back(pair.sent_bytes);
      traffic.messages.push_back(pair.sent_messages);
    }
    profile_.traffic.push_back(std::move(traffic));
    profile::MessageSizes sizes;
    sizes.class_name = kUnclassified;
    for (const auto& [bytes, messages] : sizes_) {
      sizes.size.push_back(bytes);
      sizes.messages.push_back(messages);
    }
    profile_.message_sizes.push_back(std::move(sizes));
  }

  void judge() {
    profile::Coverage& coverage = profile_.coverage;
    coverage.verdict = coverage.differences.empty() ? "exact" : "differs";
    if (coverage.differences.empty()) return;
    coverage.notes.push_back(
        "Senders and receivers disagree on " + std::to_string(coverage.differences.size()) +
        " pairs. That profiler does not see small sends within a host, counts a receive with its "
        "posted length, and credits receives from MPI_ANY_SOURCE to a wrong rank.");
  }

  std::int64_t world_size_ = 0;
  std::map<std::int64_t, std::string> files_;  // by rank
  std::map<std::pair<std::int64_t, std::int64_t>, profile::PairDifference>
      pairs_;                                     // by source, destination
  std::map<std::uint64_t, std::uint64_t> sizes_;  // messages by size
  profile::Profile profile_;
};

}  // namespace

base::Result<profile::Profile> import_pfprof(const std::string& path) {
  try {
    Job job;
    const auto add = [&](const std::string& name, const std::string& full_name,
                         base::ByteSource& bytes) { return job.add(name, full_name, bytes); };
    if (base::Status status = base::for_each_file(path, add); !status) return status.error();
    return job.finish(path);
  } catch (const std::bad_alloc&) {
    return base::Error{path + ": does not fit into memory"};
  }
}

}  // namespace fathom::importers
