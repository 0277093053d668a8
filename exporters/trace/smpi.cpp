// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/smpi.h"

#include <cstdio>
#include <deque>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "exporters/common/text_file.h"
#include "trace/join/received_inside.h"

namespace fathom::exporters {
namespace {

using Label = trace::ReceivedInside::Label;
using trace::Call;
using trace::Event;
using trace::EventKind;
using trace::Message;
using trace::Place;
using trace::Request;
using trace::RequestKind;

// The lines of one rank. A line may be kept open until its text is known; later lines then wait.
class OpenLines {
 public:
  using Position = std::uint64_t;

  explicit OpenLines(TextFile& file) : file_(file) {}

  void add(std::string line) {
    lines_.push_back({std::move(line), true});
    flush();
  }
  Position keep_open() {
    lines_.push_back({"", false});
    return first_ + lines_.size() - 1;
  }
  void fill(Position position, std::string line) {
    Line& kept = lines_[position - first_];
    kept.text += line;
    kept.known = true;
    flush();
  }
  void fill_all() {
    for (Line& line : lines_) line.known = true;
    flush();
  }

 private:
  struct Line {
    std::string text;
    bool known;
  };

  void flush() {
    for (; !lines_.empty() && lines_.front().known; lines_.pop_front(), ++first_)
      file_ << lines_.front().text;
  }

  TextFile& file_;
  std::deque<Line> lines_;
  Position first_ = 0;
};

class SmpiVisitor : public trace::Visitor {
 public:
  SmpiVisitor(TextFile& file, const trace::Definitions& definitions, const TraceOptions& options,
              FlatTags& tags, std::int64_t rank)
      : options_(options),
        classes_(definitions),
        tags_(tags),
        lines_(file),
        prefix_(std::to_string(rank) + ' '),
        rank_(rank) {
    lines_.add(prefix_ + "init\n");
  }

  void finish() {
    lines_.fill_all();
    for (const Sent& sent : at_finalize_) lines_.add(wait_line(rank_, sent.to, sent.tag));
    lines_.add(prefix_ + "finalize\n");
  }

  void enter(const Place& place, const Call& call) override {
    if (call.depth > 0) return;
    Thread& thread = at(place);
    const std::uint64_t now = call.enter.time_ns;
    if (thread.began && now > thread.left_ns) {
      char text[64];
      std::snprintf(text, sizeof text, "sleep %llu.%09llu\n",
                    static_cast<unsigned long long>((now - thread.left_ns) / 1'000'000'000),
                    static_cast<unsigned long long>((now - thread.left_ns) % 1'000'000'000));
      lines_.add(prefix_ + text);
    }
    thread.began = true;
    thread.call_begin = lines_.keep_open();  // a collective's receives are posted here
    thread.in_call = true;
  }

  void leave(const Place& place, const Call& call) override {
    if (call.depth > 0) return;
    Thread& thread = at(place);
    thread.left_ns = call.leave.time_ns;
    std::vector<Label> received;
    thread.inside.end_call(received);
    wait_for(thread, received);
    thread.waits.clear();
    for (std::string& line : thread.at_end) lines_.add(std::move(line));
    thread.at_end.clear();
    thread.in_call = false;
    lines_.fill(thread.call_begin, std::exchange(thread.posted, ""));
  }

  void message(const Place& place, const Message& message) override {
    const Event& event = message.event;
    if (!options_.wants(message) || event.peer < 0) return;
    Thread& thread = at(place);
    const bool sends = event.kind == EventKind::kMessageSent;
    if (message.hidden || (!message.nonblocking && !is_alone(message))) {
      unblocking(thread, message);
    } else if (message.nonblocking && sends) {
      lines_.add(operation("isend", event));
      sends_.emplace(message.number, wait_line(event));
    } else if (message.nonblocking) {
      Pending& pending = requests_[event.request];
      if (pending.is_open) lines_.fill(pending.position, operation("irecv", event));
      pending.is_open = false;
      pending.wait = wait_line(event);
    } else {
      lines_.add(operation(sends ? "send" : "recv", event));
      thread.inside.passed(sends);
    }
  }

  void other(const Place& place, const Event& event) override {
    if (event.kind == EventKind::kTransfer) at(place).inside.step(event);
  }

  void request_started(const Place&, const Request& request) override {
    if (request.kind != RequestKind::kReceive) return;
    Pending& pending = requests_[request.number];
    if (pending.is_open) lines_.fill(pending.position, "");
    if (request.has_message) {  // it arrived before the call that posts the receive returned
      lines_.add(operation("irecv", request.message));
      pending = {0, false, wait_line(request.message)};
    } else {
      pending = {lines_.keep_open(), true, ""};
    }
  }

  void request_completed(const Place&, const Request& request, const Event&) override {
    if (const auto sent = sends_.find(request.sent); sent != sends_.end()) {
      lines_.add(sent->second);
      sends_.erase(sent);
    }
    const auto found = requests_.find(request.number);
    if (found == requests_.end()) return;
    if (found->second.is_open) lines_.fill(found->second.position, "");  // it was cancelled
    if (!found->second.wait.empty()) lines_.add(found->second.wait);
    requests_.erase(found);
  }

 private:
  struct Thread {
    bool began = false, in_call = false;
    std::uint64_t left_ns = 0;
    OpenLines::Position call_begin = 0;
    std::string posted;              // lines for the beginning of the call
    trace::ReceivedInside inside;    // labels: positions in `waits`
    std::vector<std::string> waits;  // for what was received inside the call; empty: waited for
    std::vector<std::string> at_end;
  };
  struct Sent {
    std::int32_t to;
    std::uint32_t tag;
  };
  struct Pending {
    OpenLines::Position position = 0;
    bool is_open = false;  // the line at `position` is open until its message is known
    std::string wait;      // the wait line; empty: nothing to wait for
  };

  Thread& at(const Place& place) {
    if (threads_.size() <= place.thread) threads_.resize(place.thread + 1);
    return threads_[place.thread];
  }

  // Whether a call does nothing but this; half of a sendrecv must not block the other half.
  static bool is_alone(const Message& message) {
    return message.inside && message.inside->enter.peer2 == trace::kNobody;
  }

  std::string operation(const char* name, const Event& event) {
    return prefix_ + name + ' ' + std::to_string(event.peer) + ' ' +
           std::to_string(tags_.tag_of(event.communicator, event.tag)) + ' ' +
           std::to_string(event.bytes) + '\n';
  }

  std::string wait_line(const Event& event) {
    const bool sends = event.kind == EventKind::kMessageSent;
    const std::uint32_t tag = tags_.tag_of(event.communicator, event.tag);
    return sends ? wait_line(rank_, event.peer, tag) : wait_line(event.peer, rank_, tag);
  }
  std::string wait_line(std::int64_t source, std::int64_t destination, std::uint32_t tag) const {
    return prefix_ + "wait " + std::to_string(source) + ' ' + std::to_string(destination) + ' ' +
           std::to_string(tag) + '\n';
  }

  // A message that the library sent or received, or half of a sendrecv. Waits stand where the
  // replay has them (trace/join/operations.h): for what was received before the library's next send,
  // or at the end of the call; for what was sent at its end.
  void unblocking(Thread& thread, const Message& message) {
    const Event& event = message.event;
    if (event.kind == EventKind::kMessageSent) {
      if (message.hidden) wait_for(thread, thread.inside.before_send());
      thread.inside.passed(true);
      lines_.add(operation("isend", event));
      if (message.hidden && classes_.is_nonblocking(event)) {
        // Waiting earlier might be for ever: its receive is posted in a call that may be later.
        at_finalize_.push_back({event.peer, tags_.tag_of(event.communicator, event.tag)});
      } else if (thread.in_call) {
        thread.at_end.push_back(wait_line(event));
      } else {
        lines_.add(wait_line(event));
      }
    } else if (thread.in_call) {
      thread.posted += operation("irecv", event);
      if (message.hidden) {
        thread.waits.push_back(wait_line(event));
        thread.inside.received(thread.waits.size() - 1, classes_.is_exchange(event));
      } else {
        thread.at_end.push_back(wait_line(event));
        thread.inside.passed(false);
      }
    } else {
      lines_.add(operation("irecv", event) + wait_line(event));
    }
  }

  void wait_for(Thread& thread, std::vector<Label>& labels) {
    for (const Label label : labels) lines_.add(std::move(thread.waits[label]));
    labels.clear();
  }

  const TraceOptions& options_;
  const trace::CollectiveClasses classes_;
  FlatTags& tags_;
  OpenLines lines_;
  std::string prefix_;
  std::int64_t rank_;
  std::vector<Thread> threads_;
  std::vector<Sent> at_finalize_;                         // by non-blocking collectives
  std::unordered_map<std::uint64_t, Pending> requests_;   // receives
  std::unordered_map<std::uint64_t, std::string> sends_;  // wait lines by message number
};

}  // namespace

base::Status export_smpi(const trace::Trace& trace, const TraceOptions& options,
                         const std::string& path, Notes& notes) {
  constexpr std::int64_t kMostFiles = 1 << 20;
  const trace::Definitions& all = trace.definitions();
  const std::int64_t ranks = rank_count(all);
  const auto checked = check_rank_count(ranks, kMostFiles, "smpi");
  if (!checked) return checked;
  std::error_code failed;
  const bool is_there = std::filesystem::exists(path, failed);
  if (is_there && (!options.force || !std::filesystem::exists(path + "/trace.txt", failed))) {
    return base::Error{"'" + path +
                       "' exists already; name another place, or replace it with --force"};
  }
  std::filesystem::create_directories(path, failed);
  if (failed) return base::Error{"cannot make the folder '" + path + "': " + failed.message()};
  const std::string folder = std::filesystem::absolute(path, failed).lexically_normal().string();

  FlatTags tags;
  std::vector<std::size_t> process_of(static_cast<std::size_t>(ranks), all.processes.size());
  for (std::size_t process = 0; process < all.processes.size(); ++process) {
    process_of[static_cast<std::size_t>(all.processes[process].rank)] = process;
  }
  TextFile index;
  auto done = index.open(folder + "/trace.txt", options.force);
  for (std::int64_t rank = 0; done && rank < ranks; ++rank) {
    const std::string name = folder + '/' + std::to_string(rank) + ".txt";
    TextFile file;
    done = file.open(name, true);
    if (!done) break;
    SmpiVisitor visitor(file, all, options, tags, rank);
    const std::size_t process = process_of[static_cast<std::size_t>(rank)];
    if (process < all.processes.size()) note(trace::walk_process(trace, process, visitor), notes);
    visitor.finish();
    done = file.commit();
    index << name << '\n';
  }
  if (!done) return done;
  note_loss(all, notes);
  notes.push_back(
      "SMPI's traces hold only sends, receives and pauses; one-sided transfers without messages, "
      "I/O "
      "and the names of calls are left out");
  notes.push_back("'" + path +
                  "/trace.txt' names its files by absolute path: edit it if you move the folder");
  return index.commit();
}

}  // namespace fathom::exporters
