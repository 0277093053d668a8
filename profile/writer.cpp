// SPDX-License-Identifier: BSD-3-Clause
#include "profile/writer.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/json/writer.h"
#include "profile/header_targets.h"

namespace fathom::profile {
namespace {

// Writes one column of a table: the numbers that `of` reads from the items.
template <typename Items, typename Of>
void column(base::JsonWriter& json, std::string_view name, const Items& items, Of of) {
  json.list(name, items, [&](const auto& item) { json.value(of(item)); });
}

// The functions `fields` write the fields of one object of the profile.
void fields(base::JsonWriter& json, const Application& application) {
  json.field("executable", application.executable);
  json.field("arguments", application.arguments);
  json.field("started_unix_ns", application.started_unix_ns);
  json.field("seconds", application.seconds);
}

void fields(base::JsonWriter& json, const MpiLibrary& mpi) {
  json.field("library", mpi.library);
  json.field("version", mpi.version);
  json.field("pml", mpi.pml);
}

void fields(base::JsonWriter& json, const Rank& rank) {
  json.field("rank", rank.rank);
  json.field("host", rank.host);
  json.field("pid", rank.pid);
  json.field("seconds", rank.seconds);
  if (!rank.world.empty()) json.field("world", rank.world);
  if (rank.rank_in_world != kNone) json.field("rank_in_world", rank.rank_in_world);
  if (rank.peak_memory_bytes != 0) json.field("peak_memory_bytes", rank.peak_memory_bytes);
  if (rank.processor_wait_seconds != 0)
    json.field("processor_wait_seconds", rank.processor_wait_seconds);
  if (!rank.reported) json.field("reported", rank.reported);
}

void number_or_null(base::JsonWriter& json, std::string_view name, std::int64_t number) {
  json.key(name);
  number == kNone ? json.null() : json.value(number);
}

void fields(base::JsonWriter& json, const Communicator& communicator) {
  json.field("id", communicator.id);
  json.field("name", communicator.name);
  json.field("made_by", communicator.made_by);
  number_or_null(json, "parent", communicator.parent);
  if (communicator.internal) json.field("internal", communicator.internal);
  if (communicator.instances != 1) json.field("instances", communicator.instances);
  json.field("world_ranks", communicator.world_ranks);
  if (!communicator.remote_world_ranks.empty())
    json.field("remote_world_ranks", communicator.remote_world_ranks);
}

void fields(base::JsonWriter& json, const PerformanceVariable& variable) {
  json.field("name", variable.name);
  json.field("description", variable.description);
  json.field("bound_to", variable.bound_to);
  json.field("rank", variable.rank);
  json.field("values", variable.values);
}

void fields(base::JsonWriter& json, const MessageSizes& sizes) {
  json.field("class", sizes.class_name);
  json.field("hidden", sizes.hidden);
  json.field("size", sizes.size);
  json.field("messages", sizes.messages);
  if (!sizes.bin_low.empty()) {
    json.field("bin_low", sizes.bin_low);
    json.field("bin_messages", sizes.bin_messages);
  }
}

void fields(base::JsonWriter& json, const CallSite& site) {
  json.field("id", site.id);
  json.field("module", site.module);
  if (!site.build_id.empty()) json.field("build_id", site.build_id);
  json.field("offset", site.offset);
  if (!site.function.empty()) json.field("function", site.function);
  if (!site.file.empty()) json.field("file", site.file);
  if (site.line != 0) json.field("line", site.line);
}

void fields(base::JsonWriter& json, const CallDurations& durations) {
  json.field("function", durations.function);
  json.field("site", durations.site);
  json.field("low_ns", durations.low_ns);
  json.field("calls", durations.calls);
}

void fields(base::JsonWriter& json, const CallTimes& calls) {
  json.field("function", calls.function);
  json.field("site", calls.site);
  number_or_null(json, "communicator", calls.communicator);
  if (!calls.phase.empty()) json.field("phase", calls.phase);
  json.field("rank", calls.rank);
  json.field("calls", calls.calls);
  json.field("total_ns", calls.total_ns);
  json.field("shortest_ns", calls.shortest_ns);
  json.field("longest_ns", calls.longest_ns);
  json.field("bytes", calls.bytes);
  if (!calls.estimated.empty()) json.field("estimated", calls.estimated);
}

// The rows of one block: positions in the columns of a table of pairs.
using Rows = std::span<const std::size_t>;

void fields(base::JsonWriter& json, const CallWaits& waits, Rows rows) {
  json.field("kind", waits.kind);
  json.field("function", waits.function);
  json.field("site", waits.site);
  number_or_null(json, "communicator", waits.communicator);
  if (!waits.phase.empty()) json.field("phase", waits.phase);
  column(json, "rank", rows, [&](std::size_t row) { return waits.rank[row]; });
  column(json, "awaited", rows, [&](std::size_t row) { return waits.awaited[row]; });
  column(json, "waits", rows, [&](std::size_t row) { return waits.waits[row]; });
  column(json, "total_ns", rows, [&](std::size_t row) { return waits.total_ns[row]; });
  column(json, "longest_ns", rows, [&](std::size_t row) { return waits.longest_ns[row]; });
}

void fields(base::JsonWriter& json, const Traffic& traffic, Rows rows) {
  json.field("class", traffic.class_name);
  json.field("hidden", traffic.hidden);
  json.field("communicator", traffic.communicator);
  if (!traffic.phase.empty()) json.field("phase", traffic.phase);
  column(json, "source", rows, [&](std::size_t row) { return traffic.source[row]; });
  column(json, "destination", rows, [&](std::size_t row) { return traffic.destination[row]; });
  column(json, "bytes", rows, [&](std::size_t row) { return traffic.bytes[row]; });
  column(json, "messages", rows, [&](std::size_t row) { return traffic.messages[row]; });
}

void fields(base::JsonWriter& json, const PathPart& part) {
  json.field("function", part.function);
  json.field("site", part.site);
  number_or_null(json, "communicator", part.communicator);
  if (!part.phase.empty()) json.field("phase", part.phase);
  if (part.program) json.field("program", part.program);
  json.field("rank", part.rank);
  json.field("stretches", part.stretches);
  json.field("total_ns", part.total_ns);
  if (part.program) return;
  if (!part.calls.empty()) json.field("calls", part.calls);
  if (!part.bytes.empty()) json.field("bytes", part.bytes);
}

void fields(base::JsonWriter& json, const WindowRanks& ranks) {
  json.field("rank", ranks.rank);
  json.field("total_ns", ranks.total_ns);
}

void fields(base::JsonWriter& json, const WindowCalls& calls) {
  json.field("function", calls.function);
  number_or_null(json, "communicator", calls.communicator);
  json.field("rank", calls.rank);
  json.field("calls", calls.calls);
  json.field("total_ns", calls.total_ns);
  json.field("waiting_ns", calls.waiting_ns);
  json.field("bytes", calls.bytes);
}

// The rows of a table of pairs, sorted by them.
std::vector<std::size_t> rows_by_pair(const std::vector<std::int64_t>& first,
                                      const std::vector<std::int64_t>& second) {
  std::vector<std::size_t> rows(first.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto before = [&](std::size_t left, std::size_t right) {
    return std::pair(first[left], second[left]) < std::pair(first[right], second[right]);
  };
  if (!std::is_sorted(rows.begin(), rows.end(), before)) {
    std::sort(rows.begin(), rows.end(), before);
  }
  return rows;
}

template <typename Block>
bool columns_agree(const Block& block) {
  return !unequal_columns(block);
}

bool columns_agree(const CriticalPath& path) {
  const auto agree = [](const auto& block) { return columns_agree(block); };
  return agree(path.ranks) && std::all_of(path.parts.begin(), path.parts.end(), agree) &&
         std::all_of(path.calls.begin(), path.calls.end(), agree);
}

bool columns_agree(const MessageSizes& sizes) {
  return sizes.size.size() == sizes.messages.size() &&
         sizes.bin_low.size() == sizes.bin_messages.size();
}

// Writes nothing if nothing counted.
void fields(base::JsonWriter& json, const Totals& totals) {
  if (totals.witness.empty() && totals.messages == 0 && totals.bytes == 0) return;
  json.field("bytes", totals.bytes);
  json.field("messages", totals.messages);
  json.field("witness", totals.witness);
}

void fields(base::JsonWriter& json, const std::vector<PairCount>& pairs) {
  column(json, "source", pairs, [](const PairCount& pair) { return pair.source; });
  column(json, "destination", pairs, [](const PairCount& pair) { return pair.destination; });
  column(json, "bytes", pairs, [](const PairCount& pair) { return pair.bytes; });
  column(json, "messages", pairs, [](const PairCount& pair) { return pair.messages; });
}

void fields(base::JsonWriter& json, const std::vector<PairDifference>& pairs) {
  using Pair = const PairDifference&;
  column(json, "source", pairs, [](Pair pair) { return pair.source; });
  column(json, "destination", pairs, [](Pair pair) { return pair.destination; });
  column(json, "sent_bytes", pairs, [](Pair pair) { return pair.sent_bytes; });
  column(json, "sent_messages", pairs, [](Pair pair) { return pair.sent_messages; });
  column(json, "received_bytes", pairs, [](Pair pair) { return pair.received_bytes; });
  column(json, "received_messages", pairs, [](Pair pair) { return pair.received_messages; });
}

void fields(base::JsonWriter& json, const NotVisible& gap) {
  number_or_null(json, "communicator", gap.communicator);
  json.field("function", gap.function);
  json.field("module", gap.module);
  json.field("calls", gap.calls);
  json.field("reason", gap.reason);
}

void fields(base::JsonWriter& json, const StepDown& step) {
  json.field("source", step.source);
  json.field("reason", step.reason);
}

void fields(base::JsonWriter& json, const TraceLoss& loss) {
  json.field("reason", loss.reason);
  if (!loss.error.empty()) json.field("error", loss.error);
  json.field("ranks", loss.ranks);
  json.field("records", loss.records);
}

void fields(base::JsonWriter& json, const WaitCoverage& waits) {
  json.field("threshold_ns", waits.threshold_ns);
  json.field("left_out", waits.left_out);
  json.field("left_out_ns", waits.left_out_ns);
  json.field("unresolved", waits.unresolved);
  json.field("unresolved_ns", waits.unresolved_ns);
}

template <typename Part>
void object(base::JsonWriter& json, std::string_view name, const Part& part) {
  json.object(name, [&] { fields(json, part); });
}

template <typename Part>
void objects(base::JsonWriter& json, std::string_view name, const std::vector<Part>& parts) {
  json.objects(name, parts, [&](const Part& part) { fields(json, part); });
}

void fields(base::JsonWriter& json, const CriticalPath& path) {
  json.field("window", path.window);
  json.field("elapsed_ns", path.elapsed_ns);
  json.field("jumps", path.jumps);
  json.field("error_ns", path.error_ns);
  objects(json, "parts", path.parts);
  if (path.ranks.rank.empty()) return;
  json.field("openings", path.openings);
  object(json, "ranks", path.ranks);
  objects(json, "calls", path.calls);
}

void fields(base::JsonWriter& json, const Coverage& coverage) {
  json.field("verdict", coverage.verdict);
  object(json, "sent", coverage.sent);
  object(json, "received", coverage.received);
  json.object("unreceived", [&] {
    fields(json, coverage.unreceived);
    if (!coverage.unreceived_pairs.empty()) object(json, "pairs", coverage.unreceived_pairs);
  });
  if (!coverage.differences.empty()) object(json, "differences", coverage.differences);
  objects(json, "not_visible", coverage.not_visible);
  if (!coverage.steps_down.empty()) objects(json, "steps_down", coverage.steps_down);
  if (coverage.lost_messages != 0) json.field("lost_messages", coverage.lost_messages);
  if (coverage.untimed_calls != 0) json.field("untimed_calls", coverage.untimed_calls);
  if (coverage.waits) object(json, "waits", *coverage.waits);
  if (!coverage.waits_unknown.empty()) json.field("waits_unknown", coverage.waits_unknown);
  if (!coverage.trace_lost.empty()) objects(json, "trace_lost", coverage.trace_lost);
  if (!coverage.cut_short.empty()) json.field("cut_short", coverage.cut_short);
  if (!coverage.notes.empty()) json.field("notes", coverage.notes);
}

template <typename Block>
void write_block(base::JsonWriter& json, const Block& block) {
  json.line_break();
  json.object([&] { fields(json, block); });
}

// A table of pairs, split if it is long.
template <typename Block>
void write_blocks(base::JsonWriter& json, const Block& block, Rows rows) {
  for (; !rows.empty(); rows = rows.subspan(std::min(rows.size(), kBlockRows))) {
    json.line_break();
    json.object([&] { fields(json, block, rows.first(std::min(rows.size(), kBlockRows))); });
  }
}

}  // namespace

// The lists of blocks, in the order of the file.
enum class Writer::StreamPart { kNothing, kHeader, kCalls, kWaits, kPath, kTraffic, kMessageSizes };

// One line per top-level member and per block keeps the file readable for people and diff.
struct Writer::Stream {
  using Part = StreamPart;

  base::AtomicFile file;
  base::JsonWriter json{file};
  Part part = Part::kNothing;

  // Goes on to a later part: closes the list of the one before, and opens the lists up to `next`.
  // Every profile lists traffic and message sizes, even if there are none.
  void go_on_to(Part next) {
    if (part == next) return;
    if (part != Part::kHeader) json.close_list();
    if (next == Part::kCalls) open_list("calls");
    if (next == Part::kWaits) open_list("waits");
    if (next == Part::kPath) open_list("path");
    if (part < Part::kTraffic && next >= Part::kTraffic) {
      open_list("traffic");
      if (next > Part::kTraffic) json.close_list();
    }
    if (next == Part::kMessageSizes) open_list("message_sizes");
    part = next;
  }

 private:
  void open_list(std::string_view name) {
    json.line_break();
    json.key(name);
    json.open_list();
  }
};

Writer::Writer() = default;
Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

// Runs one step; any failure closes the writer. "out of memory" is short enough for std::string's
// inline storage, so reporting it needs no memory.
template <typename Step>
base::Status Writer::guarded(Step step) {
  try {
    base::Status status = step();
    if (!status) stream_.reset();
    return status;
  } catch (const std::bad_alloc&) {
    stream_.reset();
    return base::Error{"out of memory"};
  } catch (const std::exception&) {
    stream_.reset();
    return base::Error{"writer failed"};
  }
}

base::Status Writer::open(const std::string& path) {
  return guarded([&] {
    stream_ = std::make_unique<Stream>();
    return stream_->file.open(path, base::AtomicFile::Existing::kReplace);
  });
}

base::Status Writer::begin(const Header& header) {
  return guarded([&]() -> base::Status {
    if (!stream_ || stream_->part != Stream::Part::kNothing) {
      return base::Error{"profile writer: begin() comes once, right after open()"};
    }
    base::JsonWriter& json = stream_->json;
    json.open_object();
    json.field("schema", kSchema);
    json.field("world_size", header.world_size);
    json.line_break();
    object(json, "application", header.application);
    json.line_break();
    object(json, "mpi", header.mpi);
    json.field("source", header.source);
    json.line_break();
    objects(json, "ranks", header.ranks);
    json.line_break();
    objects(json, "communicators", header.communicators);
    if (!header.performance_variables.empty()) {
      json.line_break();
      objects(json, "performance_variables", header.performance_variables);
    }
    if (!header.call_sites.empty()) {
      json.line_break();
      objects(json, "call_sites", header.call_sites);
    }
    if (!header.call_durations.empty()) {
      json.line_break();
      objects(json, "call_durations", header.call_durations);
    }
    stream_->part = Stream::Part::kHeader;
    return base::Done{};
  });
}

// Goes on to the part to which the block belongs, and writes it there. `name`: of the block's type.
template <typename Block, typename Write>
base::Status Writer::add_to(StreamPart part, const char* name, const Block& block, Write write) {
  return guarded([&]() -> base::Status {
    if (!stream_ || stream_->part == StreamPart::kNothing || stream_->part > part) {
      return base::Error{std::string("profile writer: add(") + name +
                         ") comes after begin() and before any later part"};
    }
    if (!columns_agree(block)) {
      return base::Error{std::string("profile writer: columns of ") + name + " differ in length"};
    }
    stream_->go_on_to(part);
    write(stream_->json);
    return base::Done{};
  });
}

base::Status Writer::add(const CallTimes& calls) {
  return add_to(StreamPart::kCalls, "CallTimes", calls,
                [&](base::JsonWriter& json) { write_block(json, calls); });
}

base::Status Writer::add(const CallWaits& waits) {
  return add_to(StreamPart::kWaits, "CallWaits", waits, [&](base::JsonWriter& json) {
    write_blocks(json, waits, rows_by_pair(waits.rank, waits.awaited));
  });
}

base::Status Writer::add(const CriticalPath& path) {
  return add_to(StreamPart::kPath, "CriticalPath", path,
                [&](base::JsonWriter& json) { write_block(json, path); });
}

base::Status Writer::add(const Traffic& traffic) {
  return add_to(StreamPart::kTraffic, "Traffic", traffic, [&](base::JsonWriter& json) {
    write_blocks(json, traffic, rows_by_pair(traffic.source, traffic.destination));
  });
}

base::Status Writer::add(const MessageSizes& sizes) {
  return add_to(StreamPart::kMessageSizes, "MessageSizes", sizes,
                [&](base::JsonWriter& json) { write_block(json, sizes); });
}

base::Status Writer::finish(const Coverage& coverage) {
  return guarded([&]() -> base::Status {
    if (!stream_ || stream_->part == Stream::Part::kNothing) {
      return base::Error{"profile writer: finish() comes after begin()"};
    }
    base::JsonWriter& json = stream_->json;
    stream_->go_on_to(Stream::Part::kMessageSizes);
    json.close_list();
    json.line_break();
    json.object("coverage", [&] { fields(json, coverage); });
    json.close_object();
    json.line_break();
    json.finish();
    base::Status status = stream_->file.commit();
    stream_.reset();
    return status;
  });
}

base::Status write_profile(const Profile& profile, const std::string& path) {
  Writer writer;
  if (base::Status status = writer.open(path); !status) return status;
  if (base::Status status = writer.begin(profile); !status) return status;
  for (const CallTimes& calls : profile.calls) {
    if (base::Status status = writer.add(calls); !status) return status;
  }
  for (const CallWaits& waits : profile.waits) {
    if (base::Status status = writer.add(waits); !status) return status;
  }
  for (const CriticalPath& path : profile.path) {
    if (base::Status status = writer.add(path); !status) return status;
  }
  for (const Traffic& traffic : profile.traffic) {
    if (base::Status status = writer.add(traffic); !status) return status;
  }
  for (const MessageSizes& sizes : profile.message_sizes) {
    if (base::Status status = writer.add(sizes); !status) return status;
  }
  return writer.finish(profile.coverage);
}

}  // namespace fathom::profile
