// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/wait_findings.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>

#include "base/order/sort_stably.h"
#include "base/seconds.h"
#include "base/text.h"
#include "mpi/meaning.h"

namespace fathom::analysis {
namespace {

using mpi::kWaitKinds;
using mpi::WaitKind;

struct KindText {
  const char* happens;  // "rank 2 waits in MPI_Recv …"
  const char* instead;  // "give them less work there, …": what else helps against such waits
};

constexpr char kCollective[] = "or use the collective's non-blocking form and wait for it later";
constexpr KindText kKinds[] = {
    {"for messages that are sent late", "or have them send first what the others wait for"},
    {"for messages while others, sent earlier, are received later",
     "or receive messages in the order in which they arrive (MPI_ANY_SOURCE, or MPI_Waitany on "
     "posted receives)"},
    {"to send to ranks that post the receive late",
     "or have them post the receive first (MPI_Irecv)"},
    {"for the last rank to arrive", "or leave the barrier out if the program does not need it"},
    {"for the last rank to arrive", kCollective},
    {"as the root for the last rank to arrive", kCollective},
    {"as the root for the last rank to arrive", kCollective},
    {"for the root", "or have the root broadcast first what it has by then"},
    {"for the root", "or have the root scatter first what it has by then"},
    {"for lower ranks", kCollective},
    {"polling for what comes late", "or have them do first what the others test for"},
    {"for the last rank to arrive", "and look at how the launcher starts the processes"},
    {"for the last rank to arrive", "or do it where all ranks have as much of it"},
    {"for the last rank to arrive", "or make the communicator or window once and keep it"},
    {"for the last rank to arrive",
     "or let only the ranks that exchange data synchronise (MPI_Win_post and MPI_Win_start, or "
     "locks)"},
    {"for the last rank to arrive", "or let ranks read and write on their own"},
    {"for neighbours that arrive late", kCollective},
    {"to access windows that are exposed late",
     "or have them call MPI_Win_post first, as soon as the others may access the window"},
    {"for accesses to its window that end late",
     "or have them call MPI_Win_complete first, as soon as their accesses are made"},
    {"for locks that others hold",
     "or have them unlock as soon as their accesses are made, or let all use shared locks and "
     "atomic "
     "operations (MPI_Accumulate, MPI_Fetch_and_op)"},
};
static_assert(std::size(kKinds) == kWaitKinds);

const KindText& words_of(WaitKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

// Ranks with the most time, largest first: those that make up nearly all of it, and each with a
// large share.
std::vector<std::int64_t> most(const std::map<std::int64_t, std::uint64_t>& sums) {
  std::vector<std::pair<std::int64_t, std::uint64_t>> order(sums.begin(), sums.end());
  base::sort_stably(order, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::uint64_t all = 0;
  for (const auto& [rank, ns] : order) all += ns;
  std::vector<std::int64_t> ranks;
  std::uint64_t named = 0;
  constexpr double kGoodPart = 0.05;
  for (const auto& [rank, ns] : order) {
    if (ranks.size() == kMostListed) break;
    if (!ranks.empty() && static_cast<double>(ns) < kGoodPart * static_cast<double>(all) &&
        static_cast<double>(named) >= (1 - kGoodPart) * static_cast<double>(all)) {
      break;
    }
    if (!ranks.empty() &&
        static_cast<double>(ns) < kGoodPart * static_cast<double>(order.front().second))
      break;
    ranks.push_back(rank);
    named += ns;
  }
  return ranks;
}

// "rank 3", "ranks 0, 1 and 3": those with most time, in their own order.
std::string rank_list(std::vector<std::int64_t> ranks) {
  constexpr std::size_t kShown = 4;
  std::sort(ranks.begin(), ranks.begin() + std::min<std::ptrdiff_t>(std::ssize(ranks), kShown));
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size() && i < kShown; ++i) {
    const bool last = i + 1 == ranks.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + std::to_string(ranks[i]);
  }
  if (ranks.size() > kShown) text += " and " + std::to_string(ranks.size() - kShown) + " more";
  return text;
}

// Culprit and victim, the longest waits first.
std::vector<RankPair> worst_pairs(const WaitGroup& group) {
  std::vector<std::pair<std::uint64_t, RankPair>> order;
  for (const auto& [pair, ns] : group.pairs) order.push_back({ns, {pair.first, pair.second}});
  base::sort_stably(order, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<RankPair> pairs;
  for (std::size_t i = 0; i < order.size() && i < kMostListed; ++i)
    pairs.push_back(order[i].second);
  return pairs;
}

std::string shown_time(std::uint64_t ns) { return base::duration_text(base::seconds(ns)); }

std::string in_call(const Where& where) {
  return "in " + text_of(CallPlace{where.function, where.caller, where.file, where.line});
}

// The verb for one rank or for several.
std::string verb(std::size_t ranks, const char* one, const char* several) {
  return ranks == 1 ? one : several;
}

class Description {
 public:
  Description(const WaitCause& cause, double load_balance)
      : cause_(cause), culprits_(most(cause.culprits)) {
    list_symptoms();
    kind_ = kind(load_balance);
  }

  FindingKind kind() const { return kind_; }
  const std::vector<std::int64_t>& culprits() const { return culprits_; }
  const std::vector<Symptom>& symptoms() const { return symptoms_; }

  // The worst wait at the place that the finding names, and whose it is; nullptr: times are not known.
  const std::pair<const std::int64_t, WorstWait>* worst_wait() const {
    const std::pair<const std::int64_t, WorstWait>* worst = nullptr;
    for (const auto& wait : main_->worst) {
      if (worst == nullptr || wait.second.comes_before(worst->second)) worst = &wait;
    }
    return worst;
  }

  std::string summary() const {
    const std::string whose =
        kind_ == FindingKind::kIdleMaster ? " of its waiting" : " of others' waiting";
    return why() + ": " + shown_time(cause_.ns()) + whose + where_mostly();
  }

  std::string advice() const {
    switch (kind_) {
      case FindingKind::kStartUp:
        return "balancing work does not help here: look at how the launcher starts the processes";
      case FindingKind::kBusyMaster:
        return "let ranks ask for their next task before they have finished the last one, hand out "
               "more work at a time, or divide them among several masters";
      case FindingKind::kIdleMaster:
        return "let it work too while the others do, or give its processor to another rank";
      case FindingKind::kSlowCall:
        return "find out what holds " + them("it", "them") + " up in that call: " +
               (is_file_call() ? "the file system" : "the transfer of the data") +
               ", or a processor that several ranks share";
      case FindingKind::kDelay:
        if (!cause_.meanwhile)
          return "find out what " + them("it does", "they do") + " before" +
                 (cause_.traced ? "" : ": a trace (fathom run --trace) names the lines") + ", " +
                 instead();
        if (!cause_.balance)
          return "find out why " + them("it takes", "they take") + " so long there, " + instead();
        return "the totals are even, single steps are not: synchronise less often, so that ranks "
               "can "
               "run ahead of each other, " +
               instead();
      default: return advice_for_imbalance();
    }
  }

 private:
  void list_symptoms() {
    std::vector<const decltype(cause_.symptoms)::value_type*> order;
    for (const auto& symptom : cause_.symptoms) order.push_back(&symptom);
    base::sort_stably(order, [](const auto* a, const auto* b) {
      const bool passed_on = a->first.second, other = b->first.second;
      return passed_on != other ? other : a->second.ns > b->second.ns;
    });
    main_ = &order.front()->second;
    for (const auto* const of : order) {
      const auto& [place, passed_on] = of->first;
      const WaitGroup& group = of->second;
      Symptom& symptom = symptoms_.emplace_back();
      symptom.kind = mpi::name_of(place.kind);
      symptom.seconds = base::seconds(group.ns);
      symptom.count = group.count;
      symptom.victims = most(group.victims);
      symptom.where = where_of(place);
      symptom.passed_on = passed_on;
      symptom.text = rank_list(symptom.victims) +
                     verb(symptom.victims.size(), " waits ", " wait ") + shown_time(group.ns) +
                     " " + in_call(symptom.where) + " " +
                     (passed_on ? late_too(most(group.culprits)) : words_of(place.kind).happens);
    }
    worst_ = order.front()->first.first.kind;
  }

  static std::string late_too(const std::vector<std::int64_t>& awaited) {
    return "for " + rank_list(awaited) +
           verb(awaited.size(), ", which is late because of that",
                ", which are late because of that");
  }

  FindingKind kind(double load_balance) const {
    if (cause_.serves) return FindingKind::kBusyMaster;
    if (cause_.meanwhile && cause_.meanwhile->inside) {
      return mpi::meaning_of(cause_.meanwhile->inside->function).begins_job
                 ? FindingKind::kStartUp
                 : FindingKind::kSlowCall;
    }
    if (cause_.balance && !cause_.balance->evens_out &&
        cause_.balance->times_the_mean * load_balance >= 1)
      return FindingKind::kLoadImbalance;
    return is_master_waiting() ? FindingKind::kIdleMaster : FindingKind::kDelay;
  }

  bool is_master_waiting() const {
    constexpr double kNearlyAll = 0.9;
    if (!cause_.hub) return false;
    const auto own = cause_.direct.victims.find(*cause_.hub);
    return own != cause_.direct.victims.end() &&
           static_cast<double>(own->second) >= kNearlyAll * static_cast<double>(cause_.direct.ns);
  }

  std::string them(const char* one, const char* several) const {
    return verb(culprits_.size(), one, several);
  }

  bool is_file_call() const {
    return mpi::meaning_of(cause_.meanwhile->inside->function).group == mpi::Group::kIo;
  }

  std::string place() const {
    if (!cause_.meanwhile) return "";
    return (cause_.meanwhile->mostly ? ", " : " ") + place_of(*cause_.meanwhile);
  }

  // What the culprits do, up to the colon.
  std::string why() const {
    const std::string who = rank_list(culprits_);
    switch (kind_) {
      case FindingKind::kStartUp: return who + them(" is", " are") + " still" + place();
      case FindingKind::kBusyMaster:
        return who + " answers all other ranks, one after the other, and is busy with others" +
               place();
      case FindingKind::kIdleMaster:
        return "rank " + std::to_string(*cause_.hub) +
               ", which answers all other ranks, has nothing to do while they work" + place();
      case FindingKind::kSlowCall:
        return who + them(" spends", " spend") + " much time" + place() + ", without waiting there";
      case FindingKind::kDelay:
        if (!cause_.meanwhile) return who + them(" comes", " come") + " late";
        if (!cause_.balance) return who + them(" comes", " come") + " late from work" + place();
        return "at times " + who + them(" computes", " compute") + " longer than the others" +
               place() + ", though not in total";
      default: break;
    }
    if (cause_.balance->alone) return who + " alone" + them(" computes", " compute") + place();
    char factor[32];
    std::snprintf(factor, sizeof factor, "%.3g × the mean", cause_.balance->times_the_mean);
    return who + them(" computes ", " compute up to ") + factor + place();
  }

  // The place that explains all of it, or most.
  std::string where_mostly() const {
    const Symptom& worst = symptoms_.front();
    const bool only = std::all_of(symptoms_.begin(), symptoms_.end(), [&](const Symptom& other) {
      return other.where.function == worst.where.function && other.where.file == worst.where.file &&
             other.where.line == worst.where.line &&
             (!worst.where.file.empty() || other.where.caller == worst.where.caller);
    });
    return (only ? " " : ", mostly ") + in_call(worst.where);
  }

  std::string instead() const { return words_of(worst_).instead; }

  std::string advice_for_imbalance() const {
    const bool waits_as_master = is_master_waiting();
    if (waits_as_master)
      return "hand out smaller tasks, the longest first, so that no rank comes last by far";
    if (cause_.balance->alone) return "let the other ranks do a part of this work, " + instead();
    const bool without = worst_ == WaitKind::kLateReceiver || worst_ == WaitKind::kBarrier ||
                         worst_ == WaitKind::kLateBroadcast || worst_ == WaitKind::kEarlyScatter;
    return "give " + them("it", "them") + " a smaller part of this work" +
           (without ? ", " + instead() : "") + "; if all parts are equal, see whether " +
           them("it shares its", "they share their") + " processor with more ranks than the others";
  }

  const WaitCause& cause_;
  const std::vector<std::int64_t> culprits_;
  std::vector<Symptom> symptoms_;    // the first is the main one
  const WaitGroup* main_ = nullptr;  // its waits
  WaitKind worst_ = WaitKind::kLateSender;
  FindingKind kind_{};
};

}  // namespace

void WaitGroup::add(std::int64_t victim, std::int64_t culprit, std::uint64_t pair_ns,
                    std::uint64_t pair_count) {
  ns += pair_ns;
  count += pair_count;
  culprits[culprit] += pair_ns;
  victims[victim] += pair_ns;
  pairs[{culprit, victim}] += pair_ns;
}

void WaitGroup::add(const WaitGroup& more) {
  ns += more.ns;
  count += more.count;
  for (const auto& [rank, more_ns] : more.culprits) culprits[rank] += more_ns;
  for (const auto& [rank, more_ns] : more.victims) victims[rank] += more_ns;
  for (const auto& [pair, more_ns] : more.pairs) pairs[pair] += more_ns;
  for (const auto& [rank, wait] : more.worst) worst[rank].add(wait);
}

Where where_of(const WaitPlace& place) {
  Where where;
  where.function = place.function;
  where.caller = place.caller;
  where.file = place.file;
  where.line = place.line;
  where.phase = place.phase;
  return where;
}

std::optional<Balance> balance_of(const std::map<std::int64_t, std::uint64_t>& work,
                                  const WaitCause& cause, std::size_t ranks) {
  constexpr double kNearlyAll = 0.9;
  const bool of_workers = cause.hub && !cause.culprits.contains(*cause.hub);
  if (of_workers) --ranks;
  Balance balance;
  double all_ns = 0, of_culprits_ns = 0, most_ns = -1;
  for (const auto& [rank, ns] : work) {
    if (!of_workers || rank != *cause.hub) all_ns += static_cast<double>(ns);
  }
  const std::vector<std::int64_t> named = most(cause.culprits);
  for (const std::int64_t rank : named) {
    const auto at = work.find(rank);
    const double ns = at == work.end() ? 0 : static_cast<double>(at->second);
    of_culprits_ns += ns;
    if (ns > most_ns) std::tie(most_ns, balance.busiest) = std::tie(ns, rank);
  }
  if (all_ns <= 0 || ranks == 0) return {};
  const double mean_ns = all_ns / static_cast<double>(ranks);
  balance.times_the_mean = most_ns / mean_ns;
  balance.excess_ns = most_ns - mean_ns;
  balance.alone = of_culprits_ns >= kNearlyAll * all_ns && 2 * named.size() <= ranks;
  return balance;
}

Finding finding_of(const WaitCause& cause, double load_balance, std::uint64_t all_ns) {
  constexpr double kSteep = 4;  // a quarter of all time reaches the maximum
  const double share = static_cast<double>(cause.ns()) / static_cast<double>(all_ns);
  const Description description(cause, load_balance);
  Finding finding;
  finding.kind = name_of(description.kind());
  finding.seconds = base::seconds(cause.ns());
  finding.strength = std::min(1.0, kSteep * share);
  finding.severity = severity_of_cost(share);
  finding.confidence = cause.confidence;
  finding.count = cause.direct.count;
  finding.culprits = description.culprits();
  std::map<std::int64_t, std::uint64_t> victims = cause.passed.victims;
  for (const auto& [rank, ns] : cause.direct.victims) victims[rank] += ns;
  finding.victims = most(victims);
  finding.pairs = worst_pairs(cause.direct);
  finding.symptoms = description.symptoms();
  finding.where = finding.symptoms.front().where;
  // What a viewer shows of this place, these ranks and this window is never empty.
  if (const auto* const worst = description.worst_wait()) {
    finding.windows = {{base::seconds(worst->second.from_ns), base::seconds(worst->second.to_ns)}};
    if (std::ranges::find(finding.victims, worst->first) == finding.victims.end()) {
      if (finding.victims.size() == kMostListed) finding.victims.pop_back();
      finding.victims.push_back(worst->first);
    }
  }
  finding.meanwhile = cause.meanwhile;
  if (finding.meanwhile) finding.meanwhile->rank = finding.culprits.front();
  finding.evidence.push_back({"share_of_all_time", share});
  finding.evidence.push_back({"direct_seconds", base::seconds(cause.direct.ns)});
  finding.evidence.push_back({"passed_on_seconds", base::seconds(cause.passed.ns)});
  if (cause.balance) finding.evidence.push_back({"times_the_mean", cause.balance->times_the_mean});
  finding.summary = description.summary();
  finding.advice = description.advice();
  return finding;
}

double seconds_in(const std::vector<Finding>& findings) {
  double seconds = 0;
  for (const Finding& finding : findings) seconds += finding.seconds.value_or(0);
  return seconds;
}

std::optional<std::int64_t> hub_of(const profile::Profile& profile, double few_ranks) {
  constexpr double kNearlyAll = 0.95;
  std::map<std::int64_t, std::uint64_t> messages;
  std::map<std::int64_t, std::set<std::int64_t>> sends_to, receives_from;
  std::uint64_t all = 0;
  for (const profile::Traffic& block : profile.traffic) {
    if (block.hidden) continue;
    for (std::size_t row = 0; row < block.source.size(); ++row) {
      const std::int64_t source = block.source[row], destination = block.destination[row];
      if (source == destination) continue;
      all += block.messages[row];
      messages[source] += block.messages[row];
      messages[destination] += block.messages[row];
      sends_to[source].insert(destination);
      receives_from[destination].insert(source);
    }
  }
  const auto hub =
      std::max_element(messages.begin(), messages.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::size_t ranks = messages.size();
  if (hub == messages.end() || static_cast<double>(ranks) < few_ranks ||
      static_cast<double>(hub->second) < kNearlyAll * static_cast<double>(all) ||
      sends_to[hub->first].size() + 1 < ranks || receives_from[hub->first].size() + 1 < ranks)
    return {};
  return hub->first;
}

bool is_for_message(mpi::WaitKind kind) {
  return kind == WaitKind::kLateSender || kind == WaitKind::kWrongOrder ||
         kind == WaitKind::kLateReceiver || kind == WaitKind::kPolling;
}

}  // namespace fathom::analysis
