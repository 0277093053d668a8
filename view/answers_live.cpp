// SPDX-License-Identifier: BSD-3-Clause
// The answers of the page Live: what a running job does, and did in the last ten minutes.
#include <charconv>

#include "view/session.h"

namespace fathom::view {
namespace {

constexpr char kNotLive[] =
    "this run is not watched: it has ended, or was started without fathom run --live";

// Seconds since 1970, with a fraction.
base::Result<double> time_of(const Query& query, const std::string& name, double otherwise) {
  if (!query.has(name)) return otherwise;
  const std::string text = query.text(name);
  double time_s = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), time_s);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size() && time_s >= 0 &&
      time_s < 1e15)
    return time_s;
  return base::Error{"'" + name + "' must be a time in seconds"};
}

}  // namespace

Reply answer_live(Session& session, const Query& query) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  const LiveHistory* const history = (*run)->live();
  if (history == nullptr) return refuse(422, kNotLive);
  const auto since = time_of(query, "since", 0);
  if (!since) return refuse(400, since.error().message);
  Reply reply = json_reply([&](base::JsonWriter& json) { history->write_since(*since, json); });
  reply.lasts = false;
  return reply;
}

Reply answer_live_state(Session& session, const Query& query) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  const LiveHistory* const history = (*run)->live();
  if (history == nullptr) return refuse(422, kNotLive);
  const auto at = time_of(query, "at", 1e15);
  if (!at) return refuse(400, at.error().message);
  const auto state = history->state_at(*at);
  if (!state) return refuse(422, "no sample of the job has come yet");
  Reply reply = json_reply([&](base::JsonWriter& json) {
    json.key("state");
    json.raw(*state);
  });
  reply.lasts = false;
  return reply;
}

}  // namespace fathom::view
