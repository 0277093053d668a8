// SPDX-License-Identifier: BSD-3-Clause
#include "profile/reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_source.h"
#include "base/json/reader.h"
#include "profile/header_targets.h"

namespace fathom::profile {
namespace {

constexpr char kSchemaFamily[] = "fathom-profile/";
constexpr char kNotAProfile[] =
    "this is not a Fathom profile; give the run directory or its profile.json";
constexpr char kAdvice[] = "the file is damaged or was not written by Fathom";

// MPI stores ranks in an int.
constexpr std::int64_t kMostRanks = std::numeric_limits<int>::max();

// What a block refers to in the header, which may come after it; checked at the end.
struct Mentioned {
  std::int64_t highest_rank = kNone;
  std::string highest_rank_where;
  std::map<std::int64_t, std::string> communicators, sites;  // by id: where it was first named

  void rank(std::int64_t number, const std::string& where) {
    if (number <= highest_rank) return;
    highest_rank = number;
    highest_rank_where = where;
  }
  void ranks(const std::vector<std::int64_t>& numbers, const std::string& where) {
    if (!numbers.empty()) rank(*std::max_element(numbers.begin(), numbers.end()), where);
  }
  // Where a block's calls are made; `where` ends in the name of the block.
  template <typename Block>
  void place(const Block& block, const std::string& where) {
    sites.try_emplace(block.site, where + ".site\"");
    if (block.communicator != kNone)
      communicators.try_emplace(block.communicator, where + ".communicator\"");
  }
};

// The members that say where a block's calls are made.
template <typename Block>
base::Target place_member(Block& block, std::string_view key) {
  if (key == "function") return &block.function;
  if (key == "site") return &block.site;
  if (key == "communicator") return base::IntegerOrNull{&block.communicator};
  if (key == "phase") return &block.phase;
  return {};
}

class ProfileReading {
 public:
  explicit ProfileReading(Visitor& visitor) : visitor_(visitor) {}

  base::Object root() {
    return base::Object{[this](std::string_view key) { return top_member(key); },
                        [this] { return check_document(); }};
  }

  Header take_header() { return std::move(header_); }

 private:
  base::Target top_member(std::string_view key) {
    if (key == "schema") return base::CheckedText{&schema_, [this] { return check_schema(); }};
    if (key == "traffic") return base::List{[this] { return traffic_block(); }};
    if (key == "calls") return base::List{[this] { return calls_block(); }};
    if (key == "waits") return base::List{[this] { return waits_block(); }};
    if (key == "path") return base::List{[this] { return path_window(); }};
    if (key == "message_sizes") return base::List{[this] { return message_sizes(); }};
    return header_member(header_, key);
  }

  base::Target traffic_block() {
    block_ = Traffic();
    return base::Object{[this](std::string_view key) -> base::Target {
                          if (key == "class") return &block_.class_name;
                          if (key == "hidden") return &block_.hidden;
                          if (key == "communicator") return &block_.communicator;
                          if (key == "phase") return &block_.phase;
                          if (key == "source") return &block_.source;
                          if (key == "destination") return &block_.destination;
                          if (key == "bytes") return &block_.bytes;
                          if (key == "messages") return &block_.messages;
                          return {};
                        },
                        [this] { return block_closed(); }};
  }

  std::optional<base::Complaint> block_closed() {
    if (auto complaint = unequal_columns(block_)) return complaint;
    if (block_.class_name.empty()) return base::Complaint{"class", "is missing"};
    const std::string where = "\"traffic[" + std::to_string(blocks_) + "]";
    mentioned_.ranks(block_.source, where + ".source\"");
    mentioned_.ranks(block_.destination, where + ".destination\"");
    mentioned_.communicators.try_emplace(block_.communicator, where + ".communicator\"");
    ++blocks_;
    visitor_.on_traffic(block_);
    return std::nullopt;
  }

  base::Target calls_block() {
    calls_ = CallTimes();
    return base::Object{[this](std::string_view key) -> base::Target {
                          if (key == "rank") return &calls_.rank;
                          if (key == "calls") return &calls_.calls;
                          if (key == "total_ns") return &calls_.total_ns;
                          if (key == "shortest_ns") return &calls_.shortest_ns;
                          if (key == "longest_ns") return &calls_.longest_ns;
                          if (key == "bytes") return &calls_.bytes;
                          if (key == "estimated") return &calls_.estimated;
                          return place_member(calls_, key);
                        },
                        [this] { return calls_closed(); }};
  }

  std::optional<base::Complaint> calls_closed() {
    if (auto complaint = unequal_columns(calls_)) return complaint;
    if (calls_.function.empty()) return base::Complaint{"function", "is missing"};
    const std::string where = "\"calls[" + std::to_string(call_blocks_) + "]";
    mentioned_.ranks(calls_.rank, where + ".rank\"");
    mentioned_.place(calls_, where);
    ++call_blocks_;
    visitor_.on_calls(calls_);
    return std::nullopt;
  }

  base::Target waits_block() {
    waits_ = CallWaits();
    return base::Object{[this](std::string_view key) -> base::Target {
                          if (key == "kind") return &waits_.kind;
                          if (key == "rank") return &waits_.rank;
                          if (key == "awaited") return &waits_.awaited;
                          if (key == "waits") return &waits_.waits;
                          if (key == "total_ns") return &waits_.total_ns;
                          if (key == "longest_ns") return &waits_.longest_ns;
                          return place_member(waits_, key);
                        },
                        [this] { return waits_closed(); }};
  }

  std::optional<base::Complaint> waits_closed() {
    if (auto complaint = unequal_columns(waits_)) return complaint;
    if (waits_.kind.empty()) return base::Complaint{"kind", "is missing"};
    const std::string where = "\"waits[" + std::to_string(wait_blocks_) + "]";
    mentioned_.ranks(waits_.rank, where + ".rank\"");
    mentioned_.ranks(waits_.awaited, where + ".awaited\"");
    mentioned_.place(waits_, where);
    ++wait_blocks_;
    visitor_.on_waits(waits_);
    return std::nullopt;
  }

  base::Target path_window() {
    path_ = CriticalPath();
    return base::Object{[this](std::string_view key) -> base::Target {
                          if (key == "window") return &path_.window;
                          if (key == "elapsed_ns") return &path_.elapsed_ns;
                          if (key == "jumps") return &path_.jumps;
                          if (key == "error_ns") return &path_.error_ns;
                          if (key == "parts") return base::List{[this] { return path_part(); }};
                          if (key == "openings") return &path_.openings;
                          if (key == "ranks") return window_ranks();
                          if (key == "calls") return base::List{[this] { return window_calls(); }};
                          return {};
                        },
                        [this]() -> std::optional<base::Complaint> {
                          ++windows_;
                          visitor_.on_path(path_);
                          return std::nullopt;
                        }};
  }

  base::Target path_part() {
    PathPart& part = path_.parts.emplace_back();
    return base::Object{[&part](std::string_view key) -> base::Target {
                          if (key == "program") return &part.program;
                          if (key == "rank") return &part.rank;
                          if (key == "stretches") return &part.stretches;
                          if (key == "total_ns") return &part.total_ns;
                          if (key == "calls") return &part.calls;
                          if (key == "bytes") return &part.bytes;
                          return place_member(part, key);
                        },
                        [this, &part]() -> std::optional<base::Complaint> {
                          if (auto complaint = unequal_columns(part)) return complaint;
                          const std::string where = "\"path[" + std::to_string(windows_) +
                                                    "].parts[" +
                                                    std::to_string(path_.parts.size() - 1) + "]";
                          mentioned_.ranks(part.rank, where + ".rank\"");
                          mentioned_.place(part, where);
                          return std::nullopt;
                        }};
  }

  base::Target window_ranks() {
    return base::Object{[this](std::string_view key) -> base::Target {
                          if (key == "rank") return &path_.ranks.rank;
                          if (key == "total_ns") return &path_.ranks.total_ns;
                          return {};
                        },
                        [this]() -> std::optional<base::Complaint> {
                          if (auto complaint = unequal_columns(path_.ranks)) return complaint;
                          mentioned_.ranks(path_.ranks.rank,
                                           "\"path[" + std::to_string(windows_) + "].ranks.rank\"");
                          return std::nullopt;
                        }};
  }

  base::Target window_calls() {
    WindowCalls& calls = path_.calls.emplace_back();
    return base::Object{
        [&calls](std::string_view key) -> base::Target {
          if (key == "function") return &calls.function;
          if (key == "communicator") return base::IntegerOrNull{&calls.communicator};
          if (key == "rank") return &calls.rank;
          if (key == "calls") return &calls.calls;
          if (key == "total_ns") return &calls.total_ns;
          if (key == "waiting_ns") return &calls.waiting_ns;
          if (key == "bytes") return &calls.bytes;
          return {};
        },
        [this, &calls]() -> std::optional<base::Complaint> {
          if (auto complaint = unequal_columns(calls)) return complaint;
          const std::string where = "\"path[" + std::to_string(windows_) + "].calls[" +
                                    std::to_string(path_.calls.size() - 1) + "]";
          mentioned_.ranks(calls.rank, where + ".rank\"");
          if (calls.communicator != kNone)
            mentioned_.communicators.try_emplace(calls.communicator, where + ".communicator\"");
          return std::nullopt;
        }};
  }

  base::Target message_sizes() {
    sizes_ = MessageSizes();
    return base::Object{[this](std::string_view key) -> base::Target {
                          if (key == "class") return &sizes_.class_name;
                          if (key == "hidden") return &sizes_.hidden;
                          if (key == "size") return &sizes_.size;
                          if (key == "messages") return &sizes_.messages;
                          if (key == "bin_low") return &sizes_.bin_low;
                          if (key == "bin_messages") return &sizes_.bin_messages;
                          return {};
                        },
                        [this] { return sizes_closed(); }};
  }

  std::optional<base::Complaint> sizes_closed() {
    if (sizes_.class_name.empty()) return base::Complaint{"class", "is missing"};
    if (sizes_.size.size() != sizes_.messages.size()) {
      return unequal_columns("messages", sizes_.messages.size(), "size", sizes_.size.size());
    }
    if (sizes_.bin_low.size() != sizes_.bin_messages.size()) {
      return unequal_columns("bin_messages", sizes_.bin_messages.size(), "bin_low",
                             sizes_.bin_low.size());
    }
    visitor_.on_message_sizes(sizes_);
    return std::nullopt;
  }

  std::optional<base::Complaint> check_schema() const {
    if (schema_ == kSchema) return std::nullopt;
    if (schema_.starts_with(kSchemaFamily)) {
      return base::Complaint{"", "is \"" + schema_ + "\" and this Fathom reads \"" + kSchema + '"',
                             "use the Fathom that wrote the file, or a newer one"};
    }
    return base::Complaint{"", "is \"" + schema_ + "\" instead of \"" + kSchema + '"',
                           kNotAProfile};
  }

  // Checks everything that needs the whole header.
  std::optional<base::Complaint> check_document() {
    if (schema_.empty()) return base::Complaint{"schema", "is missing", kNotAProfile};
    if (header_.world_size > kMostRanks) {
      return base::Complaint{"world_size", "is larger than MPI allows (2^31 - 1)"};
    }
    if (auto complaint = check_rank_list()) return complaint;
    if (auto complaint = check_communicator_list()) return complaint;
    if (auto complaint = check_site_list()) return complaint;
    return check_mentioned();
  }

  std::optional<base::Complaint> check_rank_list() {
    std::set<std::int64_t> seen;
    for (std::size_t at = 0; at < header_.ranks.size(); ++at) {
      const std::int64_t rank = header_.ranks[at].rank;
      mentioned_.rank(rank, "\"ranks[" + std::to_string(at) + "].rank\"");
      if (!seen.insert(rank).second) {
        return base::Complaint{"ranks", "lists rank " + std::to_string(rank) + " twice"};
      }
    }
    return std::nullopt;
  }

  std::optional<base::Complaint> check_communicator_list() {
    known_communicators_.clear();
    for (std::size_t at = 0; at < header_.communicators.size(); ++at) {
      const Communicator& communicator = header_.communicators[at];
      const std::string where = "\"communicators[" + std::to_string(at) + "]";
      mentioned_.ranks(communicator.world_ranks, where + ".world_ranks\"");
      mentioned_.ranks(communicator.remote_world_ranks, where + ".remote_world_ranks\"");
      if (!known_communicators_.insert(communicator.id).second) {
        return base::Complaint{"communicators",
                               "lists communicator " + std::to_string(communicator.id) + " twice"};
      }
    }
    return std::nullopt;
  }

  std::optional<base::Complaint> check_site_list() {
    std::set<std::int64_t> known;
    for (const CallSite& site : header_.call_sites) {
      if (!known.insert(site.id).second)
        return base::Complaint{"call_sites", "lists site " + std::to_string(site.id) + " twice"};
    }
    for (const CallDurations& durations : header_.call_durations)
      mentioned_.sites.try_emplace(durations.site, "\"call_durations\"");
    for (const auto& [id, where] : mentioned_.sites) {
      if (!known.contains(id)) {
        return base::Complaint{
            "", where + " is " + std::to_string(id) + ", which \"call_sites\" does not list"};
      }
    }
    return std::nullopt;
  }

  std::optional<base::Complaint> check_mentioned() {
    for (const PairCount& pair : header_.coverage.unreceived_pairs) {
      mentioned_.rank(std::max(pair.source, pair.destination), "\"coverage.unreceived.pairs\"");
    }
    for (const PairDifference& pair : header_.coverage.differences) {
      mentioned_.rank(std::max(pair.source, pair.destination), "\"coverage.differences\"");
    }
    for (const PerformanceVariable& variable : header_.performance_variables) {
      mentioned_.ranks(variable.rank, "\"performance_variables\"");
    }
    const std::int64_t ranks =
        std::max(header_.world_size, static_cast<std::int64_t>(header_.ranks.size()));
    if (mentioned_.highest_rank >= ranks) {
      return base::Complaint{"", mentioned_.highest_rank_where + " names rank " +
                                     std::to_string(mentioned_.highest_rank) + " of a job with " +
                                     std::to_string(ranks) + " ranks"};
    }
    for (const auto& [id, where] : mentioned_.communicators) {
      if (!known_communicators_.contains(id)) {
        return base::Complaint{
            "", where + " is " + std::to_string(id) + ", which \"communicators\" does not list"};
      }
    }
    return std::nullopt;
  }

  Visitor& visitor_;
  Header header_;
  std::string schema_;
  Traffic block_;
  std::size_t blocks_ = 0;
  CallTimes calls_;
  std::size_t call_blocks_ = 0;
  CallWaits waits_;
  std::size_t wait_blocks_ = 0;
  CriticalPath path_;
  std::size_t windows_ = 0;
  MessageSizes sizes_;
  Mentioned mentioned_;
  std::set<std::int64_t> known_communicators_;
};

class Collector : public Visitor {
 public:
  void on_calls(CallTimes& block) override { calls.push_back(std::move(block)); }
  void on_waits(CallWaits& block) override { waits.push_back(std::move(block)); }
  void on_path(CriticalPath& window) override { path.push_back(std::move(window)); }
  void on_traffic(Traffic& block) override { traffic.push_back(std::move(block)); }
  void on_message_sizes(MessageSizes& sizes) override { message_sizes.push_back(std::move(sizes)); }
  std::vector<CallTimes> calls;
  std::vector<CallWaits> waits;
  std::vector<CriticalPath> path;
  std::vector<Traffic> traffic;
  std::vector<MessageSizes> message_sizes;
};

}  // namespace

base::Result<Header> read_profile(base::ByteSource& source, const std::string& name,
                                  Visitor& visitor) {
  ProfileReading reading(visitor);
  if (base::Status status = base::read_json(source, name, reading.root(), kAdvice); !status) {
    return status.error();
  }
  return reading.take_header();
}

base::Result<Header> read_profile(const std::string& path, Visitor& visitor) {
  auto source = base::open_file(path);
  if (!source) return source.error();
  return read_profile(**source, path, visitor);
}

base::Result<Profile> load_profile(base::ByteSource& source, const std::string& name) {
  Collector collector;
  base::Result<Header> header = read_profile(source, name, collector);
  if (!header) return header.error();
  Profile profile{std::move(*header), {}, {}, {}, {}, {}};
  profile.calls = std::move(collector.calls);
  profile.waits = std::move(collector.waits);
  profile.path = std::move(collector.path);
  profile.traffic = std::move(collector.traffic);
  profile.message_sizes = std::move(collector.message_sizes);
  return profile;
}

base::Result<Profile> load_profile(const std::string& path) {
  auto source = base::open_file(path);
  if (!source) return source.error();
  return load_profile(**source, path);
}

}  // namespace fathom::profile
