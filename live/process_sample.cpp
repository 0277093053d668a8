// SPDX-License-Identifier: BSD-3-Clause
#include "live/process_sample.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>

#include "live/pair_table.h"
#include "profile/rows_reader.h"

namespace fathom::live {
namespace {

using profile::Direction;

// What one rank's rows say, with the sample that they came in.
struct Member {
  const ProcessSample* sample = nullptr;
  profile::ProcessRows rows;
  std::vector<std::uint64_t> communicator_ids;  // by position of the communicator row
  std::map<std::uint32_t, std::string> classes;
};

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 31) * 0x9e3779b97f4a7c15;
  return value ^ value >> 29;
}

std::uint64_t id_of(const profile::CommunicatorRow& row, std::uint32_t rank) {
  std::uint64_t id = row.ordinal_key != 0 ? row.ordinal_key : row.key;
  if ((row.flags & profile::kPerProcess) != 0) id = mixed(id ^ (rank + 1));
  return id != 0 ? id : 1;
}

std::string text_of(const char* characters, std::size_t most) {
  std::string text(characters, strnlen(characters, most));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  return text;
}

std::optional<Member> member_of(const ProcessSample& sample) {
  Member member;
  member.sample = &sample;
  const std::string file = row_file(sample.page, profile::EndReason::kFinalize, 0);
  profile::RowsReader reader(file.data(), file.size());
  if (!reader.next(member.rows)) return std::nullopt;
  const profile::RowsHeader& header = member.rows.header;
  if (header.rank >= header.world_size) return std::nullopt;
  for (const profile::CommunicatorRow& row : member.rows.communicators)
    member.communicator_ids.push_back(id_of(row, header.rank));
  // "class ID HIDDEN NAME"
  for (const auto& [key, value] : member.rows.text) {
    if (key != "class") continue;
    const std::size_t first = value.find(' '), second = value.find(' ', first + 1);
    if (first == value.npos || second == value.npos) continue;
    member.classes[static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10))] =
        value.substr(second + 1);
  }
  return member;
}

class Communicators {
 public:
  void add(const Member& member) {
    const auto rank = static_cast<std::int32_t>(member.rows.header.rank);
    for (std::size_t i = 0; i < member.rows.communicators.size(); ++i) {
      const profile::CommunicatorRow& row = member.rows.communicators[i];
      if (row.size > kMostMembers || row.remote_size > kMostMembers) continue;
      Known& known = known_[member.communicator_ids[i]];
      const bool is_intercommunicator = (row.flags & profile::kIntercommunicator) != 0;
      if (known.name.empty()) {
        known.made_by = text_of(row.made_by, sizeof row.made_by);
        known.size = row.size + row.remote_size;
      }
      const std::string name = text_of(row.name, sizeof row.name);
      if (!name.empty()) known.name = name;
      std::vector<std::int32_t>& side = known.sides[row.group_key];
      side.resize(std::max<std::size_t>(side.size(), row.size), kUnknown);
      if (row.my_rank < side.size()) side[row.my_rank] = rank;
      if (is_intercommunicator) known.remote_size = row.remote_size;
      known.is_intercommunicator = is_intercommunicator;
    }
  }

  // World rank of a rank that messages of this member on its communicator refer to.
  std::int32_t world_rank(const Member& member, std::uint32_t communicator, std::int32_t rank,
                          bool in_own_group = false) const {
    if (communicator >= member.communicator_ids.size() || rank < 0) return kUnknown;
    const auto found = known_.find(member.communicator_ids[communicator]);
    if (found == known_.end()) return kUnknown;
    const std::uint64_t own = member.rows.communicators[communicator].group_key;
    for (const auto& [key, members] : found->second.sides) {
      const bool is_own = key == own;
      if (found->second.is_intercommunicator && !in_own_group ? is_own : !is_own) continue;
      return static_cast<std::size_t>(rank) < members.size()
                 ? members[static_cast<std::size_t>(rank)]
                 : kUnknown;
    }
    return kUnknown;
  }

  std::vector<Communicator> listed() const {
    std::vector<Communicator> list;
    for (const auto& [id, known] : known_) {
      Communicator communicator{id, known.name, {}, {}};
      if (communicator.name.empty())
        communicator.name = known.made_by + " of " + std::to_string(known.size);
      bool is_first = true;
      for (const auto& [key, members] : known.sides) {
        (is_first ? communicator.members : communicator.remote) = members;
        is_first = false;
      }
      if (known.is_intercommunicator && communicator.remote.empty())
        communicator.remote.assign(known.remote_size, kUnknown);
      list.push_back(std::move(communicator));
    }
    return list;
  }

 private:
  static constexpr std::uint32_t kMostMembers = 1u << 22;

  struct Known {
    std::string name, made_by;
    std::uint32_t size = 0, remote_size = 0;
    bool is_intercommunicator = false;
    std::map<std::uint64_t, std::vector<std::int32_t>> sides;  // by hash of the group
  };
  std::map<std::uint64_t, Known> known_;
};

double ticks_per_ns(const profile::ProcessRows& rows) {
  double rate = 0;
  for (const auto& [key, value] : rows.text)
    if (key == "ticks-per-ns") rate = std::strtod(value.c_str(), nullptr);
  return rate > 0 ? rate : 1;
}

// Which of MPI's ranks and tags a number is: Open MPI's MPI_ANY_SOURCE, MPI_ANY_TAG and MPI_PROC_NULL
// are -1, -1 and -2 (ompi/include/mpi.h.in).
std::int32_t special(std::int32_t value) {
  if (value == kNoRank) return kNobody;
  return value == -1 ? kAnyone : value == -2 ? kNobody : kUnknown;
}

ThreadState thread_state_of(const Communicators& communicators, const Member& member,
                            const ThreadCopy& thread, std::uint32_t number) {
  const ProcessSample& sample = *member.sample;
  const auto id = [&](std::uint32_t communicator) -> std::uint64_t {
    return communicator < member.communicator_ids.size() ? member.communicator_ids[communicator]
                                                         : 0;
  };
  ThreadState state;
  state.thread = number;
  state.function = thread.function;
  if (number < sample.places.size()) state.place = sample.places[number];
  if (thread.since_ns != 0 && sample.clock_ns > thread.since_ns)
    state.since_s = static_cast<double>(sample.clock_ns - thread.since_ns) / 1e9;
  state.calls = thread.calls;
  state.pending_left_out = thread.pending_left_out;
  for (const PendingLine& line : thread.pending) {
    const bool is_known = line.kind <= static_cast<std::uint32_t>(RequestKind::kOther);
    state.pending.push_back(
        {is_known ? static_cast<RequestKind>(line.kind) : RequestKind::kOther,
         line.peer < 0 ? special(line.peer)
                       : communicators.world_rank(member, line.communicator, line.peer),
         line.tag < 0 ? special(line.tag) : line.tag, id(line.communicator), line.bytes});
  }
  if (thread.function.empty()) return state;
  state.communicator = id(thread.communicator);
  state.bytes = thread.bytes;
  state.root = thread.root < 0 ? special(thread.root)
                               : communicators.world_rank(member, thread.communicator, thread.root);
  state.collective = thread.collective;
  state.waits_for_all = thread.waits_for_all;
  return state;
}

void add_times(const Member& member, RankState& rank) {
  const double per_second = ticks_per_ns(member.rows) * 1e9;
  for (const profile::CallRow& row : member.rows.calls)
    rank.mpi_s += static_cast<double>(row.ticks) / per_second;
  for (const ThreadState& thread : rank.threads) {
    if (thread.function.empty()) continue;
    rank.mpi_s += thread.since_s;
    rank.waiting_s += thread.since_s;
  }
}

void add_traffic(const Member& member, RankState& rank, PairTable* pairs) {
  std::map<std::uint32_t, std::uint32_t> kinds;  // by class
  for (const profile::CellRow& row : member.rows.cells) {
    const profile::CellKey key = profile::unpack_cell_key(row.key);
    const bool is_sent = key.direction == Direction::kSent;
    if (!is_sent && key.direction != Direction::kReceived) continue;
    (is_sent ? rank.sent : rank.received) += row.messages;
    (is_sent ? rank.sent_bytes : rank.received_bytes) += row.bytes;
    if (pairs == nullptr || row.peer_job != member.rows.header.job) continue;
    const auto peer = static_cast<std::int32_t>(row.peer_rank);
    auto kind = kinds.find(key.class_id);
    if (kind == kinds.end()) {
      const auto name = member.classes.find(key.class_id);
      kind = kinds
                 .emplace(key.class_id,
                          pairs->kind(name == member.classes.end() ? "unknown" : name->second))
                 .first;
    }
    pairs->add(is_sent ? rank.rank : peer, is_sent ? peer : rank.rank, kind->second, is_sent,
               row.messages, row.bytes);
  }
}

void add_sums(const ProcessSample& sample, RankState& rank) {
  if (!sample.is_summary) return;
  rank.sent += sample.sums.sent;
  rank.sent_bytes += sample.sums.sent_bytes;
  rank.received += sample.sums.received;
  rank.received_bytes += sample.sums.received_bytes;
  rank.mpi_s += sample.sums.mpi_s;
}

RankState rank_state_of(const Communicators& communicators, const Member& member,
                        PairTable& pairs) {
  const ProcessSample& sample = *member.sample;
  const profile::RowsHeader& header = member.rows.header;
  RankState rank;
  rank.rank = static_cast<std::int32_t>(header.rank);
  rank.host = sample.host;
  rank.pid = sample.pid;
  rank.state = sample.state;
  rank.sample_age_s = sample.age_s;
  rank.samples_lost = sample.samples_lost;
  rank.processor_s = sample.processor_s;
  rank.queues = sample.queues.access;
  if (rank.queues == QueueAccess::kRead) {
    rank.unexpected = sample.queues.unexpected;
    rank.posted = sample.queues.posted;
  }
  rank.elapsed_s = std::max(0.0, (static_cast<double>(sample.taken_unix_ns) -
                                  static_cast<double>(header.started_unix_ns)) /
                                     1e9);
  for (std::size_t i = 0; i < sample.page.threads.size(); ++i) {
    if (sample.page.threads[i].calls == 0) continue;
    rank.threads.push_back(thread_state_of(communicators, member, sample.page.threads[i],
                                           static_cast<std::uint32_t>(i)));
  }
  add_times(member, rank);
  add_traffic(member, rank, &pairs);
  add_sums(sample, rank);
  for (const ChannelRow& row : sample.page.channels) {
    const std::uint32_t communicator = row.key.communicator;
    rank.channels.push_back(
        {communicators.world_rank(member, communicator, row.key.peer),
         communicator < member.communicator_ids.size() ? member.communicator_ids[communicator] : 0,
         row.key.tag, row.sent, row.sent_bytes, row.received, row.received_bytes});
  }
  rank.channels_left_out = sample.page.channels_left_out;
  // Channels that are not known must not pass for channels without messages.
  if (sample.is_summary) rank.channels_left_out = std::max<std::uint64_t>(1, rank.sent);
  return rank;
}

template <typename T>
void append_rows(std::string& sections, profile::Section kind, const std::vector<T>& rows) {
  if (rows.empty()) return;
  const profile::SectionHeader header{kind, 0, rows.size() * sizeof(T)};
  sections.append(reinterpret_cast<const char*>(&header), sizeof header);
  sections.append(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(T));
  sections.append((8 - sections.size() % 8) % 8, '\0');
}

}  // namespace

ProcessSample summary_of(const ProcessSample& sample) {
  if (sample.is_summary) return sample;
  ProcessSample summary = sample;
  summary.is_summary = true;
  summary.page.channels.clear();
  summary.page.sections.clear();
  const auto member = member_of(sample);
  if (!member) return summary;
  RankState sums;
  add_times(*member, sums);
  add_traffic(*member, sums, nullptr);
  summary.sums = {sums.sent, sums.sent_bytes, sums.received, sums.received_bytes, sums.mpi_s};
  const std::string program = "executable " + member->rows.text_of("executable") + "\n";
  append_rows(summary.page.sections, profile::Section::kText,
              std::vector<char>(program.begin(), program.end()));
  append_rows(summary.page.sections, profile::Section::kCommunicators, member->rows.communicators);
  return summary;
}

JobState job_state_of(const std::vector<ProcessSample>& samples) {
  std::vector<const ProcessSample*> all;
  all.reserve(samples.size());
  for (const ProcessSample& sample : samples) all.push_back(&sample);
  return job_state_of(all);
}

JobState job_state_of(const std::vector<const ProcessSample*>& samples) {
  std::map<std::uint32_t, Member> members;  // by rank
  for (const ProcessSample* sample : samples) {
    auto member = member_of(*sample);
    if (!member) continue;
    Member& known = members[member->rows.header.rank];
    if (known.sample == nullptr ||
        known.rows.header.started_unix_ns < member->rows.header.started_unix_ns)
      known = std::move(*member);
  }
  JobState job;
  Communicators communicators;
  for (const auto& [rank, member] : members) {
    communicators.add(member);
    job.world_size = static_cast<std::int32_t>(
        std::min<std::uint32_t>(member.rows.header.world_size, 0x7fffffff));
    if (job.program.empty()) job.program = member.rows.text_of("executable");
  }
  PairTable pairs;
  job.ranks.reserve(members.size());
  for (const auto& [rank, member] : members)
    job.ranks.push_back(rank_state_of(communicators, member, pairs));
  members.clear();
  job.pairs = pairs.take();
  job.communicators = communicators.listed();
  return job;
}

}  // namespace fathom::live
