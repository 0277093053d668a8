// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/paraver.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <string>
#include <utility>

#include "exporters/common/text_file.h"
#include "exporters/trace/sorted_lines.h"
#include "trace/meanings.h"

namespace fathom::exporters {
namespace {

using mpi::FunctionId;
using mpi::Group;
using trace::Call;
using trace::Place;

// Extrae's numbers (its mpi_prv_events.h), because Paraver's configurations select by them. Other
// functions are numbered from 1000.
constexpr std::pair<FunctionId, int> kExtraeValues[] = {
    {FunctionId::kSend, 1},       {FunctionId::kRecv, 2},       {FunctionId::kIsend, 3},
    {FunctionId::kIrecv, 4},      {FunctionId::kWait, 5},       {FunctionId::kWaitall, 6},
    {FunctionId::kBcast, 7},      {FunctionId::kBarrier, 8},    {FunctionId::kReduce, 9},
    {FunctionId::kAllreduce, 10}, {FunctionId::kAlltoall, 11},  {FunctionId::kAlltoallv, 12},
    {FunctionId::kGather, 13},    {FunctionId::kGatherv, 14},   {FunctionId::kScatter, 15},
    {FunctionId::kScatterv, 16},  {FunctionId::kAllgather, 17}, {FunctionId::kAllgatherv, 18},
    {FunctionId::kCommRank, 19},  {FunctionId::kCommSize, 20},  {FunctionId::kInit, 31},
    {FunctionId::kFinalize, 32},  {FunctionId::kBsend, 33},     {FunctionId::kSsend, 34},
    {FunctionId::kRsend, 35},     {FunctionId::kIbsend, 36},    {FunctionId::kIssend, 37},
    {FunctionId::kIrsend, 38},    {FunctionId::kTest, 39},      {FunctionId::kCancel, 40},
    {FunctionId::kSendrecv, 41},  {FunctionId::kWaitany, 59},   {FunctionId::kWaitsome, 60},
    {FunctionId::kProbe, 61},     {FunctionId::kIprobe, 62}};
constexpr int kFirstOwnValue = 1000;

struct State {
  int number;
  const char* name;
};
constexpr State kStates[] = {{0, "Idle"},
                             {1, "Running"},
                             {2, "Not created"},
                             {3, "Waiting a message"},
                             {4, "Blocking Send"},
                             {5, "Synchronization"},
                             {6, "Test/Probe"},
                             {8, "Wait/WaitAll"},
                             {10, "Immediate Send"},
                             {11, "Immediate Receive"},
                             {12, "I/O"},
                             {13, "Group Communication"},
                             {15, "Others"},
                             {17, "Send Receive"},
                             {18, "Memory transfer"}};

struct Type {
  int number;
  const char* name;
};
constexpr Type kTypes[] = {{50000001, "MPI Point-to-point"},
                           {50000002, "MPI Collective Comm"},
                           {50000003, "MPI Other"},
                           {50000004, "MPI One-sided"},
                           {50000005, "MPI I/O"}};

int type_of(Group group) {
  switch (group) {
    case Group::kSend:
    case Group::kReceive:
    case Group::kSendReceive:
    case Group::kCompletion:
    case Group::kProbe: return 50000001;
    case Group::kCollective: return 50000002;
    case Group::kOneSided: return 50000004;
    case Group::kIo: return 50000005;
    default: return 50000003;
  }
}

int state_of(const mpi::Meaning& meaning) {
  switch (meaning.group) {
    case Group::kSend: return meaning.nonblocking() ? 10 : 4;
    case Group::kReceive: return meaning.nonblocking() ? 11 : 3;
    case Group::kSendReceive: return 17;
    case Group::kCompletion: return meaning.tests() ? 6 : 8;
    case Group::kProbe: return 6;
    case Group::kCollective: return meaning.collective == mpi::Collective::kBarrier ? 5 : 13;
    case Group::kOneSided: return 18;
    case Group::kIo: return 12;
    default: return 15;
  }
}

// The place of a rank among the nodes: processors are numbered node by node, one for each rank.
struct Seat {
  std::size_t node = 0, cpu = 0;  // from 1
  std::size_t threads = 1;
};

class Layout {
 public:
  explicit Layout(const trace::Definitions& definitions)
      : seats_(static_cast<std::size_t>(rank_count(definitions))) {
    std::vector<std::string> hosts(seats_.size(), profile::shown_host(""));
    for (const trace::Process& process : definitions.processes) {
      const auto rank = static_cast<std::size_t>(process.rank);
      if (!process.host.empty()) hosts[rank] = process.host;
      seats_[rank].threads = std::max<std::size_t>(1, process.threads.size());
    }
    std::map<std::string, std::size_t> numbers;
    for (const std::string& host : hosts) {
      if (numbers.try_emplace(host, nodes_.size()).second) nodes_.push_back({host, 0});
    }
    for (std::size_t rank = 0; rank < seats_.size(); ++rank)
      seats_[rank].node = numbers[hosts[rank]] + 1;
    std::size_t cpu = 0;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      for (Seat& seat : seats_) {
        if (seat.node != node + 1) continue;
        seat.cpu = ++cpu;
        ++nodes_[node].second;
      }
    }
  }

  const std::vector<Seat>& seats() const { return seats_; }
  const std::vector<std::pair<std::string, std::size_t>>& nodes() const {
    return nodes_;
  }  // host, ranks

  void saw(std::int32_t rank, std::uint32_t thread) {
    Seat& seat = seats_[static_cast<std::size_t>(rank)];
    seat.threads = std::max<std::size_t>(seat.threads, thread + 1);
  }

  // "cpu:1:task:thread", as in records.
  std::string object(std::int32_t rank, std::uint32_t thread) const {
    const auto position = static_cast<std::size_t>(rank);
    const std::size_t cpu = position < seats_.size() ? seats_[position].cpu : 0;
    return std::to_string(cpu) + ":1:" + std::to_string(rank + 1) + ':' +
           std::to_string(thread + 1);
  }

 private:
  std::vector<Seat> seats_;
  std::vector<std::pair<std::string, std::size_t>> nodes_;
};

class ParaverVisitor : public trace::Visitor {
 public:
  ParaverVisitor(const trace::Definitions& definitions, const TraceOptions& options)
      : all_(definitions),
        meanings_(trace::meanings(definitions)),
        options_(options),
        layout_(definitions) {
    int own = kFirstOwnValue;
    for (const trace::Function& function : all_.functions) {
      int value = 0;
      const auto id = mpi::find(function.name);
      for (const auto& [known, number] : kExtraeValues) {
        if (id == known) value = number;
      }
      values_.push_back(value ? value : own++);
    }
  }

  void enter(const Place& place, const Call& call) override {
    const std::uint64_t time = call.enter.time_ns;
    running(place, time);
    if (call.enter.function < values_.size())
      happens(place, time, call.enter.function, values_[call.enter.function]);
  }

  void leave(const Place& place, const Call& call) override {
    const std::uint64_t time = call.leave.time_ns;
    last_ns_ = std::max(last_ns_, time);
    if (call.enter.function < values_.size()) {
      happens(place, time, call.enter.function, 0);
      if (call.depth == 0)
        state(place, call.enter.time_ns, time, state_of(meanings_[call.enter.function]));
    }
    since_[{place.rank, place.thread}] = time;
  }

  void transfer(const trace::Transfer& transfer) override {
    const bool hidden = is_hidden(all_, transfer.sent.message_class);
    if (hidden ? !options_.hidden : !options_.user) return;
    const auto text = [](std::uint64_t number) { return std::to_string(number); };
    const trace::MessageEnd &from = transfer.sent, &to = transfer.received;
    std::string line = "3:" + layout_.object(transfer.key.source, from.thread) + ':' +
                       text(from.posted_ns) + ':' + text(from.time_ns) + ':' +
                       layout_.object(transfer.key.destination, to.thread) + ':' +
                       text(to.posted_ns) + ':' + text(to.time_ns) + ':' + text(from.bytes) + ':' +
                       std::to_string(transfer.key.tag) + '\n';
    lines_.add(from.posted_ns, line);
  }

  base::Status write(const std::string& path, bool force) {
    TextFile file;
    auto done = file.open(path, force);
    if (!done) return done;
    header(file);
    done = lines_.write(file);
    if (!done) return done;
    return file.commit();
  }

  base::Status write_names(const std::string& path) const {
    TextFile file;
    const auto opened = file.open(path, true);
    if (!opened) return opened;
    file
        << "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\nSTATES\n";
    for (const State& state : kStates) file << state.number << "    " << state.name << '\n';
    for (const Type& type : kTypes) {
      file << "\nEVENT_TYPE\n9    " << type.number << "    " << type.name << "\nVALUES\n0    End\n";
      for (std::size_t function = 0; function < values_.size(); ++function) {
        if (type_of(all_.functions[function].group) != type.number) continue;
        file << values_[function] << "    " << all_.functions[function].name << '\n';
      }
    }
    return file.commit();
  }

  base::Status write_labels(const std::string& path) const {
    TextFile file;
    const auto opened = file.open(path, true);
    if (!opened) return opened;
    const auto& seats = layout_.seats();
    file << "LEVEL CPU SIZE " << seats.size() << '\n';
    for (std::size_t node = 0; node < layout_.nodes().size(); ++node) {
      for (std::size_t rank = 0; rank < seats.size(); ++rank) {
        if (seats[rank].node == node + 1)
          file << "rank " << rank << " on " << layout_.nodes()[node].first << '\n';
      }
    }
    file << "\nLEVEL NODE SIZE " << layout_.nodes().size() << '\n';
    for (const auto& [host, ranks] : layout_.nodes()) file << host << '\n';
    std::size_t threads = 0;
    for (const Seat& seat : seats) threads += seat.threads;
    file << "\nLEVEL THREAD SIZE " << threads << '\n';
    for (std::size_t rank = 0; rank < seats.size(); ++rank) {
      for (std::size_t thread = 0; thread < seats[rank].threads; ++thread) {
        file << "rank " << rank
             << (seats[rank].threads > 1 ? " thread " + std::to_string(thread) : "") << '\n';
      }
    }
    return file.commit();
  }

 private:
  void state(const Place& place, std::uint64_t from, std::uint64_t to, int state) {
    if (from >= to) return;
    lines_.add(from, "1:" + layout_.object(place.rank, place.thread) + ':' + std::to_string(from) +
                         ':' + std::to_string(to) + ':' + std::to_string(state) + '\n');
  }

  // Records the time between two calls.
  void running(const Place& place, std::uint64_t until) {
    layout_.saw(place.rank, place.thread);
    const auto since = since_.find({place.rank, place.thread});
    if (since != since_.end() && since->second != kInCall) state(place, since->second, until, 1);
    since_[{place.rank, place.thread}] = kInCall;
  }

  void happens(const Place& place, std::uint64_t time, std::uint32_t function, int value) {
    lines_.add(time, "2:" + layout_.object(place.rank, place.thread) + ':' + std::to_string(time) +
                         ':' + std::to_string(type_of(all_.functions[function].group)) + ':' +
                         std::to_string(value) + '\n');
  }

  void header(TextFile& file) const {
    const auto started = static_cast<std::time_t>(all_.epoch_unix_ns / 1'000'000'000);
    std::tm utc{};
    ::gmtime_r(&started, &utc);
    char date[32];
    std::strftime(date, sizeof date, "%d/%m/%Y at %H:%M", &utc);
    file << "#Paraver (" << std::string_view(date) << "):" << last_ns_
         << "_ns:" << layout_.nodes().size() << '(';
    const char* separator = "";
    for (const auto& [host, ranks] : layout_.nodes()) {
      file << std::string_view(separator) << ranks;
      separator = ",";
    }
    file << "):1:" << layout_.seats().size() << '(';
    separator = "";
    for (const Seat& seat : layout_.seats()) {
      file << std::string_view(separator) << seat.threads << ':' << seat.node;
      separator = ",";
    }
    file << ')';
    if (!all_.communicators.empty()) file << ',' << all_.communicators.size();
    file << '\n';
    for (std::size_t self = 0; self < all_.communicators.size(); ++self) {
      const auto& members = all_.communicators[self].world_ranks;
      file << "c:1:" << self + 1 << ':' << members.size();
      for (const std::int64_t rank : members) file << ':' << rank + 1;
      file << '\n';
    }
  }

  static constexpr std::uint64_t kInCall = ~std::uint64_t{0};

  const trace::Definitions& all_;
  const std::vector<mpi::Meaning> meanings_;
  const TraceOptions& options_;
  Layout layout_;
  SortedLines lines_;
  std::vector<int> values_;  // by function
  std::map<std::pair<std::int32_t, std::uint32_t>, std::uint64_t>
      since_;  // end of the thread's last call
  std::uint64_t last_ns_ = 0;
};

std::string beside(const std::string& path, const char* extension) {
  const std::string base = path.ends_with(".prv") ? path.substr(0, path.size() - 4) : path;
  return base + extension;
}

}  // namespace

base::Status export_paraver(const trace::Trace& trace, const TraceOptions& options,
                            const std::string& path, Notes& notes) {
  const auto ranks = check_rank_count(rank_count(trace.definitions()), kMostListedRanks, "paraver");
  if (!ranks) return ranks;
  ParaverVisitor visitor(trace.definitions(), options);
  walk_job(trace, visitor, notes);
  notes.push_back(
      "Paraver's format has no place for requests, roots and lengths of calls; calls, states and "
      "messages are written");
  auto written = visitor.write(path, options.force);
  if (written) written = visitor.write_names(beside(path, ".pcf"));
  if (written) written = visitor.write_labels(beside(path, ".row"));
  return written;
}

}  // namespace fathom::exporters
