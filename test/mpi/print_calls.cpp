// SPDX-License-Identifier: BSD-3-Clause
// Prints the calls of one rank as a trace holds them, one line an event, for tests that compare:
//   enter MPI_Isend comm=0 peer=1 tag=5 bytes=4000 in exchange
//   completed r1
//   leave MPI_Isend request=r1
// Requests, windows and files are numbered in the order in which they appear (a request's handle
// anew after it completed or was freed); "in" names the function of the program that made the call.
// Messages and transfers are left out.
//
// With `sums`: the program's calls that are not inside another, added up, one line for each
// function, place, communicator and phase; FILE+ADDRESS is where the call stands in the code.
//   MPI_Isend FILE+ADDRESS COMMUNICATOR PHASE CALLS NANOSECONDS LONGEST BYTES
//
// usage: print_calls RUN RANK [sums]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "trace/code/code_sites.h"
#include "trace/reader.h"

namespace {

using namespace fathom::trace;

class Names {
 public:
  explicit Names(char kind) : kind_(kind) {}
  std::string of(std::uint64_t handle) {
    if (handle == 0) return "none";
    const auto [at, is_new] = known_.try_emplace(handle, next_);
    next_ += is_new ? 1 : 0;
    return kind_ + std::to_string(at->second);
  }
  void forget(std::uint64_t handle) { known_.erase(handle); }

 private:
  char kind_;
  std::size_t next_ = 1;
  std::map<std::uint64_t, std::size_t> known_;
};

std::string rank_text(std::int32_t rank) {
  return rank == kAnySource     ? "any"
         : rank == kNullProcess ? "null"
         : rank == kNobody      ? "?"
                                : std::to_string(rank);
}

class Printer {
 public:
  Printer(const Definitions& definitions, const Process& process)
      : definitions_(definitions), sites_(process.code) {}

  void print(const Event& event) {
    if (event.kind == EventKind::kRequestCompleted) {
      std::printf("completed %s%s\n", requests_.of(event.request).c_str(),
                  event.flag == 1 ? " cancelled" : "");
      if (!persistent_.contains(event.request)) requests_.forget(event.request);
      return;
    }
    if (event.kind != EventKind::kEnter && event.kind != EventKind::kLeave) return;
    const bool enters = event.kind == EventKind::kEnter;
    const Function& function = definitions_.functions[event.function];
    std::printf("%s %s", enters ? "enter" : "leave", function.name.c_str());
    for (const Attribute attribute : enters ? function.enter : function.leave)
      print(attribute, event);
    if (!enters && event.code != 0) std::printf(" error=%u", event.code);
    if (enters && event.site != 0) {
      const std::string& caller = sites_.of_call(event.site).function;
      std::printf(" in %s",
                  caller.substr(0, caller.find('.')).c_str());  // without the compiler's own number
    }
    std::printf("\n");
    if (!enters && function.name.ends_with("_init")) persistent_.insert(event.request);
    if (enters && function.name == "MPI_Request_free") {
      persistent_.erase(event.request);
      requests_.forget(event.request);
    }
  }

 private:
  void print(Attribute attribute, const Event& e) {
    switch (attribute) {
      case Attribute::kCommunicator: return put("comm", std::to_string(e.communicator));
      case Attribute::kPeer: return put("peer", rank_text(e.peer));
      case Attribute::kTag: return put("tag", std::to_string(e.tag));
      case Attribute::kBytes: return put("bytes", std::to_string(e.bytes));
      case Attribute::kRoot: return put("root", std::to_string(e.root));
      case Attribute::kPeer2: return put("peer2", rank_text(e.peer2));
      case Attribute::kTag2: return put("tag2", std::to_string(e.tag2));
      case Attribute::kBytes2: return put("bytes2", std::to_string(e.bytes2));
      case Attribute::kCount: return put("count", std::to_string(e.count));
      case Attribute::kNewCommunicator:
        return put("newcomm", e.new_communicator == kNobody ? "none" : "made");
      case Attribute::kFlag: return put("flag", std::to_string(e.flag));
      case Attribute::kLock: return put("lock", std::to_string(e.code));
      case Attribute::kCompleted: return put("completed", std::to_string(e.count));
      case Attribute::kRequest: return put("request", requests_.of(e.request));
      case Attribute::kWindow: return put("win", windows_.of(e.object));
      case Attribute::kFile: return put("file", files_.of(e.object));
      case Attribute::kMessage: return put("message", messages_.of(e.object));
      case Attribute::kOffset: return put("offset", std::to_string(e.offset));
      case Attribute::kRequests:
      case Attribute::kMembers: return;
    }
  }
  static void put(const char* name, const std::string& value) {
    std::printf(" %s=%s", name, value.c_str());
  }

  const Definitions& definitions_;
  CodeSites sites_;
  std::set<std::uint64_t> persistent_;
  Names requests_{'r'}, windows_{'w'}, files_{'f'}, messages_{'m'};
};

class Sums {
 public:
  Sums(const Definitions& definitions, const Process& process)
      : definitions_(definitions), sites_(process.code) {}

  void add(const Event& event) {
    if (event.kind == EventKind::kPhaseBegin) phases_.push_back(event.code);
    if (event.kind == EventKind::kPhaseEnd && !phases_.empty()) phases_.pop_back();
    std::vector<Event>& open = open_[event.thread];
    if (event.kind == EventKind::kEnter) open.push_back(event);
    if (event.kind != EventKind::kLeave || open.empty()) return;
    const Event entered = open.back();
    open.pop_back();
    if (!open.empty()) return;
    const CodeSite& site = sites_.of_call(entered.site);
    const std::string place = site.module + "+" + std::to_string(site.offset);
    const std::string phase = phases_.empty() ? "-" : definitions_.phases[phases_.back()];
    Sum& sum =
        sums_[{definitions_.functions[entered.function].name, place, entered.communicator, phase}];
    const std::uint64_t took = event.time_ns - entered.time_ns;
    sum.calls += 1;
    sum.total += took;
    sum.longest = std::max(sum.longest, took);
    sum.bytes += entered.bytes;
  }

  void print() const {
    for (const auto& [key, sum] : sums_) {
      const auto& [function, place, communicator, phase] = key;
      std::printf("%s %s %d %s %llu %llu %llu %llu\n", function.c_str(), place.c_str(),
                  communicator, phase.c_str(), static_cast<unsigned long long>(sum.calls),
                  static_cast<unsigned long long>(sum.total),
                  static_cast<unsigned long long>(sum.longest),
                  static_cast<unsigned long long>(sum.bytes));
    }
  }

 private:
  struct Sum {
    std::uint64_t calls = 0, total = 0, longest = 0, bytes = 0;
  };

  const Definitions& definitions_;
  CodeSites sites_;
  std::map<std::uint32_t, std::vector<Event>> open_;  // by thread
  std::vector<std::uint32_t> phases_;
  std::map<std::tuple<std::string, std::string, std::int32_t, std::string>, Sum> sums_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool sums = argc == 4 && std::string(argv[3]) == "sums";
  if (argc != 3 && !sums) return std::fprintf(stderr, "usage: print_calls RUN RANK [sums]\n"), 2;
  const auto trace = Trace::open(argv[1]);
  if (!trace) return std::fprintf(stderr, "%s\n", trace.error().message.c_str()), 1;
  const Definitions& definitions = trace->definitions();
  for (std::size_t i = 0; i < definitions.processes.size(); ++i) {
    const Process& process = definitions.processes[i];
    for (const std::string& problem : process.problems)
      std::fprintf(stderr, "%s\n", problem.c_str());
    if (process.rank != std::atoll(argv[2])) continue;
    EventCursor events = trace->events(i);
    if (sums) {
      Sums all(definitions, process);
      for (Event event; events.next(event);) all.add(event);
      all.print();
      continue;
    }
    Printer printer(definitions, process);
    for (Event event; events.next(event);) printer.print(event);
  }
  return 0;
}
