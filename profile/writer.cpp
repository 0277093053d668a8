#include "profile/writer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

// A failed assertion would end the user's job; the order of calls is kept by Writer's own checks.
#define RAPIDJSON_ASSERT(condition) static_cast<void>(0)
#include <rapidjson/writer.h>

#include "profile/atomic_file.h"
#include "profile/utf8.h"

namespace fathom::profile {
namespace {

// What RapidJSON asks of a stream to write to.
class JsonOutput {
 public:
  using Ch = char;
  explicit JsonOutput(AtomicFile& file) : file_(file) {}
  void Put(char byte) { file_.put(byte); }
  void Flush() {}

 private:
  AtomicFile& file_;
};

// RapidJSON's own allocator hands a null pointer on to code that does not look at it.
struct ThrowingAllocator {
  void* Malloc(std::size_t size) { return Realloc(nullptr, 0, size); }
  void* Realloc(void* memory, std::size_t, std::size_t size) {
    void* moved = std::realloc(memory, size);
    if (moved == nullptr) throw std::bad_alloc();
    return moved;
  }
  static void Free(void* memory) { std::free(memory); }
};

using Json =
    rapidjson::Writer<JsonOutput, rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingAllocator>;

// One overload of `value` for each type that a profile holds.
void value(Json& json, std::int64_t number) { json.Int64(number); }
void value(Json& json, std::uint64_t number) { json.Uint64(number); }
void value(Json& json, bool flag) { json.Bool(flag); }
void value(Json& json, double number) {  // JSON knows neither NaN nor infinity
  std::isfinite(number) ? json.Double(number) : json.Null();
}
void value(Json& json, const std::string& text) {
  const std::string clean = as_utf8(text);
  json.String(clean.data(), static_cast<rapidjson::SizeType>(clean.size()));
}
void key(Json& json, std::string_view name) {
  json.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
}

template <typename T>
void value(Json& json, const std::vector<T>& items) {
  json.StartArray();
  for (const T& item : items) value(json, item);
  json.EndArray();
}

template <typename T>
void member(Json& json, std::string_view name, const T& content) {
  key(json, name);
  value(json, content);
}
void member(Json& json, std::string_view name, const char* content) = delete;  // would become a bool

// A list of the numbers that `field` reads from each item: one column of a table.
template <typename Items, typename Field>
void column(Json& json, std::string_view name, const Items& items, Field field) {
  key(json, name);
  json.StartArray();
  for (const auto& item : items) value(json, field(item));
  json.EndArray();
}

void value(Json& json, const Application& application) {
  json.StartObject();
  member(json, "executable", application.executable);
  member(json, "arguments", application.arguments);
  member(json, "started_unix_ns", application.started_unix_ns);
  member(json, "seconds", application.seconds);
  json.EndObject();
}

void value(Json& json, const MpiLibrary& mpi) {
  json.StartObject();
  member(json, "library", mpi.library);
  member(json, "version", mpi.version);
  member(json, "pml", mpi.pml);
  json.EndObject();
}

void value(Json& json, const Rank& rank) {
  json.StartObject();
  member(json, "rank", rank.rank);
  member(json, "host", rank.host);
  member(json, "pid", rank.pid);
  member(json, "seconds", rank.seconds);
  if (!rank.world.empty()) member(json, "world", rank.world);
  if (rank.rank_in_world != kNone) member(json, "rank_in_world", rank.rank_in_world);
  if (!rank.reported) member(json, "reported", rank.reported);
  json.EndObject();
}

void number_or_null(Json& json, std::string_view name, std::int64_t number) {
  key(json, name);
  if (number == kNone) {
    json.Null();
  } else {
    json.Int64(number);
  }
}

void value(Json& json, const Communicator& communicator) {
  json.StartObject();
  member(json, "id", communicator.id);
  member(json, "name", communicator.name);
  member(json, "made_by", communicator.made_by);
  number_or_null(json, "parent", communicator.parent);
  if (communicator.internal) member(json, "internal", communicator.internal);
  if (communicator.instances != 1) member(json, "instances", communicator.instances);
  member(json, "world_ranks", communicator.world_ranks);
  if (!communicator.remote_world_ranks.empty()) {
    member(json, "remote_world_ranks", communicator.remote_world_ranks);
  }
  json.EndObject();
}

void value(Json& json, const PerformanceVariable& variable) {
  json.StartObject();
  member(json, "name", variable.name);
  member(json, "description", variable.description);
  member(json, "bound_to", variable.bound_to);
  member(json, "rank", variable.rank);
  member(json, "values", variable.values);
  json.EndObject();
}

void value(Json& json, const MessageSizes& sizes) {
  json.StartObject();
  member(json, "class", sizes.class_name);
  member(json, "hidden", sizes.hidden);
  member(json, "size", sizes.size);
  member(json, "messages", sizes.messages);
  if (!sizes.bin_low.empty()) {
    member(json, "bin_low", sizes.bin_low);
    member(json, "bin_messages", sizes.bin_messages);
  }
  json.EndObject();
}

// Rows of one block: `rows` are positions in the columns of `traffic`.
struct Block {
  const Traffic& traffic;
  const std::size_t* first;
  const std::size_t* last;
  const std::size_t* begin() const { return first; }
  const std::size_t* end() const { return last; }
};

void value(Json& json, const Block& block) {
  const Traffic& traffic = block.traffic;
  json.StartObject();
  member(json, "class", traffic.class_name);
  member(json, "hidden", traffic.hidden);
  member(json, "communicator", traffic.communicator);
  if (!traffic.phase.empty()) member(json, "phase", traffic.phase);
  column(json, "source", block, [&](std::size_t row) { return traffic.source[row]; });
  column(json, "destination", block, [&](std::size_t row) { return traffic.destination[row]; });
  column(json, "bytes", block, [&](std::size_t row) { return traffic.bytes[row]; });
  column(json, "messages", block, [&](std::size_t row) { return traffic.messages[row]; });
  json.EndObject();
}

std::vector<std::size_t> rows_by_pair(const Traffic& traffic) {
  std::vector<std::size_t> rows(traffic.source.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto before = [&](std::size_t left, std::size_t right) {
    return std::pair(traffic.source[left], traffic.destination[left]) <
           std::pair(traffic.source[right], traffic.destination[right]);
  };
  if (!std::is_sorted(rows.begin(), rows.end(), before)) {
    std::sort(rows.begin(), rows.end(), before);
  }
  return rows;
}

bool columns_agree(const Traffic& traffic) {
  const std::size_t rows = traffic.source.size();
  return traffic.destination.size() == rows && traffic.bytes.size() == rows &&
         traffic.messages.size() == rows;
}

bool columns_agree(const MessageSizes& sizes) {
  return sizes.size.size() == sizes.messages.size() &&
         sizes.bin_low.size() == sizes.bin_messages.size();
}

// Totals are an empty object where nothing counted.
void totals_members(Json& json, const Totals& totals) {
  if (totals.witness.empty() && totals.messages == 0 && totals.bytes == 0) return;
  member(json, "bytes", totals.bytes);
  member(json, "messages", totals.messages);
  member(json, "witness", totals.witness);
}

void value(Json& json, const Totals& totals) {
  json.StartObject();
  totals_members(json, totals);
  json.EndObject();
}

void value(Json& json, const std::vector<PairCount>& pairs) {
  json.StartObject();
  column(json, "source", pairs, [](const PairCount& pair) { return pair.source; });
  column(json, "destination", pairs, [](const PairCount& pair) { return pair.destination; });
  column(json, "bytes", pairs, [](const PairCount& pair) { return pair.bytes; });
  column(json, "messages", pairs, [](const PairCount& pair) { return pair.messages; });
  json.EndObject();
}

void value(Json& json, const std::vector<PairDifference>& pairs) {
  using Pair = const PairDifference&;
  json.StartObject();
  column(json, "source", pairs, [](Pair pair) { return pair.source; });
  column(json, "destination", pairs, [](Pair pair) { return pair.destination; });
  column(json, "sent_bytes", pairs, [](Pair pair) { return pair.sent_bytes; });
  column(json, "sent_messages", pairs, [](Pair pair) { return pair.sent_messages; });
  column(json, "received_bytes", pairs, [](Pair pair) { return pair.received_bytes; });
  column(json, "received_messages", pairs, [](Pair pair) { return pair.received_messages; });
  json.EndObject();
}

void value(Json& json, const NotVisible& gap) {
  json.StartObject();
  number_or_null(json, "communicator", gap.communicator);
  member(json, "function", gap.function);
  member(json, "module", gap.module);
  member(json, "calls", gap.calls);
  member(json, "reason", gap.reason);
  json.EndObject();
}

void value(Json& json, const StepDown& step) {
  json.StartObject();
  member(json, "source", step.source);
  member(json, "reason", step.reason);
  json.EndObject();
}

void value(Json& json, const Coverage& coverage) {
  json.StartObject();
  member(json, "verdict", coverage.verdict);
  member(json, "sent", coverage.sent);
  member(json, "received", coverage.received);
  key(json, "unreceived");
  json.StartObject();
  totals_members(json, coverage.unreceived);
  if (!coverage.unreceived_pairs.empty()) member(json, "pairs", coverage.unreceived_pairs);
  json.EndObject();
  if (!coverage.differences.empty()) member(json, "differences", coverage.differences);
  member(json, "not_visible", coverage.not_visible);
  if (!coverage.steps_down.empty()) member(json, "steps_down", coverage.steps_down);
  if (coverage.lost_messages != 0) member(json, "lost_messages", coverage.lost_messages);
  if (!coverage.cut_short.empty()) member(json, "cut_short", coverage.cut_short);
  if (!coverage.notes.empty()) member(json, "notes", coverage.notes);
  json.EndObject();
}

}  // namespace

struct Writer::Stream {
  enum class Part { kNothing, kTraffic, kMessageSizes };

  AtomicFile file;
  JsonOutput output{file};
  Json json{output};
  Part part = Part::kNothing;

  // One line for each top-level member and each block keeps the file readable by people and by diff.
  void new_line() { file.put('\n'); }

  template <typename T>
  void line(std::string_view name, const T& content) {
    new_line();
    member(json, name, content);
  }

  void open_list(std::string_view name, Part next) {
    new_line();
    key(json, name);
    json.StartArray();
    part = next;
  }

  void close_list() { json.EndArray(); }
};

Writer::Writer() = default;
Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

// Runs one step; any failure closes the writer. "out of memory" fits std::string's own storage, so
// that reporting it needs no memory.
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
    return stream_->file.open(path, AtomicFile::Existing::kReplace);
  });
}

base::Status Writer::begin(const Header& header) {
  return guarded([&]() -> base::Status {
    if (!stream_ || stream_->part != Stream::Part::kNothing) {
      return base::Error{"profile writer: begin() comes once, right after open()"};
    }
    Json& json = stream_->json;
    json.StartObject();
    member(json, "schema", std::string(kSchema));
    member(json, "world_size", header.world_size);
    stream_->line("application", header.application);
    stream_->line("mpi", header.mpi);
    member(json, "source", header.source);
    stream_->line("ranks", header.ranks);
    stream_->line("communicators", header.communicators);
    if (!header.performance_variables.empty()) {
      stream_->line("performance_variables", header.performance_variables);
    }
    stream_->open_list("traffic", Stream::Part::kTraffic);
    return base::Done{};
  });
}

base::Status Writer::add(const Traffic& traffic) {
  return guarded([&]() -> base::Status {
    if (!stream_ || stream_->part != Stream::Part::kTraffic) {
      return base::Error{"profile writer: add(Traffic) comes after begin() and before any sizes"};
    }
    if (!columns_agree(traffic)) {
      return base::Error{"profile writer: traffic columns differ in length"};
    }
    const std::vector<std::size_t> rows = rows_by_pair(traffic);
    for (std::size_t first = 0; first < rows.size(); first += kBlockRows) {
      const std::size_t last = std::min(rows.size(), first + kBlockRows);
      stream_->new_line();
      value(stream_->json, Block{traffic, rows.data() + first, rows.data() + last});
    }
    return base::Done{};
  });
}

base::Status Writer::add(const MessageSizes& sizes) {
  return guarded([&]() -> base::Status {
    if (!stream_ || stream_->part == Stream::Part::kNothing) {
      return base::Error{"profile writer: add(MessageSizes) comes after begin()"};
    }
    if (!columns_agree(sizes)) {
      return base::Error{"profile writer: message size columns differ in length"};
    }
    if (stream_->part == Stream::Part::kTraffic) {
      stream_->close_list();
      stream_->open_list("message_sizes", Stream::Part::kMessageSizes);
    }
    stream_->new_line();
    value(stream_->json, sizes);
    return base::Done{};
  });
}

base::Status Writer::finish(const Coverage& coverage) {
  return guarded([&]() -> base::Status {
    if (!stream_ || stream_->part == Stream::Part::kNothing) {
      return base::Error{"profile writer: finish() comes after begin()"};
    }
    stream_->close_list();
    if (stream_->part == Stream::Part::kTraffic) {
      stream_->open_list("message_sizes", Stream::Part::kMessageSizes);
      stream_->close_list();
    }
    stream_->line("coverage", coverage);
    stream_->json.EndObject();
    stream_->new_line();
    base::Status status = stream_->file.commit();
    stream_.reset();
    return status;
  });
}

base::Status write_profile(const Profile& profile, const std::string& path) {
  Writer writer;
  if (base::Status status = writer.open(path); !status) return status;
  if (base::Status status = writer.begin(profile); !status) return status;
  for (const Traffic& traffic : profile.traffic) {
    if (base::Status status = writer.add(traffic); !status) return status;
  }
  for (const MessageSizes& sizes : profile.message_sizes) {
    if (base::Status status = writer.add(sizes); !status) return status;
  }
  return writer.finish(profile.coverage);
}

}  // namespace fathom::profile
