// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/path.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "profiler/waits/packed_bytes.h"

namespace fathom::profiler {
namespace {

struct Token {
  PathWalk walk;
  std::int64_t end_ns = 0;
  std::uint64_t jumps = 0;
  std::uint32_t is_done = 0;
  std::uint32_t processes = 0;  // to which no token came before
};
static_assert(sizeof(Token) <= Gather::kLongestToken);

void keep(std::vector<PathFacts>& all, const PathFacts& facts) noexcept try {
  for (PathFacts& known : all) {
    if (known.window != facts.window) continue;
    known.elapsed_ns += facts.elapsed_ns;
    known.jumps += facts.jumps;
    known.error_ns += facts.error_ns;
    return;
  }
  all.push_back(facts);
} catch (...) {  // no memory: the window has no length
}

}  // namespace

FoundPath find_path(Gather& gather, std::uint32_t rank, TimeLine& own,
                    const std::vector<PathWindow>& windows, Gather::Place last) noexcept {
  FoundPath path;
  for (const PathWindow& window : windows) {
    if (&window != &windows.front()) last = gather.largest({window.stop_ns, rank});
    Token token{{last.value, 0}, last.value, 0, 0, 0};
    bool here = last.where == rank;
    while (here || gather.next_token(&token, sizeof token)) {
      if (token.is_done != 0) {  // at process 0
        keep(path.facts,
             {window.number, token.end_ns - token.walk.now_ns, token.jumps, token.walk.error_ns});
        path.processes += token.processes;
        gather.end_tokens();
        break;
      }
      here = false;
      if (!path.comes_here) token.processes += 1;
      path.comes_here = true;
      if (const std::optional<std::uint32_t> peer = own.follow(token.walk, window)) {
        token.jumps += 1;
        here = *peer == rank;
        if (!here) gather.send_token(static_cast<int>(*peer), &token, sizeof token);
        continue;
      }
      token.is_done = 1;
      here = rank == 0;
      if (!here) gather.send_token(0, &token, sizeof token);
    }
  }
  try {
    path.rows = own.rows();
  } catch (...) {
    path.rows.clear();
  }
  return path;
}

std::vector<char> packed_for_path(const TimeLine& own,
                                  const std::vector<PathWindow>& windows) noexcept try {
  std::vector<char> data;
  put_value(data, std::uint64_t{windows.size()});
  for (const PathWindow& window : windows) put_value(data, window);
  const std::vector<char> line = own.packed();
  data.insert(data.end(), line.begin(), line.end());
  return data;
} catch (...) {
  return {};
}

void PathOfAll::add(std::uint32_t rank, const char* packed, std::size_t size) {
  Bytes bytes(packed, size);
  std::uint64_t count = 0;
  if (!bytes.get(count)) return;
  std::vector<PathWindow> windows;
  PathWindow window;
  while (windows.size() < count && bytes.get(window)) windows.push_back(window);
  processes_.emplace(rank, Process{std::move(windows), TimeLine(bytes.data(), bytes.left())});
}

std::vector<PathFacts> PathOfAll::find() {
  std::vector<PathFacts> facts;
  std::size_t windows = 0;
  for (const auto& [rank, process] : processes_)
    windows = std::max(windows, process.windows.size());
  for (std::size_t number = 0; number < windows; ++number) keep(facts, find_in_window(number));
  return facts;
}

PathFacts PathOfAll::find_in_window(std::size_t number) {
  PathFacts facts;
  auto here = processes_.end();
  PathWalk walk;
  for (auto process = processes_.begin(); process != processes_.end(); ++process) {
    const std::vector<PathWindow>& windows = process->second.windows;
    if (windows.size() <= number) continue;
    if (here != processes_.end() && windows[number].stop_ns <= walk.now_ns) continue;
    here = process;
    walk.now_ns = windows[number].stop_ns;
    facts.window = windows[number].number;
  }
  const std::int64_t end_ns = walk.now_ns;
  while (here != processes_.end() && number < here->second.windows.size()) {
    const std::optional<std::uint32_t> peer =
        here->second.line.follow(walk, here->second.windows[number]);
    if (!peer) break;
    facts.jumps += 1;
    here = processes_.find(*peer);
  }
  facts.elapsed_ns = end_ns - walk.now_ns;
  facts.error_ns = walk.error_ns;
  return facts;
}

}  // namespace fathom::profiler
