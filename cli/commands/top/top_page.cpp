// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/top/top_page.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kMostPairs = 10;  // with --once
constexpr std::size_t kLeastPairs = 3;  // on a screen
constexpr std::size_t kWideEnough =
    110;  // for hosts, seconds waited and received bytes; on a screen for unexpected messages too

std::string peer_text(std::int32_t peer) {
  return peer == live::kAnyone   ? "any rank"
         : peer == live::kNobody ? "nobody"
         : peer < 0              ? "?"
                                 : std::to_string(peer);
}

std::string pending_text(const live::Pending& pending) {
  std::string text;
  switch (pending.kind) {
    case live::RequestKind::kReceive: text = "from " + peer_text(pending.peer); break;
    case live::RequestKind::kSend:
    case live::RequestKind::kSynchronousSend: text = "to " + peer_text(pending.peer); break;
    case live::RequestKind::kCollective: return "a collective";
    case live::RequestKind::kOther: return "another request";
  }
  if (pending.tag == live::kAnyone) return text + ", any tag";
  return pending.tag < 0 ? text : text + fmt::format(", tag {}", pending.tag);
}

std::string communicator_name(const live::JobState& job, std::uint64_t id) {
  const auto found = std::ranges::find(job.communicators, id, &live::Communicator::id);
  return found == job.communicators.end() ? "" : found->name;
}

// "-" where it is not known.
std::string number_text(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

const char* word_of(live::ProcessState state) {
  switch (state) {
    case live::ProcessState::kStarting: return "starting";
    case live::ProcessState::kRunning: return "running";
    case live::ProcessState::kFinalizing: return "finalizing";
    case live::ProcessState::kEnded: return "ended";
    case live::ProcessState::kGone: return "gone";
    case live::ProcessState::kStopped: return "stopped";
  }
  return "";
}

class Page {
 public:
  Page(const live::JobState& now, const live::JobState& earlier, const live::Verdict& verdict,
       const TopView& view)
      : job_(now), verdict_(verdict), view_(view), change_(now, earlier, view.kind) {
    change_.sort(view.order);
  }

  std::vector<TopLine> lines() {
    header();
    judgement();
    traffic();
    ranks();
    if (view_.rank) chosen_rank();
    pairs();
    return std::move(lines_);
  }

 private:
  void add(Style style, const std::string& text) {
    const std::string safe = printable(text);
    const bool cut = view_.height > 0 && columns(safe) > view_.width;
    lines_.push_back({style, cut ? left(safe, view_.width) : safe});
  }
  void wrapped_in(Style style, const std::string& text, const std::string& mark) {
    for (const std::string& line : wrapped(printable(text), view_.width, mark)) add(style, line);
  }

  void header() {
    std::set<std::string> hosts;
    double elapsed = 0;
    for (const live::RankState& rank : job_.ranks) {
      hosts.insert(rank.host);
      elapsed = std::max(elapsed, rank.elapsed_s);
    }
    add(Style::kHeading,
        fmt::format("{}  {} ranks on {} host{}  running for {}  MPI {}{}", job_.program,
                    job_.world_size, hosts.size(), hosts.size() == 1 ? "" : "s",
                    human_seconds(elapsed), percent(change_.mpi_share, 1),
                    view_.paused ? "  (paused)" : ""));
    if (static_cast<std::size_t>(std::max(0, job_.world_size)) > job_.ranks.size())
      add(Style::kWarning,
          fmt::format("{} of {} ranks have sent no sample yet",
                      static_cast<std::size_t>(job_.world_size) - job_.ranks.size(),
                      job_.world_size));
    if (std::ranges::any_of(job_.ranks, [](const live::RankState& rank) {
          return rank.queues == live::QueueAccess::kNotPermitted;
        }))
      wrapped_in(Style::kWarning,
                 "unexpected messages are not known: the system does not let this process read "
                 "the ranks' memory (kernel.yama.ptrace_scope, or a container)",
                 "");
    if (!job_.hosts_late.empty()) {
      std::string late;
      for (const std::string& host : job_.hosts_late) late += (late.empty() ? "" : ", ") + host;
      wrapped_in(Style::kWarning, "no sample for two seconds from " + late, "");
    }
  }

  void judgement() {
    const Style style = verdict_.hung                             ? Style::kBad
                        : verdict_.cause == live::Cause::kNothing ? Style::kGood
                                                                  : Style::kWarning;
    wrapped_in(style, verdict_.text, "");
    if (verdict_.hung && verdict_.further > 0)
      add(style, fmt::format("{} other group{} of ranks hang{} independently", verdict_.further,
                             verdict_.further == 1 ? "" : "s", verdict_.further == 1 ? "s" : ""));
  }

  void traffic() {
    const std::string of = view_.kind.empty() ? "traffic" : view_.kind;
    std::string now = change_.seconds > 0
                          ? fmt::format("{}, {} messages/s; ", human_rate(change_.bytes_per_s),
                                        grouped(static_cast<std::uint64_t>(change_.messages_per_s)))
                          : "";
    wrapped_in(Style::kPlain,
               fmt::format("{}: {}{}, {} messages in all; {} not received yet{}", of, now,
                           human_bytes(static_cast<double>(change_.bytes)),
                           grouped(change_.messages), grouped(change_.backlog),
                           change_.unexpected ? ", " + grouped(*change_.unexpected) +
                                                    " in queues of unexpected messages"
                                              : ""),
               "");
    lines_.push_back({});
  }

  // Lines that the ranks may take, so that some pairs fit below them.
  std::size_t room_for_ranks() const {
    if (view_.height == 0) return change_.ranks.size();
    const std::size_t others = lines_.size() + 1 + (view_.rank ? 5 : 0) + 2 + kLeastPairs;
    return view_.height > others + 1 ? view_.height - others : 1;
  }

  bool is_wide() const { return view_.width >= kWideEnough; }
  bool shows_queues() const { return is_wide() || view_.height == 0; }

  void ranks() {
    const bool wide = is_wide();
    add(Style::kHeading, fmt::format("{:>6}{}  {:>5}  {:>5}{}  {:>11}{}  {:>6}{}  now", "rank",
                                     wide ? "  " + left("host", 12) : "", "MPI", "waits",
                                     wide ? fmt::format("  {:>9}", "waited") : "", "sent",
                                     wide ? fmt::format("  {:>11}", "received") : "", "unrcvd",
                                     shows_queues() ? "  unexp." : ""));
    const std::size_t first = std::min(view_.first_rank, change_.ranks.size());
    const std::size_t last = std::min(change_.ranks.size(), first + room_for_ranks());
    for (std::size_t at = first; at < last; ++at) rank(change_.ranks[at], wide);
    if (last < change_.ranks.size())
      add(Style::kFaint, fmt::format("       {} more ranks", change_.ranks.size() - last));
  }

  void rank(const RankActivity& rank, bool wide) {
    const live::RankState& state = *rank.state;
    const auto rate = [&](double per_s, std::uint64_t total) {
      return change_.seconds > 0 ? human_rate(per_s) : human_bytes(static_cast<double>(total));
    };
    std::string now;
    if (state.state != live::ProcessState::kRunning) now = word_of(state.state);
    if (!state.threads.empty() && state.state != live::ProcessState::kEnded &&
        state.state != live::ProcessState::kGone) {
      const live::ThreadState& thread = state.threads.front();
      now += fmt::format("{}{} {}", now.empty() ? "" : ", ", human_seconds(thread.since_s),
                         activity_text(job_, thread));
    }
    const bool blamed = std::ranges::binary_search(verdict_.culprits, state.rank) &&
                        verdict_.cause != live::Cause::kNothing;
    const bool chosen = view_.rank == state.rank;
    add(blamed ? Style::kBad : Style::kPlain,
        fmt::format(
            "{}{:>5}{}  {:>5}  {:>5}{}  {:>11}{}  {:>6}{}  {}",
            chosen   ? ">"
            : blamed ? "!"
                     : " ",
            state.rank, wide ? "  " + left(state.host, 12) : "", percent(rank.mpi_share, 1),
            percent(rank.wait_share, 1),
            wide ? fmt::format("  {:>9}", human_seconds(state.waiting_s)) : "",
            rate(rank.sent_per_s, state.sent_bytes),
            wide ? fmt::format("  {:>11}", rate(rank.received_per_s, state.received_bytes)) : "",
            rank.backlog,
            shows_queues() ? fmt::format("  {:>6}", number_text(state.unexpected)) : "", now));
  }

  void chosen_rank() {
    lines_.push_back({});
    for (const RankActivity& rank : change_.ranks) {
      if (rank.state->rank != *view_.rank) continue;
      const live::RankState& state = *rank.state;
      add(Style::kHeading,
          fmt::format("rank {}: process {} on {}, {}; sample {} old, {} lost", state.rank,
                      state.pid, state.host, word_of(state.state), human_time(state.sample_age_s),
                      grouped(state.samples_lost)));
      if (state.unexpected && state.posted)
        add(Style::kPlain,
            fmt::format("  {} message{} wait{} unexpected, {} receive{} posted and unmatched",
                        grouped(*state.unexpected), *state.unexpected == 1 ? "" : "s",
                        *state.unexpected == 1 ? "s" : "", grouped(*state.posted),
                        *state.posted == 1 ? " is" : "s are"));
      for (const live::ThreadState& thread : state.threads)
        add(Style::kPlain, fmt::format("  thread {}: {} {} (call {})", thread.thread,
                                       human_seconds(thread.since_s), activity_text(job_, thread),
                                       grouped(thread.calls)));
      return;
    }
    add(Style::kWarning, fmt::format("rank {} has sent no sample", *view_.rank));
  }

  void pairs() {
    const std::size_t used = lines_.size() + 2;
    const std::size_t room = view_.height == 0     ? kMostPairs
                             : view_.height > used ? view_.height - used
                                                   : 0;
    if (room == 0 || change_.pairs.empty()) return;
    lines_.push_back({});
    add(Style::kHeading, fmt::format("{:>6} -> {:<6}  {:<14}  {:>10}  {:>9}  {:>8}  {:>12}", "from",
                                     "to", "class", "now", "in all", "messages", "not received"));
    for (const PairActivity* activity : change_.busiest(room, view_.rank)) {
      const PairActivity& pair = *activity;
      const live::PairState& state = *pair.state;
      add(Style::kPlain,
          fmt::format("{:>6} -> {:<6}  {}  {:>10}  {:>9}  {:>8}  {:>12}", state.from, state.to,
                      left(printable(state.kind), 14),
                      change_.seconds > 0 ? human_rate(pair.bytes_per_s) : "",
                      human_bytes(static_cast<double>(state.sent_bytes)), grouped(state.sent),
                      pair.backlog == 0 ? "" : grouped(pair.backlog)));
    }
  }

  const live::JobState& job_;
  const live::Verdict& verdict_;
  const TopView& view_;
  JobChange change_;
  std::vector<TopLine> lines_;
};

}  // namespace

std::string activity_text(const live::JobState& job, const live::ThreadState& thread) {
  if (thread.function.empty())
    return thread.place.empty() ? "computing" : "computing, after " + thread.place;
  std::string text = thread.function;
  if (thread.pending.size() == 1 && thread.collective == 0) {
    text += " " + pending_text(thread.pending.front());
  } else if (thread.pending.size() > 1) {
    text += fmt::format(", {} of {} requests", thread.waits_for_all ? "all" : "any",
                        thread.pending.size() + thread.pending_left_out);
  }
  if (thread.collective > 0) {
    text += " #" + grouped(thread.collective);
    if (const std::string name = communicator_name(job, thread.communicator); !name.empty())
      text += " on " + name;
  }
  return thread.place.empty() ? text : text + " (" + thread.place + ")";
}

const char* name_of(RankOrder order) {
  switch (order) {
    case RankOrder::kWaiting: return "waiting";
    case RankOrder::kMpi: return "MPI";
    case RankOrder::kTraffic: return "traffic";
    case RankOrder::kRank: break;
  }
  return "rank";
}

std::vector<TopLine> top_page(const live::JobState& now, const live::JobState& earlier,
                              const live::Verdict& verdict, const TopView& view) {
  return Page(now, earlier, verdict, view).lines();
}

}  // namespace fathom::cli
