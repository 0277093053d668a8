// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/collectives/collectives_view.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "analysis/collectives/collective_algorithms.h"
#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/engine/rounds.h"
#include "base/flat_map.h"
#include "base/seconds.h"

namespace fathom::analysis {
namespace {

enum ParcelKind : char { kMember, kSent, kArrived };

struct Name {
  std::int32_t communicator = -1;
  std::uint32_t number = 0;  // of the operation in its communicator; if tagged, the library's tag
  bool tagged = false;
  std::uint64_t key() const {
    return std::uint64_t{static_cast<std::uint32_t>(communicator)} << 32 | number;
  }
};

// Arrives after all of this member's messages.
struct Member {
  Name operation;
  std::uint32_t process = 0, function = 0;
  bool root = false;
  std::uint64_t enter_ns = 0, leave_ns = 0, bytes = 0;
};
struct Sent {
  Name operation;
  std::uint32_t process = 0, step = 0, destination = 0;
  std::int32_t tag = 0;
  std::uint64_t time_ns = 0, bytes = 0;
};
struct Arrived {
  Name operation;
  std::uint32_t process = 0, source = 0, source_step = 0;
  std::uint64_t time_ns = 0;
};

struct Operation {
  std::vector<Member> members;
  std::vector<Sent> sent;
  std::vector<Arrived> arrived;
};

struct RowKey {
  std::uint32_t function = 0, size_bin = 0;
  std::int32_t communicator = 0;
  std::string algorithm;
  auto operator<=>(const RowKey&) const = default;
};
struct RowSums {
  CollectiveRow row;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> late;
};

class Opener : public Pass {
 public:
  explicit Opener(JoinedJob& job) : job_(job), parcels_(job.transport().size()) {
    for (const mpi::Meaning& meaning : job.facts().functions)
      is_one_.push_back(has_algorithms(meaning));
    std::uint64_t span_ns = 1, most = 1;
    for (const std::uint32_t process : job.own()) {
      lanes_.push_back({process, 0, {}});
      span_ns = std::max(span_ns, job.definitions().processes[process].last_ns);
      most = std::max<std::uint64_t>(most, job.steps().size(process));
    }
    constexpr std::uint64_t kStepsPerWindow = 4096;
    window_ns_ = span_ns / (most / kStepsPerWindow + 1) + 1;
  }

  std::vector<CollectiveRow> run() {
    run_passes(job_.transport(), {this});
    for (const auto& each : begun_) finish_begun(each.first, true);
    return gather();
  }

 private:
  struct Part {
    std::uint32_t call = 0, step = 0;
    Name operation;
    bool blocks = false, is_one = false;
  };
  struct Lane {
    std::uint32_t process = 0, at = 0;
    std::vector<Part> open;  // active
  };

  Parcels& parcels() override { return parcels_; }
  Stall work() override {
    window_end_ns_ += window_ns_;
    Stall stall;
    for (Lane& lane : lanes_) {
      const std::uint32_t size = job_.steps().size(lane.process);
      for (; lane.at < size; ++lane.at) {
        const Step& step = job_.steps().at(lane.process, lane.at);
        if (step.time_ns >= window_end_ns_) break;
        if (lane.at % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
        take(lane, lane.at, step);
      }
      if (lane.at == size) close(lane, ~std::uint64_t{0});
      stall.more = stall.more || lane.at < size;
    }
    return stall;
  }

  void take(Lane& lane, std::uint32_t number, const Step& step) {
    switch (step.kind) {
      case StepKind::kCall: return close(lane, step.time_ns);
      case StepKind::kCollective: return begin(lane, number, step);
      case StepKind::kDone: return complete(lane, step);
      case StepKind::kSend:
      case StepKind::kReceive:
        if (step.has(kHidden) && step.has(kJoined)) message(lane, number, step);
        return;
      default: return;
    }
  }

  void begin(Lane& lane, std::uint32_t number, const Step& step) {
    const std::uint32_t function = job_.steps().at(lane.process, step.call).number;
    const mpi::Group group = job_.facts().functions[function].group;
    if (!step.has(kJoined) || step.object != 0 ||
        (group != mpi::Group::kCollective && group != mpi::Group::kCommunicator))
      return;
    const Name operation{step.communicator, step.number};
    lane.open.push_back({step.call, number, operation, blocks(function), is_one(function)});
    // The owner of the first member owns the operation.
    if (!blocks(function) && lane.process == members(operation).front())
      begun_[operation.communicator].push_back(operation);
  }
  // False if it consists of several collectives: MPI_Comm_dup, MPI_Comm_idup.
  bool is_one(std::uint32_t function) const { return is_one_[function]; }
  bool blocks(std::uint32_t function) const {
    return job_.facts().functions[function].requests == Requests::kNone;
  }

  // A call made of several collectives (MPI_Comm_dup) may use non-blocking ones of the library's.
  void message(Lane& lane, std::uint32_t number, const Step& step) {
    const auto tag = static_cast<std::int32_t>(step.number);
    const auto part = std::find_if(lane.open.begin(), lane.open.end(), [&](const Part& one) {
      return one.blocks && one.call == step.call;
    });
    const bool known = step.communicator >= 0 && !members({step.communicator}).empty();
    const bool tagged =
        known && is_non_blocking_tag(tag) && (part == lane.open.end() || part->is_one);
    if (!tagged && part == lane.open.end()) return;
    const Name operation = tagged ? Name{step.communicator, step.number, true} : part->operation;
    if (step.kind == StepKind::kSend) {
      tell(kSent,
           Sent{operation, lane.process, number, step.partner, tag, step.time_ns, step.bytes});
    } else {
      tell(kArrived,
           Arrived{operation, lane.process, step.partner, step.partner_step, step.time_ns});
    }
  }

  // A call left by now has all its messages, unless a request continues.
  void close(Lane& lane, std::uint64_t time_ns) {
    std::erase_if(lane.open, [&](const Part& part) {
      const std::uint64_t left_ns = job_.steps().at(lane.process, part.call).end_ns;
      if (job_.steps().at(lane.process, part.step).has(kByRequest) || left_ns > time_ns)
        return false;
      tell_member(lane.process, part, left_ns);
      return true;
    });
  }
  void complete(Lane& lane, const Step& done) {
    const auto part = std::find_if(lane.open.begin(), lane.open.end(),
                                   [&](const Part& one) { return one.step == done.partner_step; });
    if (part == lane.open.end()) return;
    tell_member(lane.process, *part, done.time_ns);
    lane.open.erase(part);
  }
  void tell_member(std::uint32_t process, const Part& part, std::uint64_t left_ns) {
    const Step& call = job_.steps().at(process, part.call);
    const Step& step = job_.steps().at(process, part.step);
    const Flow flow = job_.facts().functions[call.number].flow;
    const bool root = !step.has(kBystander) &&
                      (flow == Flow::kFromRoot ? step.partner == kNobody
                                               : flow == Flow::kToRoot && step.partner != kNobody);
    tell(kMember,
         Member{part.operation, process, call.number, root, call.time_ns, left_ns, call.bytes});
  }

  template <typename Parcel>
  void tell(ParcelKind kind, const Parcel& parcel) {
    const std::uint32_t owner = job_.mapping()[members(parcel.operation).front()];
    if (owner == job_.transport().rank()) return hear(parcel);
    parcels_.send(owner, kind, parcel);
  }
  void open(Received& received) override {
    while (received.more()) {
      switch (received.kind()) {
        case kMember: hear(received.take<Member>()); break;
        case kSent: hear(received.take<Sent>()); break;
        default: hear(received.take<Arrived>());
      }
    }
  }
  void hear(const Sent& sent) { under_way(sent.operation).sent.push_back(sent); }
  void hear(const Arrived& arrived) { under_way(arrived.operation).arrived.push_back(arrived); }
  Operation& under_way(const Name& name) {
    return name.tagged ? tagged_[{name.communicator, -static_cast<std::int32_t>(name.number)}]
                       : operations_[name.key()];
  }
  void hear(const Member& member) {
    Operation& operation = operations_[member.operation.key()];
    operation.members.push_back(member);
    if (operation.members.size() < members(member.operation).size()) return;
    if (!blocks(member.function)) return finish_begun(member.operation.communicator, false);
    finish(operation);
    operations_.erase(member.operation.key());
  }

  // Finishes non-blocking operations in call order, because the order decides which tag is whose.
  // At the end this includes those after one that was never completed.
  void finish_begun(std::int32_t communicator, bool at_end) {
    auto& queue = begun_[communicator];
    for (; !queue.empty(); queue.pop_front()) {
      Operation* operation = operations_.find(queue.front().key());
      const bool complete =
          operation != nullptr && operation->members.size() == members(queue.front()).size();
      if (!complete && !at_end) return;
      if (!complete) continue;
      take_messages(*operation, communicator);
      finish(*operation);
      operations_.erase(queue.front().key());
    }
  }

  // Takes the first tag whose messages all lie between the call and its completion at every member.
  // A call made of several collectives takes every consecutive tag that fits and carries one int.
  // Tags skipped before belong to the library itself.
  void take_messages(Operation& operation, std::int32_t communicator) {
    const bool one = is_one(operation.members.front().function);
    const auto first = tagged_.lower_bound({communicator, 0});
    auto taken = first;  // one past the last tag taken
    for (auto each = first; each != tagged_.end() && each->first.first == communicator; ++each) {
      if (!fits(each->second, operation) || (!one && !agrees_on_number(each->second))) {
        if (taken != first) break;
        continue;
      }
      append(each->second.sent, operation.sent);
      append(each->second.arrived, operation.arrived);
      taken = std::next(each);
      if (one) break;
    }
    tagged_.erase(first, taken);
  }
  static bool agrees_on_number(const Operation& tagged) {
    return std::all_of(tagged.sent.begin(), tagged.sent.end(),
                       [](const Sent& sent) { return sent.bytes == sizeof(int); });
  }
  template <typename Message>
  static void append(const std::vector<Message>& from, std::vector<Message>& to) {
    to.insert(to.end(), from.begin(), from.end());
  }
  static bool fits(const Operation& tagged, const Operation& operation) {
    std::map<std::uint32_t, const Member*> member;
    for (const Member& one : operation.members) member[one.process] = &one;
    return !tagged.sent.empty() &&
           std::all_of(tagged.sent.begin(), tagged.sent.end(), [&](const Sent& sent) {
             const auto from = member.find(sent.process);
             return from != member.end() && sent.time_ns >= from->second->enter_ns &&
                    sent.time_ns <= from->second->leave_ns;
           });
  }

  const std::vector<std::uint32_t>& members(const Name& operation) const {
    return job_.facts().members[static_cast<std::size_t>(operation.communicator)];
  }

  void finish(Operation& operation) {
    const Member& any = operation.members.front();
    const auto& order = members(any.operation);
    std::map<std::uint32_t, std::uint32_t> rank_of;
    for (std::size_t i = 0; i < order.size(); ++i)
      rank_of[order[i]] = static_cast<std::uint32_t>(i);
    std::sort(operation.sent.begin(), operation.sent.end(), [](const Sent& a, const Sent& b) {
      return std::tie(a.process, a.step) < std::tie(b.process, b.step);
    });
    std::vector<CollectiveMessage> messages;
    std::uint64_t bytes = 0;
    const bool tags_tell = !is_one(any.function);
    for (const Sent& sent : operation.sent) {
      const auto destination = rank_of.find(sent.destination);
      if (destination == rank_of.end()) continue;
      messages.push_back({rank_of[sent.process], destination->second, sent.bytes,
                          sent.operation.tagged && !tags_tell ? 0 : sent.tag});
      bytes += sent.bytes;
    }
    std::uint64_t first_ns = ~std::uint64_t{0}, last_ns = 0, left_ns = 0, given = 0;
    std::uint32_t root = 0;
    for (const Member& member : operation.members) {
      first_ns = std::min(first_ns, member.enter_ns);
      last_ns = std::max(last_ns, member.enter_ns);
      left_ns = std::max(left_ns, member.leave_ns);
      given = std::max(given, member.bytes);
      if (member.root) root = rank_of[member.process];
    }
    const RecognisedAlgorithm& algorithm =
        recognised(any.function, static_cast<std::uint32_t>(order.size()), root, messages);
    RowSums& sums = rows_[{any.function, static_cast<std::uint32_t>(std::bit_width(given)),
                           any.operation.communicator, algorithm.name}];
    CollectiveRow& row = sums.row;
    row.rounds = std::max(row.rounds, algorithm.rounds);
    row.segments = std::max(row.segments, algorithm.segments);
    ++row.count;
    row.messages += messages.size();
    row.bytes += bytes;
    const std::uint64_t inside_ns = left_ns > last_ns ? left_ns - last_ns : 0;
    row.inside_ns += inside_ns;
    row.most_inside_ns = std::max(row.most_inside_ns, inside_ns);
    row.spread_ns += last_ns - first_ns;
    if (const auto edge = late_edge(operation); edge.first != kNobody) ++sums.late[edge];
  }

  // Programs repeat themselves: the last result for a function is likely to apply again.
  const RecognisedAlgorithm& recognised(std::uint32_t function, std::uint32_t size,
                                        std::uint32_t root,
                                        const std::vector<CollectiveMessage>& messages) {
    Last& last = last_[function];
    const auto same = [](const CollectiveMessage& a, const CollectiveMessage& b) {
      return a.source == b.source && a.destination == b.destination && a.bytes == b.bytes &&
             a.tag == b.tag;
    };
    const bool again = last.size == size && last.root == root &&
                       last.messages.size() == messages.size() &&
                       std::equal(messages.begin(), messages.end(), last.messages.begin(), same);
    if (!again)
      last = {size, root, messages,
              recognise(job_.definitions().functions[function].name, size, root, messages)};
    return last.algorithm;
  }

  std::pair<std::uint32_t, std::uint32_t> late_edge(const Operation& operation) const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, const Sent*> sent;
    for (const Sent& one : operation.sent) sent[{one.process, one.step}] = &one;
    std::map<std::uint32_t, const Member*> member;
    for (const Member& one : operation.members) member[one.process] = &one;
    const Member* last = &operation.members.front();
    for (const Member& one : operation.members) {
      if (std::tie(one.leave_ns, last->process) > std::tie(last->leave_ns, one.process))
        last = &one;
    }
    std::pair<std::uint32_t, std::uint32_t> edge{kNobody, kNobody};
    std::uint64_t now_ns = last->leave_ns;
    for (std::size_t hops = 0; hops <= operation.sent.size(); ++hops) {
      const Arrived* waited = nullptr;
      for (const Arrived& one : operation.arrived) {
        if (one.process != last->process || one.time_ns > now_ns || one.time_ns <= last->enter_ns)
          continue;
        const bool later =
            !waited || std::tie(one.time_ns, one.source, one.source_step) >
                           std::tie(waited->time_ns, waited->source, waited->source_step);
        if (later) waited = &one;
      }
      const auto from = waited ? sent.find({waited->source, waited->source_step}) : sent.end();
      if (from == sent.end() || !member.contains(waited->source)) return edge;
      if (from->second->time_ns <= last->enter_ns)
        return edge;  // it was already there: this process itself came late
      edge = {waited->source, waited->process};
      last = member[waited->source];
      if (from->second->time_ns >= now_ns) return edge;  // contradictory clocks
      now_ns = from->second->time_ns;
    }
    return edge;
  }

  std::vector<CollectiveRow> gather() {
    std::vector<CollectiveRow> own;
    for (auto& [key, sums] : rows_) {
      CollectiveRow row = sums.row;
      row.function = key.function;
      row.communicator = key.communicator;
      row.size_bin = key.size_bin;
      std::strncpy(row.algorithm, key.algorithm.c_str(), sizeof row.algorithm - 1);
      for (const auto& [edge, count] : sums.late) {
        if (count > row.late_count)
          std::tie(row.late_source, row.late_destination, row.late_count) =
              std::tie(edge.first, edge.second, count);
      }
      own.push_back(row);
    }
    auto all = gathered(job_.transport(), own);
    std::sort(all.begin(), all.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
      return std::make_tuple(a.communicator, a.function, a.size_bin,
                             std::string_view(a.algorithm)) <
             std::make_tuple(b.communicator, b.function, b.size_bin, std::string_view(b.algorithm));
    });
    return all;
  }

  struct Last {
    std::uint32_t size = 0, root = 0;
    std::vector<CollectiveMessage> messages;
    RecognisedAlgorithm algorithm;
  };

  JoinedJob& job_;
  Parcels parcels_;
  std::vector<Lane> lanes_;
  std::vector<bool> is_one_;  // by function
  std::uint64_t window_ns_ = 1, window_end_ns_ = 0;
  base::FlatMap<std::uint64_t, Operation> operations_;
  std::map<std::int32_t, std::deque<Name>> begun_;  // by communicator: active non-blocking
                                                    // operations
  // Messages of non-blocking operations by communicator and -tag, which is call order.
  std::map<std::pair<std::int32_t, std::int32_t>, Operation> tagged_;
  std::map<RowKey, RowSums> rows_;
  std::map<std::uint32_t, Last> last_;  // by function
};

void lay_out(const std::vector<CollectiveRow>& rows, const trace::Definitions& definitions,
             Section& section) {
  const auto rank = [&](std::uint32_t process) {
    return process == kNobody ? std::int64_t{-1} : definitions.processes[process].rank;
  };
  std::uint64_t count = 0, messages = 0;
  for (const CollectiveRow& row : rows) count += row.count, messages += row.messages;
  section.figure("operations", count);
  section.figure("messages", messages);
  Table& table = section.table("algorithms");
  add_column(table, "name", rows,
             [&](const CollectiveRow& row) { return definitions.functions[row.function].name; });
  add_column(table, "communicator", rows,
             [](const CollectiveRow& row) { return std::int64_t{row.communicator}; });
  add_column(table, "bytes_below", rows, [](const CollectiveRow& row) {
    return std::uint64_t{1} << std::min(row.size_bin, 63u);
  });
  add_column(table, "algorithm", rows,
             [](const CollectiveRow& row) { return std::string(row.algorithm); });
  add_column(table, "rounds", rows,
             [](const CollectiveRow& row) { return std::int64_t{row.rounds}; });
  add_column(table, "segments", rows,
             [](const CollectiveRow& row) { return std::int64_t{row.segments}; });
  add_column(table, "count", rows, [](const CollectiveRow& row) { return row.count; });
  add_column(table, "messages", rows, [](const CollectiveRow& row) { return row.messages; });
  add_column(table, "bytes", rows, [](const CollectiveRow& row) { return row.bytes; });
  add_column(table, "mean_inside_seconds", rows, [](const CollectiveRow& row) {
    return base::seconds(row.inside_ns) / static_cast<double>(row.count);
  });
  add_column(table, "most_inside_seconds", rows,
             [](const CollectiveRow& row) { return base::seconds(row.most_inside_ns); });
  add_column(table, "mean_spread_seconds", rows, [](const CollectiveRow& row) {
    return base::seconds(row.spread_ns) / static_cast<double>(row.count);
  });
  add_column(table, "late_source", rows,
             [&](const CollectiveRow& row) { return rank(row.late_source); });
  add_column(table, "late_destination", rows,
             [&](const CollectiveRow& row) { return rank(row.late_destination); });
  add_column(table, "late_count", rows, [](const CollectiveRow& row) { return row.late_count; });
}

}  // namespace

std::vector<CollectiveRow> open_collectives(JoinedJob& job) { return Opener(job).run(); }

base::Result<Outcome> collectives(const Input& input) {
  auto joined = input.job->joined_with_hidden();
  if (!joined) return joined.error();
  JoinedJob& job = **joined;
  const std::vector<CollectiveRow> rows = open_collectives(job);
  Outcome outcome;
  if (job.transport().rank() != 0) return outcome;
  lay_out(rows, job.definitions(), outcome.section);
  if (!input.scope.whole_time() || input.scope.ranks || input.scope.phases) {
    outcome.limits.push_back(
        "collectives: the tables cover the whole job, not only the chosen part");
  }
  std::uint64_t opened = 0;
  for (const CollectiveRow& row : rows) opened += row.messages;
  if (opened == 0 && !rows.empty())
    outcome.limits.push_back(
        "collectives: the trace holds none of their messages, so their algorithms are not known");
  return outcome;
}

}  // namespace fathom::analysis
