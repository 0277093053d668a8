// SPDX-License-Identifier: BSD-3-Clause
#include "trace/run_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "trace/format/live_file.h"

namespace fathom::trace {
namespace {

namespace fs = std::filesystem;

using Name = std::pair<std::uint32_t, std::uint32_t>;  // job, rank

// JOB and RANK from a file's name.
std::optional<Name> name_of(const fs::path& path) {
  const std::string stem = path.stem();
  char* end = nullptr;
  const unsigned long job = std::strtoul(stem.c_str(), &end, 10);
  if (end == stem.c_str() || *end != '.') return std::nullopt;
  const char* rank_text = end + 1;
  const unsigned long rank = std::strtoul(rank_text, &end, 10);
  if (end == rank_text || *end != '\0') return std::nullopt;
  return Name(static_cast<std::uint32_t>(job), static_cast<std::uint32_t>(rank));
}

struct Paths {
  std::string trace, live;
};

std::map<Name, Paths> find_paths(const fs::path& folder) {
  std::map<Name, Paths> found;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const fs::path& path = entry->path();
    const bool is_trace = path.extension() == ".trace";
    if (!is_trace && path.extension() != ".live") continue;
    const auto name = name_of(path);
    if (!name) continue;
    std::string& place = is_trace ? found[*name].trace : found[*name].live;
    if (place.empty() || path.string() < place) place = path.string();  // "1.0" and "1.00"
  }
  return found;
}

class ProcessOpener {
 public:
  explicit ProcessOpener(ProcessTrace& process)
      : process_(process), facts_(process.definitions.process) {}

  void open(const Paths& paths) {
    if (!paths.trace.empty()) process_.trace = map(paths.trace);
    if (!paths.live.empty()) process_.live = map(paths.live);
    facts_.rank = process_.rank;
    if (process_.trace) open_trace();
    if (process_.live) open_live();
    finish();
  }

 private:
  std::optional<base::MappedFile> map(const std::string& path) {
    auto file = base::MappedFile::open(path);
    if (!file) {
      facts_.problems.push_back(file.error().message);
      return std::nullopt;
    }
    facts_.file_bytes += file->size();
    return std::move(*file);
  }

  void take_problems(std::vector<std::string>& problems) {
    facts_.problems.insert(facts_.problems.end(), problems.begin(), problems.end());
  }

  void open_trace() {
    FrameList frames = find_frames(*process_.trace);
    take_problems(frames.problems);
    facts_.complete = frames.complete;
    for (const IndexEntry& frame : frames.definitions) {
      std::string problem;
      std::size_t size = 0;
      const char* payload = load_frame(*process_.trace, frame, buffer_, size, problem);
      if (payload == nullptr) {
        facts_.problems.push_back(problem);
      } else {
        process_.definitions.add(payload, size);
      }
    }
    for (const IndexEntry& frame : frames.events)
      process_.threads[frame.thread].push_back({frame, 0});
    const auto& header = frames.header;
    if (header && (header->job != process_.job || header->rank != process_.rank)) {
      facts_.problems.push_back(process_.trace->path() + ", byte 12: the file belongs to process " +
                                std::to_string(header->job) + "." + std::to_string(header->rank) +
                                ", not to the one in its name");
    }
    // Both ends of each file, with what the kernel brings along, would be 128 MiB of 1,024 processes.
    process_.trace->drop(0, process_.trace->size());
  }

  void open_live() {
    LiveChunks live = find_chunks(*process_.live);
    take_problems(live.problems);
    if (live.header) facts_.lost_records = std::max(facts_.lost_records, live.header->lost_records);
    for (const LiveChunk& chunk : live.chunks) {
      Piece piece;
      piece.frame = {chunk.offset,
                     chunk.sequence,
                     chunk.first_ticks,
                     chunk.last_ticks,
                     chunk.thread,
                     chunk.records,
                     static_cast<std::uint32_t>(FrameKind::kEvents),
                     0};
      piece.words = chunk.words;
      process_.threads[chunk.thread].push_back(piece);
    }
  }

  // If frames and chunks have the same sequence number, keeps the first that can be read; frames
  // come first.
  void finish() {
    for (auto& [thread, pieces] : process_.threads) {
      std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
        return a.frame.sequence < b.frame.sequence;
      });
      std::size_t kept = 0;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (kept > 0 && pieces[kept - 1].frame.sequence == pieces[i].frame.sequence) {
          if (!can_be_read(pieces[kept - 1])) pieces[kept - 1] = pieces[i];
        } else {
          pieces[kept++] = pieces[i];
        }
      }
      pieces.resize(kept);
      for (const Piece& piece : pieces) facts_.records += piece.frame.records;
    }
    const auto& header = process_.definitions.header;
    if (header) facts_.pid = header->pid;
    if (!header)
      facts_.problems.push_back("rank " + std::to_string(process_.rank) + " left no definitions");
  }

  bool can_be_read(const Piece& piece) {
    if (piece.words != 0) return true;
    std::string problem;
    std::size_t size = 0;
    return load_frame(*process_.trace, piece.frame, buffer_, size, problem) != nullptr;
  }

  ProcessTrace& process_;
  Process& facts_;
  std::vector<char> buffer_;
};

bool holds_anything(const ProcessTrace& process) {
  return process.definitions.header.has_value() || !process.threads.empty();
}

// The job that most processes belong to; spawned jobs have their own traces.
std::uint32_t main_job(const std::map<Name, Paths>& paths) {
  std::map<std::uint32_t, std::size_t> processes;
  for (const auto& [name, files] : paths) ++processes[name.first];
  const auto most =
      std::max_element(processes.begin(), processes.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

}  // namespace

base::Result<std::vector<ProcessTrace>> open_run(const std::string& folder) {
  std::error_code failed;
  const fs::path inner = fs::path(folder) / "trace";
  const fs::path place = fs::is_directory(inner, failed) ? inner : fs::path(folder);
  const std::map<Name, Paths> paths = find_paths(place);
  if (paths.empty()) {
    return base::Error{"there is no trace in '" + folder +
                       "'; name a run directory that fathom run --trace made, or its folder trace"};
  }
  const std::uint32_t job = main_job(paths);
  std::vector<ProcessTrace> processes;
  std::string problem;
  for (const auto& [name, files] : paths) {
    if (name.first != job) continue;
    ProcessTrace process;
    process.job = name.first;
    process.rank = name.second;
    ProcessOpener(process).open(files);
    if (problem.empty() && !process.definitions.process.problems.empty()) {
      problem = process.definitions.process.problems.front();
    }
    processes.push_back(std::move(process));
  }
  if (std::none_of(processes.begin(), processes.end(), holds_anything)) {
    return base::Error{"no trace file in '" + place.string() +
                       "' can be read: " + (problem.empty() ? "they are empty" : problem)};
  }
  return processes;
}

}  // namespace fathom::trace
