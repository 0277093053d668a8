// SPDX-License-Identifier: BSD-3-Clause
#include "view/session.h"

#include "base/named_rows.h"

namespace fathom::view {
namespace {

constexpr AnswerRow kAnswers[] = {
    {"/api/runs", answer_runs},
    {"/api/meta", answer_meta},
    {"/api/report", answer_report},
    {"/api/analysis", answer_analysis},
    {"/api/findings", answer_findings},
    {"/api/breakdown", answer_breakdown},
    {"/api/functions", answer_functions},
    {"/api/compare", answer_compare},
    {"/api/tile", answer_tile},
    {"/api/strip", answer_strip},
    {"/api/path", answer_path},
    {"/api/phases", answer_phases},
    {"/api/raw", answer_raw},
    {"/api/sites", answer_sites},
    {"/api/messages", answer_messages},
    {"/api/window", answer_window},
    {"/api/matrix", answer_matrix},
    {"/api/calls", answer_calls},
    {"/api/machine", answer_machine},
    {"/api/machine/traffic", answer_machine_traffic},
    {"/api/machine/sizes", answer_machine_sizes},
    {"/api/machine/cards", answer_machine_cards},
    {"/api/network", answer_network},
    {"/api/network/link", answer_network_link},
    {"/api/live", answer_live},
    {"/api/live/state", answer_live_state},
};

}  // namespace

std::span<const AnswerRow> all_answers() { return kAnswers; }

std::optional<Reply> KeptReplies::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  replies_.splice(replies_.begin(), replies_, found->second);
  return found->second->reply;
}

void KeptReplies::keep(const std::string& key, const Reply& reply) {
  // One large answer would push all others out.
  if (reply.body.size() > kLargest) return;
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(key)) return;
  replies_.push_front({key, reply});
  by_key_[key] = replies_.begin();
  bytes_ += size_of(replies_.front());
  while (bytes_ > kMostBytes) {
    const Kept& last = replies_.back();
    bytes_ -= size_of(last);
    by_key_.erase(last.key);
    replies_.pop_back();
  }
}

base::Result<ViewedRun*> run_of(Session& session, const Query& query) {
  const auto number = query.number("run", 0, session.runs.size() - 1);
  if (!number) return number.error();
  return session.runs[*number].get();
}

Reply answer(Session& session, const std::string& path, const Query::Parameters& parameters) {
  for (const AnswerRow& row : all_answers()) {
    if (path != row.path) continue;
    const Query query(parameters);
    const std::string key = query.key(path);
    if (auto kept = session.kept.find(key)) return *kept;
    Reply reply = row.answer(session, query);
    if (reply.lasts && reply.status == 200) session.kept.keep(key, reply);
    return reply;
  }
  return refuse(404, "there is no such answer");
}

}  // namespace fathom::view
