// SPDX-License-Identifier: BSD-3-Clause
#include "view/answers/live_history.h"

#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "live/job_state_json.h"

namespace fathom::view {
namespace {

constexpr int kQuickLevel = 1;

struct JobSums {
  double mpi_s = 0, elapsed_s = 0;
  std::uint64_t sent = 0, sent_bytes = 0;
};

JobSums sums_of(const live::JobState& state) {
  JobSums sums;
  for (const live::RankState& rank : state.ranks) {
    sums.mpi_s += rank.mpi_s;
    sums.elapsed_s += rank.elapsed_s;
    sums.sent += rank.sent;
    sums.sent_bytes += rank.sent_bytes;
  }
  return sums;
}

std::vector<char> compressed(const std::string& text) {
  std::vector<char> bytes(ZSTD_compressBound(text.size()));
  const std::size_t size =
      ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), kQuickLevel);
  bytes.resize(ZSTD_isError(size) ? 0 : size);
  bytes.shrink_to_fit();
  return bytes;
}

std::optional<std::string> expanded(const std::vector<char>& bytes, std::size_t size) {
  std::string text(size, '\0');
  const std::size_t read = ZSTD_decompress(text.data(), size, bytes.data(), bytes.size());
  if (ZSTD_isError(read) || read != size) return std::nullopt;
  return text;
}

std::string document_of(const live::JobState& state, const live::Verdict& verdict) {
  return base::json_text(0, [&](base::JsonWriter& json) {
    live::write_members(state, json);
    json.object("verdict", [&] { live::write_members(verdict, json); });
  });
}

}  // namespace

LiveHistory::LiveHistory(Read read, double interval_s, std::function<bool()> starting)
    : read_(std::move(read)), starting_(std::move(starting)) {
  if (interval_s > 0) thread_ = std::thread([this, interval_s] { keep_sampling(interval_s); });
}

LiveHistory::~LiveHistory() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LiveHistory::keep_sampling(double interval_s) {
  const auto interval = std::chrono::duration<double>(interval_s);
  while (sample()) {
    std::unique_lock lock(mutex_);
    if (stopping_.wait_for(lock, interval, [this] { return stop_; })) return;
  }
}

bool LiveHistory::sample() {
  auto read = read_();
  if (!read && earlier_.ranks.empty() && starting_ && starting_()) return true;
  if (!read || !*read) {
    const std::lock_guard lock(mutex_);
    state_ = read ? "ended" : "unreadable";
    problem_ = read ? "" : read.error().message;
    return false;
  }
  live::JobState now = std::move(**read);
  const live::Verdict verdict = live::judge(now, earlier_);
  Kept kept;
  kept.at_s = now.taken_at_s;
  kept.hung = verdict.hung;
  kept.cause = live::name_of(verdict.cause);
  kept.verdict = verdict.text;
  kept.waiting_ranks = verdict.victims.size();
  const JobSums sums = sums_of(now), before = sums_of(earlier_);
  // A rank that has just appeared brings all it did before; a change of the seen ranks is no rate.
  const double passed_s = now.taken_at_s - earlier_.taken_at_s;
  if (!earlier_.ranks.empty() && earlier_.ranks.size() == now.ranks.size() && passed_s > 0) {
    const double elapsed_s = sums.elapsed_s - before.elapsed_s;
    if (elapsed_s > 0)
      kept.mpi_share = std::clamp((sums.mpi_s - before.mpi_s) / elapsed_s, 0.0, 1.0);
    kept.sent_bytes_per_s = static_cast<double>(sums.sent_bytes - before.sent_bytes) / passed_s;
    kept.sent_per_s = static_cast<double>(sums.sent - before.sent) / passed_s;
  }
  const std::string document = document_of(now, verdict);
  kept.plain_bytes = document.size();
  kept.state = compressed(document);
  earlier_ = std::move(now);
  const std::lock_guard lock(mutex_);
  bytes_ += kept.state.size();
  samples_.push_back(std::move(kept));
  while (samples_.size() > 1 &&
         (bytes_ > kMostBytes || samples_.back().at_s - samples_.front().at_s > kLongest_s)) {
    bytes_ -= samples_.front().state.size();
    samples_.pop_front();
  }
  return true;
}

bool LiveHistory::ended() const {
  const std::lock_guard lock(mutex_);
  return state_ != "running";
}

void LiveHistory::write_since(double since_s, base::JsonWriter& json) const {
  const std::lock_guard lock(mutex_);
  json.field("state", state_);
  json.field("problem", problem_);
  json.field("kept_from_s", samples_.empty() ? 0.0 : samples_.front().at_s);
  std::vector<const Kept*> later;
  for (const Kept& kept : samples_) {
    if (kept.at_s > since_s) later.push_back(&kept);
  }
  const auto column = [&](const char* name, auto member) {
    json.list(name, later, [&](const Kept* kept) { json.value(kept->*member); });
  };
  json.object("samples", [&] {
    column("at_s", &Kept::at_s);
    column("mpi_share", &Kept::mpi_share);
    column("sent_bytes_per_s", &Kept::sent_bytes_per_s);
    column("sent_per_s", &Kept::sent_per_s);
    column("waiting_ranks", &Kept::waiting_ranks);
    column("hung", &Kept::hung);
    column("cause", &Kept::cause);
    column("verdict", &Kept::verdict);
  });
}

std::optional<std::string> LiveHistory::state_at(double time_s) const {
  const std::lock_guard lock(mutex_);
  if (samples_.empty()) return std::nullopt;
  auto found = std::find_if(samples_.rbegin(), samples_.rend(),
                            [&](const Kept& kept) { return kept.at_s <= time_s; });
  if (found == samples_.rend()) found = std::prev(samples_.rend());
  return expanded(found->state, found->plain_bytes);
}

}  // namespace fathom::view
