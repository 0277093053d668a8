// SPDX-License-Identifier: BSD-3-Clause
#include "profile/assemble.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/seconds.h"
#include "base/words.h"
#include "profile/call_places.h"
#include "profile/call_table.h"
#include "profile/communicator_merge.h"
#include "profile/endings.h"
#include "profile/pair_cells.h"
#include "profile/rows_reader.h"
#include "profile/wait_table.h"
#include "profile/witnesses.h"
#include "profile/writer.h"

namespace fathom::profile {
namespace {

struct ClassFacts {
  std::string name;
  bool hidden = false;
  // Its rows are operations, not messages: only the process that posted an operation counts it.
  bool posted = false;
};

class Assembly {
 public:
  void add(const ProcessRows& rows);
  Profile finish();
  bool empty() const { return !started_; }

 private:
  void read_text(const ProcessRows& rows, std::map<std::uint32_t, std::uint32_t>& phases,
                 std::map<std::uint32_t, std::string>& modules);
  void add_cells(const ProcessRows& rows, const std::vector<std::uint32_t>& kind_of,
                 const std::map<std::uint32_t, std::uint32_t>& phases,
                 const std::map<std::uint32_t, std::string>& modules);
  void note(const std::string& sentence);
  void finish_ranks(Profile& profile);
  void settle_numbers(Profile& profile);
  void finish_calls(Profile& profile);
  std::int64_t final_rank(std::int64_t number, std::int64_t world_size) const;
  void merge_cells();
  void finish_traffic(Profile& profile);
  void finish_coverage(Profile& profile);
  void finish_sizes(Profile& profile);
  void list_invisible(Coverage& coverage);

  bool started_ = false;
  std::uint32_t job_ = 0;
  std::string world_;
  Profile profile_;
  std::map<std::int64_t, Rank> ranks_;
  ProcessNumbers numbers_;
  std::vector<std::int64_t> foreign_;  // their final numbers, after settle_numbers()
  CommunicatorMerge communicators_;
  std::map<std::uint32_t, ClassFacts> classes_;  // by number
  std::vector<PairCell> cells_;
  RunPlaces places_;
  CallTable calls_;
  WaitTable waits_;
  // Communicator, class, module.
  using InvisibleKey = std::tuple<std::uint32_t, std::uint32_t, std::string>;
  std::map<InvisibleKey, std::uint64_t> invisible_;
  std::map<std::uint32_t, std::map<std::uint64_t, std::uint64_t>> sizes_;
  Endings endings_;
  std::string witness_sent_, witness_received_;
  bool paused_ = false, truncated_ = false, unwatched_ = false;
  std::set<std::string> notes_;
};

// The module under which source mpi_t reports what MPI_T does not show.
constexpr char kMonitoring[] = "pml/monitoring";
// It sends, with the exception in profiler/openmpi/modules.cpp.
constexpr char kHierarchical[] = "coll/han";

const char* why_not_visible(const std::string& function, const std::string& module) {
  if (module == kMonitoring) {
    return "the monitoring variables of MPI_T hold the program's own messages only: those inside "
           "collectives and other calls are missing, and its persistent sends";
  }
  if (function == kOneSided) {
    return "the data moves without PML messages; it is counted as issued by the program";
  }
  if (module == kHierarchical) {
    return "inside a host this module copies from mapped memory; only what it sends between hosts "
           "is in the profile";
  }
  return "this module moves data without PML messages, so its traffic is not in the profile";
}

ClassFacts unnamed_class(std::uint32_t number) {
  return {.name = "class " + std::to_string(number), .hidden = true};
}

// `text` is "SOURCE REASON". Processes that give the same reason share one entry.
void add_step_down(const std::string& text, std::vector<StepDown>& known) {
  base::Words words(text);
  StepDown step;
  step.source = words.next();
  step.reason = words.rest();
  const bool is_new = std::none_of(known.begin(), known.end(), [&step](const StepDown& other) {
    return other.source == step.source && other.reason == step.reason;
  });
  if (is_new) known.push_back(step);
}

// `text` is "NAME<tab>DESCRIPTION<tab>BOUND TO<tab>VALUES": one rank's values, added to those of
// the others.
void add_variable(const std::string& text, std::int64_t rank,
                  std::vector<PerformanceVariable>& known) {
  base::Words words(text);
  PerformanceVariable variable;
  variable.name = words.field('\t');
  variable.description = words.field('\t');
  variable.bound_to = words.field('\t');
  auto found = std::find_if(known.begin(), known.end(),
                            [&variable](const auto& other) { return other.name == variable.name; });
  if (found == known.end()) found = known.insert(known.end(), variable);
  found->rank.push_back(rank);
  std::vector<double>& values = found->values.emplace_back();
  for (double value = 0; words.next(value);) values.push_back(value);
}

void Assembly::note(const std::string& sentence) {
  if (notes_.insert(sentence).second) profile_.coverage.notes.push_back(sentence);
}

void Assembly::add(const ProcessRows& rows) {
  const RowsHeader& header = rows.header;
  if (header.world_size > (1u << kPeerBits)) return;  // damaged: Fathom cannot count such a world
  if (!started_) {
    started_ = true;
    job_ = header.job;
    profile_.world_size = header.world_size;
    numbers_.set_world(job_, header.world_size);
  }
  if (header.job != job_ || header.rank >= profile_.world_size || ranks_.count(header.rank)) {
    note("rows of a process that does not belong to this world, or came twice, were left out");
    return;
  }
  std::map<std::uint32_t, std::uint32_t> phases;
  std::map<std::uint32_t, std::string> modules;
  read_text(rows, phases, modules);
  Rank rank;
  rank.rank = header.rank;
  rank.host = rows.text_of("host");
  rank.pid = header.pid;
  rank.seconds = base::seconds(header.elapsed_ns);
  rank.peak_memory_bytes = std::strtoull(rows.text_of("peak-memory").c_str(), nullptr, 10);
  rank.processor_wait_seconds =
      base::seconds(std::strtoull(rows.text_of("processor-wait").c_str(), nullptr, 10));
  ranks_[header.rank] = rank;
  endings_.add(header.rank, header.end_reason, header.end_detail);
  truncated_ |= rows.truncated;
  profile_.coverage.lost_messages += header.lost_messages;
  profile_.application.seconds = std::max(profile_.application.seconds, rank.seconds);
  const auto started =
      static_cast<std::int64_t>(header.started_unix_ns & ~(std::uint64_t{1} << 63));
  if (profile_.application.started_unix_ns == 0 || started < profile_.application.started_unix_ns) {
    profile_.application.started_unix_ns = started;
  }
  const std::vector<std::uint32_t> kind_of =
      communicators_.add(header.rank, rows.communicators, rows.foreign_members, numbers_);
  add_cells(rows, kind_of, phases, modules);
  ProcessPlaces places(rows, kind_of, phases, places_);
  calls_.add(rows, places);
  waits_.add(rows, places, numbers_);
}

void Assembly::read_text(const ProcessRows& rows, std::map<std::uint32_t, std::uint32_t>& phases,
                         std::map<std::uint32_t, std::string>& modules) {
  const bool first_facts = profile_.application.executable.empty();
  for (const auto& [key, value] : rows.text) {
    base::Words words(value);
    std::uint32_t number = 0;
    const auto numbered = [&] { return words.next(number) && !words.rest().empty(); };
    if (key == "class") {
      int hidden = 0;
      if (words.next(number) && words.next(hidden) && !words.rest().empty())
        classes_[number] = {.name = std::string(words.rest()), .hidden = hidden != 0};
    } else if (key == "posted") {
      if (numbered()) classes_[number] = {.name = std::string(words.rest()), .posted = true};
    } else if (key == "phase") {
      if (numbered()) phases[number] = places_.phase(std::string(words.rest()));
    } else if (key == "module") {
      if (numbered()) modules[number] = words.rest();
    } else if (key == "executable" && first_facts) {
      profile_.application.executable = value;
    } else if (key == "argument" && first_facts) {
      profile_.application.arguments.push_back(value);
    } else if (key == "library") {
      profile_.mpi.library = value;
    } else if (key == "version") {
      profile_.mpi.version = value;
    } else if (key == "pml") {
      profile_.mpi.pml = value;
    } else if (key == "source") {
      profile_.source = value;
    } else if (key == "world") {
      world_ = value;
    } else if (key == "witness-sent") {
      witness_sent_ = value;
    } else if (key == "witness-received") {
      witness_received_ = value;
    } else if (key == "note") {
      note(value);
    } else if (key == "unwatched") {  // a sentence: what this process could not count
      note(value);
      unwatched_ = true;
    } else if (key == "paused") {
      paused_ = true;
    } else if (key == "step-down") {
      add_step_down(value, profile_.coverage.steps_down);
    } else if (key == "trace-lost") {
      add_trace_loss(value, profile_.coverage.trace_lost);
    } else if (key == "pvar") {
      add_variable(value, rows.header.rank, profile_.performance_variables);
    }
  }
}

void Assembly::add_cells(const ProcessRows& rows, const std::vector<std::uint32_t>& kind_of,
                         const std::map<std::uint32_t, std::uint32_t>& phases,
                         const std::map<std::uint32_t, std::string>& modules) {
  const std::int64_t own = rows.header.rank;
  for (const CellRow& cell : rows.cells) {
    const CellKey key = unpack_cell_key(cell.key);
    if (key.communicator >= kind_of.size()) continue;  // the file was cut in the middle
    const std::uint32_t kind = kind_of[key.communicator];
    classes_.try_emplace(key.class_id, unnamed_class(key.class_id));
    if (key.direction == Direction::kInvisible) {
      const auto module = modules.find(key.peer);
      invisible_[{kind, key.class_id, module == modules.end() ? "" : module->second}] +=
          cell.messages;
      continue;
    }
    const auto phase = phases.find(key.phase);
    PairCell pair{
        {key.class_id, kind, phase == phases.end() ? 0 : phase->second + 1}, 0, 0, {}, {}, {}};
    const std::int64_t peer = numbers_.number({cell.peer_job, cell.peer_rank});
    const Count count{cell.bytes, cell.messages};
    if (key.direction == Direction::kSent) {
      pair.source = own;
      pair.destination = peer;
      pair.sent = count;
    } else {
      pair.source = peer;
      pair.destination = own;
      (key.direction == Direction::kReceived ? pair.received : pair.unreceived) = count;
    }
    cells_.push_back(pair);
  }
  for (const CellRow& cell : rows.sizes) {
    const auto class_number = static_cast<std::uint32_t>(cell.key >> (kSizeBits + 1));
    classes_.try_emplace(class_number, unnamed_class(class_number));
    sizes_[class_number][cell.key & (kBinned | kSizeMask)] += cell.messages;
  }
}

// Replaces numbers by the final ones of communicators and of processes of other worlds.
void Assembly::settle_numbers(Profile& profile) {
  foreign_ = numbers_.settle();
  profile.communicators = communicators_.finish(profile.world_size, foreign_);
  for (PairCell& cell : cells_) {
    cell.source = final_rank(cell.source, profile.world_size);
    cell.destination = final_rank(cell.destination, profile.world_size);
    cell.traffic.communicator = communicators_.first_alike(cell.traffic.communicator);
  }
  std::map<InvisibleKey, std::uint64_t> calls;
  for (const auto& [key, count] : invisible_) {
    const auto& [kind, class_number, module] = key;
    calls[{communicators_.first_alike(kind), class_number, module}] += count;
  }
  invisible_ = std::move(calls);
}

std::int64_t Assembly::final_rank(std::int64_t number, std::int64_t world_size) const {
  return number < world_size ? number : foreign_[static_cast<std::size_t>(number - world_size)];
}

// Adds up the cells of one traffic key and pair: both witnesses, and the lanes of each process.
void Assembly::merge_cells() {
  const auto order = [](const PairCell& cell) {
    return std::tie(cell.traffic, cell.source, cell.destination);
  };
  std::sort(cells_.begin(), cells_.end(),
            [&order](const PairCell& a, const PairCell& b) { return order(a) < order(b); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (kept > 0 && order(cells_[kept - 1]) == order(cells_[i])) {
      cells_[kept - 1].sent += cells_[i].sent;
      cells_[kept - 1].received += cells_[i].received;
      cells_[kept - 1].unreceived += cells_[i].unreceived;
    } else {
      cells_[kept++] = cells_[i];
    }
  }
  cells_.resize(kept);
}

void Assembly::finish_ranks(Profile& profile) {
  for (std::int64_t i = 0; i < profile.world_size; ++i) {
    const auto found = ranks_.find(i);
    Rank rank;
    rank.rank = i;
    rank.reported = false;
    profile.ranks.push_back(found == ranks_.end() ? rank : found->second);
  }
  std::vector<Rank> foreign(numbers_.foreign().size());
  for (const auto& [who, number] : numbers_.foreign()) {
    Rank& rank = foreign[static_cast<std::size_t>(number - profile.world_size)];
    rank.rank = number;
    rank.world = "world-" + std::to_string(who.first);
    rank.rank_in_world = who.second;
    rank.reported = false;
  }
  profile.ranks.insert(profile.ranks.end(), foreign.begin(), foreign.end());
}

void Assembly::finish_traffic(Profile& profile) {
  const bool receivers_lead = !witness_received_.empty();
  TrafficKey key{};
  for (const PairCell& cell : cells_) {
    const ClassFacts& facts = classes_[cell.traffic.class_number];
    Count count;
    if (facts.posted) {
      count = cell.sent;
      count += cell.received;
    } else {
      const bool source_known = ranks_.count(cell.source) != 0;
      const bool destination_known = ranks_.count(cell.destination) != 0;
      const bool take_received = source_known && destination_known ? receivers_lead : !source_known;
      count = take_received ? cell.received : cell.sent;
    }
    if (count.messages == 0) continue;
    if (profile.traffic.empty() || key != cell.traffic) {
      key = cell.traffic;
      Traffic traffic;
      traffic.class_name = facts.name;
      traffic.hidden = facts.hidden;
      traffic.communicator = communicators_.id_of(key.communicator);
      if (key.phase != 0) traffic.phase = places_.phase_of(key.phase - 1);
      profile.traffic.push_back(std::move(traffic));
    }
    Traffic& traffic = profile.traffic.back();
    traffic.source.push_back(cell.source);
    traffic.destination.push_back(cell.destination);
    traffic.bytes.push_back(count.bytes);
    traffic.messages.push_back(count.messages);
  }
}

void Assembly::list_invisible(Coverage& coverage) {
  for (const auto& [key, calls] : invisible_) {
    const auto& [kind, class_number, module] = key;
    const std::string& function = classes_[class_number].name;
    NotVisible gap;
    gap.communicator = communicators_.id_of(kind);
    gap.function = function;
    gap.module = module;
    gap.calls = calls;
    gap.reason = why_not_visible(function, module);
    coverage.not_visible.push_back(gap);
  }
}

void Assembly::finish_coverage(Profile& profile) {
  Coverage& coverage = profile.coverage;
  coverage.sent.witness = witness_sent_;
  coverage.received.witness = witness_received_;
  compare_witnesses(
      cells_, [this](const PairCell& cell) { return !classes_[cell.traffic.class_number].posted; },
      [this](std::int64_t rank) { return ranks_.contains(rank); }, coverage);
  list_invisible(coverage);
  coverage.cut_short = endings_.why_cut_short(profile.world_size);
  if (truncated_) {
    coverage.notes.push_back(
        "the rows of at least one process were cut off; what was readable is counted");
  }
  if (paused_) {
    coverage.notes.push_back(
        "counting was paused with MPI_Pcontrol(0): a message counts for a side that was counting");
  }
  const bool incomplete = !coverage.cut_short.empty() || coverage.lost_messages > 0 || truncated_ ||
                          unwatched_ ||
                          ranks_.size() != static_cast<std::size_t>(profile.world_size);
  if (incomplete || (witness_sent_.empty() && witness_received_.empty())) {
    coverage.verdict = "incomplete";
  } else if (witness_sent_.empty() || witness_received_.empty()) {
    coverage.verdict = "one-witness";
  } else {
    coverage.verdict = coverage.differences.empty() ? "exact" : "differs";
  }
}

void Assembly::finish_sizes(Profile& profile) {
  for (const auto& [class_number, counts] : sizes_) {
    MessageSizes sizes;
    sizes.class_name = classes_[class_number].name;
    sizes.hidden = classes_[class_number].hidden;
    for (const auto& [key, messages] : counts) {
      if (messages == 0) continue;
      if (key & kBinned) {
        sizes.bin_low.push_back(key & kSizeMask);
        sizes.bin_messages.push_back(messages);
      } else {
        sizes.size.push_back(key);
        sizes.messages.push_back(messages);
      }
    }
    if (!sizes.size.empty() || !sizes.bin_low.empty()) {
      profile.message_sizes.push_back(std::move(sizes));
    }
  }
}

void Assembly::finish_calls(Profile& profile) {
  places_.settle([this](std::uint32_t number) { return communicators_.id_of(number); });
  profile.call_sites = places_.sites();
  calls_.finish(profile, places_);
  waits_.finish(profile, places_,
                [&](std::int64_t number) { return final_rank(number, profile.world_size); });
}

Profile Assembly::finish() {
  Profile profile = std::move(profile_);
  settle_numbers(profile);
  merge_cells();
  finish_ranks(profile);
  finish_traffic(profile);
  finish_coverage(profile);
  finish_sizes(profile);
  finish_calls(profile);
  return profile;
}

}  // namespace

base::Result<Profile> assemble(const char* rows, std::size_t size) {
  RowsReader reader(rows, size);
  Assembly assembly;
  for (ProcessRows process; reader.next(process);) assembly.add(process);
  if (assembly.empty()) {
    return base::Error{"there are no rows of any process: nothing can be assembled"};
  }
  return assembly.finish();
}

base::Result<Assembled> assemble_parts(const std::string& run_directory) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(run_directory + "/partial", error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".rows") files.push_back(entry->path());
  }
  if (files.empty()) return Assembled::kNothing;
  std::sort(files.begin(), files.end());
  Assembly assembly;
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string rows((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    RowsReader reader(rows.data(), rows.size());
    for (ProcessRows process; reader.next(process);) assembly.add(process);
  }
  if (assembly.empty()) return Assembled::kNothing;
  const Profile profile = assembly.finish();
  const base::Status written = write_profile(profile, run_directory + "/profile.json");
  if (!written.ok()) return written.error();
  return profile.coverage.cut_short.empty() ? Assembled::kWhole : Assembled::kCutShort;
}

}  // namespace fathom::profile
