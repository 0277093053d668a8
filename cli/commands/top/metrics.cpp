// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/top/metrics.h"

#include <spdlog/fmt/fmt.h>

#include <cstdint>
#include <map>

#include "base/utf8.h"
#include "cli/commands/top/job_change.h"

namespace fathom::cli {
namespace {

std::string label(std::string_view text) {
  std::string escaped;
  for (const char c : base::as_utf8(text)) {
    if (c == '\\' || c == '"') escaped += '\\';
    if (c == '\n')
      escaped += "\\n";
    else
      escaped += c;
  }
  return escaped;
}

// One family after the other, each with its samples: the format allows no other order.
class Families {
 public:
  void begin(const char* name, const char* type, const char* unit, const char* help) {
    name_ = name;
    suffix_ = std::string_view(type) == "counter" ? "_total" : "";
    text_ += fmt::format("# TYPE {} {}\n", name, type);
    if (*unit != '\0') text_ += fmt::format("# UNIT {} {}\n", name, unit);
    text_ += fmt::format("# HELP {} {}\n", name, help);
  }
  template <typename Value>
  void sample(const std::string& labels, Value value) {
    text_ +=
        fmt::format("{}{}{} {}\n", name_, suffix_, labels.empty() ? "" : "{" + labels + "}", value);
  }
  std::string finish() { return text_ + "# EOF\n"; }

 private:
  std::string name_, suffix_, text_;
};

template <typename Value>
void each_rank(Families& families, const live::JobState& job, Value value) {
  for (const live::RankState& rank : job.ranks)
    families.sample(fmt::format("rank=\"{}\"", rank.rank), value(rank));
}

void write_ranks(Families& families, const live::JobState& job) {
  if (job.ranks.size() > kMostRanksInMetrics) return;
  families.begin("fathom_rank_mpi_seconds", "counter", "seconds", "Time inside MPI calls.");
  each_rank(families, job, [](const live::RankState& rank) { return rank.mpi_s; });
  families.begin("fathom_rank_waiting_seconds", "counter", "seconds",
                 "Time that MPI calls waited.");
  each_rank(families, job, [](const live::RankState& rank) { return rank.waiting_s; });
  families.begin("fathom_rank_sent_bytes", "counter", "bytes", "Bytes sent.");
  each_rank(families, job, [](const live::RankState& rank) { return rank.sent_bytes; });
  families.begin("fathom_rank_received_bytes", "counter", "bytes", "Bytes received.");
  each_rank(families, job, [](const live::RankState& rank) { return rank.received_bytes; });
}

// Summed over the ranks for which it is known.
void write_queues(Families& families, const live::JobState& job, const JobChange& change) {
  if (!change.unexpected) return;
  families.begin("fathom_unexpected_messages", "gauge", "",
                 "Messages that have arrived and that no receive matches.");
  families.sample("", *change.unexpected);
  if (job.ranks.size() > kMostRanksInMetrics) return;
  const auto each = [&](const char* name, const char* help, auto member) {
    families.begin(name, "gauge", "", help);
    for (const live::RankState& rank : job.ranks)
      if (rank.*member) families.sample(fmt::format("rank=\"{}\"", rank.rank), *(rank.*member));
  };
  each("fathom_rank_unexpected_messages", "Messages that have arrived and that no receive matches.",
       &live::RankState::unexpected);
  each("fathom_rank_posted_receives", "Receives that no message matches.",
       &live::RankState::posted);
}

struct KindSums {
  std::uint64_t messages = 0, bytes = 0;
};

void write_traffic(Families& families, const live::JobState& job, const JobChange& change) {
  std::map<std::string, KindSums> kinds;
  for (const live::PairState& pair : job.pairs) {
    kinds[pair.kind].messages += pair.sent;
    kinds[pair.kind].bytes += pair.sent_bytes;
  }
  families.begin("fathom_sent_messages", "counter", "", "Messages sent, by class.");
  for (const auto& [kind, sums] : kinds)
    families.sample(fmt::format("class=\"{}\"", label(kind)), sums.messages);
  families.begin("fathom_sent_bytes", "counter", "bytes", "Bytes sent, by class.");
  for (const auto& [kind, sums] : kinds)
    families.sample(fmt::format("class=\"{}\"", label(kind)), sums.bytes);
  families.begin("fathom_backlog_messages", "gauge", "", "Messages sent and not received yet.");
  families.sample("", change.backlog);
}

void write_calls(Families& families, const live::JobState& job) {
  std::map<std::string, std::uint64_t> functions;
  for (const live::RankState& rank : job.ranks) {
    for (const live::ThreadState& thread : rank.threads)
      ++functions[thread.function.empty() ? "" : thread.function];
  }
  families.begin("fathom_threads", "gauge", "",
                 "Threads by the MPI function that they are in; empty: computing.");
  for (const auto& [function, count] : functions)
    families.sample(fmt::format("function=\"{}\"", label(function)), count);
}

}  // namespace

std::string open_metrics(const live::JobState& now, const live::JobState& earlier,
                         const live::Verdict& verdict) {
  const JobChange change(now, earlier, "");
  Families families;
  families.begin("fathom_ranks", "gauge", "", "Ranks of the job.");
  families.sample("", now.world_size);
  families.begin("fathom_ranks_seen", "gauge", "", "Ranks that have sent a sample.");
  families.sample("", now.ranks.size());
  families.begin("fathom_mpi_ratio", "gauge", "ratio",
                 "Share of time in MPI since the last sample.");
  families.sample("", change.mpi_share);
  families.begin("fathom_hung", "gauge", "", "1 if some rank can never go on.");
  families.sample("", verdict.hung ? 1 : 0);
  families.begin("fathom_held_up_ranks", "gauge", "", "Ranks that wait for the culprit, by cause.");
  families.sample(fmt::format("cause=\"{}\"", live::name_of(verdict.cause)),
                  verdict.victims.size());
  write_traffic(families, now, change);
  write_queues(families, now, change);
  write_calls(families, now);
  write_ranks(families, now);
  return families.finish();
}

}  // namespace fathom::cli
