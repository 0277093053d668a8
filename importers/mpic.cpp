// SPDX-License-Identifier: BSD-3-Clause
#include "importers/mpic.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "base/mapped_file.h"
#include "importers/imported_function.h"
#include "trace/writer.h"

namespace fathom::importers {
namespace {

using mpi::FunctionId;

constexpr std::uint64_t kSmallBytes = 40, kLargeBytes = 64, kProcessBytes = 1040, kAnchorBytes = 24;
constexpr std::uint64_t kDateBytes = 64, kProgramBytes = 1024, kHostBytes = 1024, kLabelBytes = 24;
constexpr char kMagic[9] = "MPICv002";
constexpr double kMostSeconds = 9e9;  // more would not fit nanoseconds in 64 bits

// The functions by type, which counts from 13.
constexpr std::int32_t kFirstType = 13;
constexpr FunctionId kTypes[] = {
    FunctionId::kSend,      FunctionId::kRecv,     FunctionId::kBsend,    FunctionId::kSsend,
    FunctionId::kRsend,     FunctionId::kIsend,    FunctionId::kIbsend,   FunctionId::kIssend,
    FunctionId::kIrsend,    FunctionId::kIrecv,    FunctionId::kSendrecv, FunctionId::kWait,
    FunctionId::kWaitall,   FunctionId::kBarrier,  FunctionId::kBcast,    FunctionId::kReduce,
    FunctionId::kAllreduce, FunctionId::kGather,   FunctionId::kScatter,  FunctionId::kAllgather,
    FunctionId::kWaitany,   FunctionId::kWaitsome, FunctionId::kTest,     FunctionId::kTestany,
    FunctionId::kTestall,   FunctionId::kTestsome, FunctionId::kInit,     FunctionId::kFinalize};

// One half of a record's data: small records have one, large ones two.
struct Part {
  std::int32_t sender = 0, receiver = 0, count = 0, bytes = 0, tag = 0;
};

struct Record {
  double seconds = 0;
  std::int32_t id = 0, type = 0, comm = 0;
  Part first, second;
  bool large = false;
};

template <typename Number>
Number number_at(const char* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}
std::int32_t int_at(const char* bytes) { return number_at<std::int32_t>(bytes); }

Record small_record(const char* bytes) {
  Record record;
  record.seconds = number_at<double>(bytes);
  record.id = int_at(bytes + 8);
  record.type = int_at(bytes + 12);
  record.comm = int_at(bytes + 16);
  record.first = {int_at(bytes + 24), int_at(bytes + 28), int_at(bytes + 32), int_at(bytes + 36),
                  int_at(bytes + 20)};
  return record;
}

Record large_record(const char* bytes) {
  Record record = small_record(bytes);
  record.large = true;
  record.first = {int_at(bytes + 20), int_at(bytes + 24), int_at(bytes + 28), int_at(bytes + 32),
                  int_at(bytes + 36)};
  record.second = {int_at(bytes + 40), int_at(bytes + 44), int_at(bytes + 48), int_at(bytes + 52),
                   int_at(bytes + 56)};
  return record;
}

std::string text_at(const char* bytes, std::uint64_t most) {
  return std::string(bytes, std::find(bytes, bytes + most, '\0'));
}

struct Section {
  std::int32_t rank = 0;
  const char* small = nullptr;
  const char* large = nullptr;
  std::uint64_t small_count = 0, large_count = 0;
};

struct Contents {
  std::int32_t ranks = 0;
  std::string program;
  std::vector<std::string> hosts;
  std::vector<std::int32_t> pids;
  std::vector<std::int64_t> started_unix_ns;  // empty for version 1
  std::vector<Section> sections;
  std::string damage;  // a sentence; empty: none
};

class Parser {
 public:
  explicit Parser(const base::MappedFile& file) : file_(file) {}

  base::Result<Contents> parse() {
    const bool second = file_.size() >= 8 && std::memcmp(file_.data(), kMagic, 8) == 0;
    at_ = second ? 12 : 0;
    if (second && file_.size() >= 12 && number_at<std::uint32_t>(file_.data() + 8) != 2) {
      return error("has an unknown version (1 and 2 are known)");
    }
    if (!has(4 + kDateBytes + kProgramBytes)) return error("is too short for a .mpic file");
    contents_.ranks = int_at(take(4));
    take(kDateBytes);
    contents_.program = text_at(take(kProgramBytes), kProgramBytes);
    const std::uint64_t each = kProcessBytes + (second ? kAnchorBytes : 0);
    if (contents_.ranks <= 0 || !has(static_cast<std::uint64_t>(contents_.ranks) * each)) {
      return error(
          "names " + std::to_string(contents_.ranks) +
          " ranks but is too short for them; it is not a .mpic file, or its header is damaged");
    }
    for (std::int32_t rank = 0; rank < contents_.ranks; ++rank) {
      const char* process = take(kProcessBytes);
      contents_.pids.push_back(int_at(process + 4));
      contents_.hosts.push_back(text_at(process + 16, kHostBytes));
    }
    for (std::int32_t rank = 0; second && rank < contents_.ranks; ++rank) {
      contents_.started_unix_ns.push_back(number_at<std::int64_t>(take(kAnchorBytes) + 16));
    }
    sections();
    return std::move(contents_);
  }

 private:
  bool has(std::uint64_t bytes) const { return bytes <= file_.size() - at_; }
  const char* take(std::uint64_t bytes) {
    const char* here = file_.data() + at_;
    at_ += bytes;
    return here;
  }
  base::Error error(const std::string& what) const { return {"'" + file_.path() + "' " + what}; }

  bool records(std::string_view label, std::uint64_t bytes_each, const char*& first,
               std::uint64_t& count) {
    if (!has(kLabelBytes + 4)) return false;
    if (text_at(take(kLabelBytes), kLabelBytes) != label) return false;
    const std::int32_t given = int_at(take(4));
    if (given < 0 || !has(static_cast<std::uint64_t>(given) * bytes_each)) return false;
    count = static_cast<std::uint64_t>(given);
    first = take(count * bytes_each);
    return true;
  }

  void sections() {
    std::set<std::int32_t> seen;
    for (std::int32_t number = 0; number < contents_.ranks; ++number) {
      const std::uint64_t begin = at_;
      Section section;
      bool good = has(4);
      if (good) section.rank = int_at(take(4));
      good = good && section.rank >= 0 && section.rank < contents_.ranks &&
             seen.insert(section.rank).second;
      good = good &&
             records("P2P Small Type Messages", kSmallBytes, section.small, section.small_count);
      good = good &&
             records("P2P Large Type Messages", kLargeBytes, section.large, section.large_count);
      if (!good) {
        contents_.damage = "the section at byte " + std::to_string(begin) + " is damaged; " +
                           std::to_string(number) + " of " + std::to_string(contents_.ranks) +
                           " ranks come before it and were imported";
        return;
      }
      contents_.sections.push_back(section);
    }
  }

  const base::MappedFile& file_;
  std::uint64_t at_ = 0;
  Contents contents_;
};

// Merges the records of one rank into the order in which they were made.
class InOrder {
 public:
  explicit InOrder(const Section& section) : section_(section) {}

  std::optional<Record> next() {
    const bool has_small = small_ < section_.small_count, has_large = large_ < section_.large_count;
    if (!has_small && !has_large) return std::nullopt;
    std::optional<Record> small, large;
    if (has_small) small = small_record(section_.small + small_ * kSmallBytes);
    if (has_large) large = large_record(section_.large + large_ * kLargeBytes);
    if (!large || (small && small->id <= large->id)) {
      ++small_;
      return small;
    }
    ++large_;
    return large;
  }

 private:
  const Section& section_;
  std::uint64_t small_ = 0, large_ = 0;
};

class MpicImport {
 public:
  explicit MpicImport(const Contents& contents) : contents_(contents) {}

  trace::Definitions definitions() {
    trace::Definitions all;
    all.world_size = contents_.ranks;
    all.application.executable = contents_.program;
    for (const FunctionId id : kTypes) all.functions.push_back(imported_function(mpi::name_of(id)));
    all.classes = {profile::kPointToPoint};
    all.class_hidden = {false};
    all.level = "calls";
    all.source = "mpic";
    for (const Section& section : contents_.sections) {
      trace::Process process;
      process.rank = section.rank;
      process.host = contents_.hosts[static_cast<std::size_t>(section.rank)];
      process.pid = contents_.pids[static_cast<std::size_t>(section.rank)];
      process.threads = {"main"};
      process.clock.kind = "monotonic";
      process.clock.own = !clocks_agree();
      process.clock.bounded = clocks_agree();
      process.complete = true;
      all.processes.push_back(process);
      find_communicators(section);
    }
    epoch(all);
    for (const auto& [handle, number] : communicators_) {
      profile::Communicator row;
      row.id = number;
      row.name = handle == 0 ? "MPI_COMM_WORLD" : "handle " + std::to_string(handle);
      for (std::int32_t rank = 0; rank < contents_.ranks; ++rank) row.world_ranks.push_back(rank);
      all.communicators.resize(
          std::max(all.communicators.size(), static_cast<std::size_t>(number) + 1));
      all.communicators[static_cast<std::size_t>(number)] = row;
    }
    return all;
  }

  void events(std::size_t process, trace::TraceWriter& writer) {
    const Section& section = contents_.sections[process];
    InOrder records(section);
    last_ns_ = 0;
    while (const auto record = records.next()) {
      if (record->type < kFirstType ||
          record->type >= kFirstType + static_cast<std::int32_t>(std::size(kTypes))) {
        ++skipped_;
        continue;
      }
      call(process, section.rank, *record, writer);
    }
  }

  std::uint64_t skipped() const { return skipped_; }
  bool too_many_communicators() const { return too_many_; }

 private:
  static constexpr std::size_t kMostCommunicators =
      4096;  // because a damaged file may name any number of them

  // Version 1 does not say when a rank's time began, and version 2 says it by the host's clock. Moments
  // at which calls began do not bound how much clocks differ: a receive begins before its message is
  // sent if it waits.
  bool clocks_agree() const {
    const auto other = [&](const std::string& host) { return host != contents_.hosts.front(); };
    return !contents_.started_unix_ns.empty() &&
           std::none_of(contents_.hosts.begin(), contents_.hosts.end(), other);
  }

  void find_communicators(const Section& section) {
    communicators_.try_emplace(0, 0);
    InOrder records(section);
    while (const auto record = records.next()) {
      if (communicators_.contains(record->comm)) continue;
      if (communicators_.size() >= kMostCommunicators) {
        too_many_ = true;
        continue;
      }
      communicators_.emplace(record->comm, static_cast<std::int32_t>(communicators_.size()));
    }
  }

  void epoch(trace::Definitions& all) {
    offsets_.assign(static_cast<std::size_t>(contents_.ranks), 0);
    const auto& started = contents_.started_unix_ns;
    if (started.empty()) return;
    const std::int64_t first = *std::min_element(started.begin(), started.end());
    constexpr std::int64_t kMostApart_ns = 1'000'000'000'000'000;  // some days; more is damage
    for (std::size_t rank = 0; rank < started.size(); ++rank) {
      const auto apart =
          static_cast<std::uint64_t>(started[rank]) - static_cast<std::uint64_t>(first);
      if (apart < static_cast<std::uint64_t>(kMostApart_ns)) offsets_[rank] = apart;
    }
    all.epoch_unix_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(first, 0));
    all.application.started_unix_ns = std::max<std::int64_t>(first, 0);
  }

  std::uint64_t time_of(const Record& record, std::int32_t rank) {
    const double seconds =
        std::isfinite(record.seconds) ? std::clamp(record.seconds, 0.0, kMostSeconds) : 0.0;
    const auto ns = static_cast<std::uint64_t>(std::llround(seconds * 1e9)) +
                    offsets_[static_cast<std::size_t>(rank)];
    last_ns_ = std::max(last_ns_, ns);
    return last_ns_;
  }

  std::int32_t valid_rank(std::int32_t rank) const {
    return rank >= 0 && rank < contents_.ranks ? rank : trace::kNobody;
  }
  static std::uint64_t length(std::int32_t bytes) {
    return static_cast<std::uint64_t>(std::max(bytes, 0));
  }

  void call(std::size_t process, std::int32_t rank, const Record& record,
            trace::TraceWriter& writer) {
    trace::Event enter;
    enter.kind = trace::EventKind::kEnter;
    enter.time_ns = time_of(record, rank);
    enter.function = static_cast<std::uint32_t>(record.type - kFirstType);
    const auto communicator = communicators_.find(record.comm);
    enter.communicator =
        communicator == communicators_.end() ? trace::kNobody : communicator->second;
    trace::Event leave = enter;
    leave.kind = trace::EventKind::kLeave;
    const mpi::Group group = mpi::meaning_of(kTypes[enter.function]).group;
    const Part& first = record.first;
    const bool sends = group == mpi::Group::kSend || group == mpi::Group::kSendReceive;
    const bool receives = group == mpi::Group::kReceive || group == mpi::Group::kSendReceive;
    if (sends || group == mpi::Group::kReceive) {
      enter.peer = enter.comm_peer = valid_rank(sends ? first.receiver : first.sender);
      enter.tag = first.tag;
      enter.bytes = length(first.bytes);
    }
    if (group == mpi::Group::kSendReceive) {
      enter.peer2 = valid_rank(record.second.sender);
      enter.tag2 = record.second.tag;
      enter.bytes2 = length(record.second.bytes);
    }
    if (group == mpi::Group::kCollective) collective(record, enter);
    if (group == mpi::Group::kCompletion) leave.count = length(first.count);
    writer.append(process, enter);
    if (sends)
      message(process, enter, trace::EventKind::kMessageSent, enter.peer, first.tag, enter.bytes,
              writer);
    if (receives && group == mpi::Group::kReceive) {
      message(process, enter, trace::EventKind::kMessageReceived, enter.peer, first.tag,
              enter.bytes, writer);
    } else if (receives) {
      message(process, enter, trace::EventKind::kMessageReceived, enter.peer2, enter.tag2,
              enter.bytes2, writer);
    }
    writer.append(process, leave);
  }

  void collective(const Record& record, trace::Event& enter) const {
    enter.bytes = length(record.first.bytes);
    if (record.large) enter.bytes2 = length(record.second.bytes);
    const mpi::Flow flow = mpi::meaning_of(kTypes[enter.function]).flow;
    if (flow == mpi::Flow::kFromRoot) enter.root = valid_rank(record.first.sender);
    if (flow == mpi::Flow::kToRoot) enter.root = valid_rank(record.first.receiver);
  }

  void message(std::size_t process, const trace::Event& call, trace::EventKind kind,
               std::int32_t peer, std::int32_t tag, std::uint64_t bytes,
               trace::TraceWriter& writer) {
    if (peer == trace::kNobody) return;  // no such rank
    trace::Event event;
    event.kind = kind;
    event.time_ns = call.time_ns;
    event.communicator = std::max(call.communicator, 0);
    event.peer = event.comm_peer = peer;
    event.tag = tag;
    event.bytes = bytes;
    writer.append(process, event);
  }

  const Contents& contents_;
  std::map<std::int32_t, std::int32_t> communicators_;  // by handle
  std::vector<std::uint64_t> offsets_;                  // from the run's time 0 to each rank's
  std::uint64_t last_ns_ = 0, skipped_ = 0;
  bool too_many_ = false;
};

}  // namespace

base::Status import_mpic(const std::string& path, const std::string& run_directory,
                         std::vector<std::string>& notes) {
  const auto file = base::MappedFile::open(path);
  if (!file) return file.error();
  const auto contents = Parser(*file).parse();
  if (!contents) return contents.error();
  if (contents->sections.empty()) return base::Error{"'" + path + "': " + contents->damage};
  MpicImport import(*contents);
  const trace::Definitions definitions = import.definitions();
  auto writer = trace::TraceWriter::create(run_directory, definitions);
  if (!writer) return writer.error();
  for (std::size_t process = 0; process < contents->sections.size(); ++process)
    import.events(process, *writer);
  if (definitions.processes.front().clock.own)
    notes.push_back(
        "the processes' clocks were not synchronised, and .mpic files do not say by how much they "
        "differ: times of different ranks cannot be compared");
  notes.push_back(
      ".mpic files hold one time for each call; calls take no time in the imported trace, and "
      "non-blocking calls are placed where they completed");
  if (!contents->damage.empty()) notes.push_back(contents->damage);
  if (import.skipped() > 0)
    notes.push_back(std::to_string(import.skipped()) + " records of unknown types were left out");
  if (import.too_many_communicators())
    notes.push_back(
        "there are more communicators than an undamaged file has; the rest were left out");
  return writer->finish();
}

}  // namespace fathom::importers
