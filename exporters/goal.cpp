#include "exporters/goal.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "exporters/text_file.h"

namespace fathom::exporters {
namespace {

using trace::Call;
using trace::Event;
using trace::EventKind;
using trace::Message;
using trace::Place;
using trace::Request;

using Label = std::uint64_t;
constexpr Label kNoLabel = 0;

class GoalVisitor : public trace::Visitor {
 public:
  GoalVisitor(TextFile& file, const TraceOptions& options) : file_(file), options_(options) {}

  void begin_rank(std::int64_t rank) {
    file_ << "rank " << rank << " {\n";
    last_label_ = kNoLabel;
    threads_.clear();
    requests_.clear();
    sends_.clear();
  }
  void end_rank() { file_ << "}\n\n"; }

  void enter(const Place& place, const Call& call) override {
    if (call.depth > 0) return;
    Thread& thread = at(place);
    if (thread.began && call.enter.time_ns > thread.left_ns) {
      const Label computed = calculate(place, call.enter.time_ns - thread.left_ns);
      require(computed, thread.point);
      thread.point = computed;
    }
    thread.began = true;
    thread.entered = thread.point;
  }

  void leave(const Place& place, const Call& call) override {
    if (call.depth > 0) return;
    Thread& thread = at(place);
    thread.left_ns = call.leave.time_ns;
    thread.joined.insert(thread.joined.end(), thread.arrived.begin(), thread.arrived.end());
    thread.arrived.clear();
    if (thread.joined.size() == 1 && thread.point == thread.entered && !thread.completed) {
      thread.point = thread.joined.front();  // requires that point itself
      thread.joined.clear();
    } else {
      join(place, thread, thread.joined);
    }
    thread.completed = false;
  }

  void message(const Place& place, const Message& message) override {
    if (!options_.wants(message) || message.event.peer < 0) return;
    Thread& thread = at(place);
    const bool sends = message.event.kind == EventKind::kMessageSent;
    if (sends && message.hidden) join(place, thread, thread.arrived);
    const Label label = transfer(place, message.event, sends);
    if (message.nonblocking && sends) {
      require(label, thread.point);
      sends_.emplace(message.number, label);
    } else if (message.nonblocking) {
      Pending& pending = requests_[message.event.request];
      require(label, pending.posted ? pending.posted : thread.entered);
      pending.operation = label;
    } else {
      require(label, sends ? thread.point : thread.entered);
      (message.hidden && !sends ? thread.arrived : thread.joined).push_back(label);
    }
  }

  void request_started(const Place& place, const Request& request) override {
    if (request.kind == trace::RequestKind::kReceive && !request.has_message) requests_[request.number].posted = at(place).point;
  }

  void request_completed(const Place& place, const Request& request, const Event&) override {
    Thread& thread = at(place);
    const auto sent = sends_.find(request.sent);
    const auto received = requests_.find(request.number);
    Label done = kNoLabel;
    if (sent != sends_.end()) {
      done = sent->second;
      sends_.erase(sent);
    } else if (received != requests_.end()) {
      done = received->second.operation;
    }
    if (received != requests_.end()) requests_.erase(received);
    if (done == kNoLabel) return;
    thread.joined.push_back(done);
    thread.completed = true;
  }

 private:
  struct Thread {
    bool began = false;
    bool completed = false;     // `joined` holds operations of earlier calls
    std::uint64_t left_ns = 0;
    Label point = kNoLabel;     // what its next operation requires: everything before
    Label entered = kNoLabel;   // the point when the current call began
    std::vector<Label> joined;  // what follows the current call requires these too
    std::vector<Label> arrived;  // received inside a collective since its last send
  };
  struct Pending {
    Label posted = kNoLabel, operation = kNoLabel;
  };

  Thread& at(const Place& place) {
    if (threads_.size() <= place.thread) threads_.resize(place.thread + 1);
    return threads_[place.thread];
  }

  void end_operation(const Place& place) {
    if (place.thread > 0) file_ << " cpu " << std::min<std::uint32_t>(place.thread, 255);
    file_ << '\n';
  }

  void require(Label label, Label earlier) {
    if (earlier != kNoLabel) file_ << 'l' << label << " requires l" << earlier << '\n';
  }

  Label calculate(const Place& place, std::uint64_t ns) {
    file_ << 'l' << ++last_label_ << ": calc " << ns;
    end_operation(place);
    return last_label_;
  }

  // Makes the point one that requires these as well.
  void join(const Place& place, Thread& thread, std::vector<Label>& labels) {
    if (labels.empty()) return;
    const Label joint = calculate(place, 0);
    require(joint, thread.point);
    for (const Label label : labels) require(joint, label);
    thread.point = joint;
    labels.clear();
  }

  Label transfer(const Place& place, const Event& event, bool sends) {
    file_ << 'l' << ++last_label_ << (sends ? ": send " : ": recv ") << std::max<std::uint64_t>(event.bytes, 1)
          << (sends ? "b to " : "b from ") << event.peer << " tag " << tags_.tag_of(event.communicator, event.tag);
    end_operation(place);
    return last_label_;
  }

  TextFile& file_;
  const TraceOptions& options_;
  FlatTags tags_;
  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, Pending> requests_;  // receives
  std::unordered_map<std::uint64_t, Label> sends_;       // by number of the message, until its request completes
  Label last_label_ = kNoLabel;
};

}  // namespace

base::Status export_goal(const trace::Trace& trace, const TraceOptions& options, const std::string& path,
                         Notes& notes) {
  const trace::Definitions& all = trace.definitions();
  const std::int64_t ranks = rank_count(all);
  const auto checked = check_rank_count(ranks, kMostListedRanks, "goal");
  if (!checked) return checked;
  std::vector<std::size_t> process_of(static_cast<std::size_t>(ranks), all.processes.size());
  for (std::size_t process = 0; process < all.processes.size(); ++process) {
    process_of[static_cast<std::size_t>(all.processes[process].rank)] = process;
  }
  TextFile file;
  const auto opened = file.open(path, options.force);
  if (!opened) return opened;
  file << "num_ranks " << ranks << "\n\n";
  GoalVisitor visitor(file, options);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    visitor.begin_rank(rank);
    const std::size_t process = process_of[static_cast<std::size_t>(rank)];
    if (process < all.processes.size()) note(trace::walk_process(trace, process, visitor), notes);
    visitor.end_rank();
  }
  note_loss(all, notes);
  notes.push_back("GOAL knows sends, receives and computation; one-sided transfers, I/O and the names of calls are left out");
  return file.commit();
}

}  // namespace fathom::exporters
