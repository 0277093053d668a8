// SPDX-License-Identifier: BSD-3-Clause
#include "trace/writer.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trace/communicator_rows.h"
#include "trace/definitions_payload.h"
#include "trace/encode.h"
#include "trace/format/frame_file.h"

namespace fathom::trace {
namespace {

constexpr int kCompressionLevel = 1;
// As long as those of a recorder (kChunkBytes): a reader that merges a whole job holds one for each thread.
constexpr std::size_t kFrameWords = std::size_t{16} << 10;
constexpr std::uint32_t kMostFunctions = kHasSite;

struct ThreadBuffer {
  std::vector<std::uint64_t> words;
  std::uint64_t sequence = 0, first_ns = 0, last_ns = 0;
  std::uint32_t records = 0;
  std::size_t values_at =
      0;  // of the head of a kValues record that has room, if it is the last; 0: none
  EventKind values_of = EventKind::kRequestGiven;
};

// One file per process stays open, so a large job needs more than the usual limit allows.
void allow_open_files(std::size_t processes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= processes + 64) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, processes + 64);
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::optional<base::Error> what_is_wrong(const Definitions& definitions) {
  std::map<std::int64_t, int> ranks;
  for (const Process& process : definitions.processes) {
    if (process.rank < 0 || process.rank > INT32_MAX) {
      return base::Error{"a process has the rank " + std::to_string(process.rank) +
                         ", which no trace can hold"};
    }
    if (++ranks[process.rank] > 1) {
      return base::Error{"rank " + std::to_string(process.rank) +
                         " is listed twice; a trace holds each process once"};
    }
  }
  if (definitions.functions.size() > kMostFunctions) {
    return base::Error{"there are " + std::to_string(definitions.functions.size()) +
                       " functions; a trace can hold " + std::to_string(kMostFunctions)};
  }
  if (definitions.classes.size() > kMaxSmall || definitions.phases.size() > kMaxSmall) {
    return base::Error{
        "there are more classes of messages or phases than a trace can hold (1048575)"};
  }
  return std::nullopt;
}

}  // namespace

struct TraceWriter::State {
  explicit State(const Definitions& given)
      : definitions(given),
        communicators(communicator_rows(given)),
        encoder(definitions, communicators),
        files(given.processes.size()),
        paths(given.processes.size()),
        threads(given.processes.size()) {}

  void fail(const std::string& what, std::size_t process) {
    if (!error) error = base::Error{what + " " + paths[process] + ": " + std::strerror(errno)};
  }

  void open(const std::filesystem::path& folder, std::size_t process) {
    const auto rank = static_cast<std::uint32_t>(definitions.processes[process].rank);
    paths[process] = folder / (std::to_string(kOwnJob) + "." + std::to_string(rank) + ".trace");
    if (!files[process].open(paths[process].c_str(), kOwnJob, rank))
      return fail("cannot make", process);
    put_definitions(definitions_payload(definitions, process, communicators[process]), process);
  }

  void put_definitions(const std::string& payload, std::size_t process) {
    FrameHeader header{};
    header.kind = FrameKind::kDefinitions;
    put(header, payload.data(), payload.size(), process);
  }

  void put(const FrameHeader& header, const void* payload, std::size_t size, std::size_t process) {
    if (!files[process].append(header, payload, size, &compressor)) fail("cannot write", process);
  }

  void flush(std::size_t process, std::uint32_t thread, ThreadBuffer& buffer) {
    FrameHeader header{};
    header.kind = FrameKind::kEvents;
    header.thread = thread;
    header.records = buffer.records;
    header.sequence = buffer.sequence++;
    header.first_ticks = buffer.first_ns;
    header.last_ticks = buffer.last_ns;
    put(header, buffer.words.data(), buffer.words.size() * sizeof(std::uint64_t), process);
    buffer.words.clear();
    buffer.records = 0;
    buffer.values_at = 0;
  }

  void append(std::size_t process, const Event& event) {
    const std::vector<std::uint64_t>& record = encoder.encode(process, event);
    if (record.empty()) return;
    ThreadBuffer& buffer = threads[process][event.thread];
    if (buffer.words.size() + record.size() + 2 > kFrameWords) flush(process, event.thread, buffer);
    if (buffer.words.empty()) buffer.first_ns = buffer.last_ns = event.time_ns;
    if (is_value(event) && join_values(buffer, event, record.back())) return;
    std::uint64_t step_ns = event.time_ns - buffer.last_ns;
    if (step_ns >> 32 != 0) {
      buffer.words.push_back(head(static_cast<std::uint32_t>(RecordKind::kTime), 1, 0, 0));
      buffer.words.push_back(event.time_ns);
      ++buffer.records;
      step_ns = 0;
    }
    buffer.last_ns = event.time_ns;
    buffer.values_at = is_value(event) ? buffer.words.size() : 0;
    buffer.values_of = event.kind;
    buffer.words.insert(buffer.words.end(), record.begin(), record.end());
    buffer.words[buffer.words.size() - record.size()] |= step_ns << kTimeShift;
    ++buffer.records;
  }

  // Whether it is one of several values of the open call, which kValues records hold.
  static bool is_value(const Event& event) {
    return event.kind == EventKind::kRequestGiven || event.kind == EventKind::kMemberGiven;
  }

  // Adds the value to the record before, if that is one of such values with room.
  static bool join_values(ThreadBuffer& buffer, const Event& event, std::uint64_t value) {
    if (buffer.values_at == 0 || buffer.values_of != event.kind || event.time_ns != buffer.last_ns)
      return false;
    std::uint64_t& values = buffer.words[buffer.values_at];
    if ((values >> kWordsShift & kMaxWords) == kMaxWords) return false;
    values += std::uint64_t{1} << kWordsShift;
    buffer.words.push_back(value);
    return true;
  }

  void finish(std::size_t process) {
    for (auto& [thread, buffer] : threads[process]) {
      if (!buffer.words.empty()) flush(process, thread, buffer);
    }
    // A process that was cut short stays that way: without an index.
    if (!definitions.processes[process].complete) return;
    if (!files[process].finish()) fail("cannot write", process);
  }

  Definitions definitions;
  std::vector<ProcessCommunicators> communicators;
  Encoder encoder;
  Compressor compressor{kCompressionLevel};
  std::vector<FrameFile> files;
  std::vector<std::string> paths;
  std::vector<std::map<std::uint32_t, ThreadBuffer>> threads;
  std::optional<base::Error> error;
};

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

base::Result<TraceWriter> TraceWriter::create(const std::string& run_directory,
                                              const Definitions& definitions) {
  namespace fs = std::filesystem;
  if (const auto wrong = what_is_wrong(definitions)) return *wrong;
  const fs::path folder = fs::path(run_directory) / "trace";
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return base::Error{"cannot make '" + folder.string() + "': " + failed.message()};
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".trace" || entry.path().extension() == ".live") {
      return base::Error{"'" + folder.string() + "' holds a trace already (" +
                         entry.path().filename().string() + "); choose another folder"};
    }
  }
  allow_open_files(definitions.processes.size());
  auto state = std::make_unique<State>(definitions);
  for (std::size_t process = 0; process < definitions.processes.size() && !state->error;
       ++process) {
    state->open(folder, process);
  }
  if (state->error) return *state->error;
  return TraceWriter(std::move(state));
}

void TraceWriter::name_sites(std::size_t process, const std::map<std::uint64_t, NamedSite>& sites) {
  if (sites.empty()) return;
  state_->put_definitions(sites_payload(state_->definitions, process, sites), process);
}

void TraceWriter::append(std::size_t process, const Event& event) {
  state_->append(process, event);
}

base::Status TraceWriter::finish() {
  for (std::size_t process = 0; process < state_->files.size(); ++process) state_->finish(process);
  if (state_->error) return *state_->error;
  return base::Done{};
}

}  // namespace fathom::trace
