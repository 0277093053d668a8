// SPDX-License-Identifier: BSD-3-Clause
// The answers of the page Network: the simulator makes them (cli/runs/network_tool.h).
#include "profile/pair_sums.h"
#include "view/session.h"

namespace fathom::view {
namespace {

// What was sent in the window that is asked about, of the class that is; nothing: no window is.
base::Result<std::optional<std::vector<profile::PairCount>>> window_traffic(ViewedRun& run,
                                                                            const Query& query,
                                                                            const Tools& tools) {
  using Traffic = std::optional<std::vector<profile::PairCount>>;
  if (!query.has("from") && !query.has("to")) return Traffic();
  auto scope = query.scope(tools);
  if (!scope) return scope.error();
  const auto loaded = run.loaded();
  if (!loaded) return loaded.error();
  // Ranks at either end and classes are chosen from pairs, as without a window: a class that has no messages in this
  // part is no mistake.
  profile::Selection chosen;
  if (!scope->classes.empty()) chosen.classes.emplace(scope->classes.begin(), scope->classes.end());
  scope->classes.clear();
  scope->ranks.reset();
  const auto part = analysis::profile_of_part(**loaded, *scope);
  if (!part) return part.error();
  return Traffic(profile::sum_pairs(*part, chosen));
}

Reply simulated(Session& session, const Query& query, bool link) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  if (!session.tools.network)
    return refuse(422, "this Fathom was built without the simulator, which computes the loads");
  if (link != query.has("link"))
    return refuse(400, link ? "which link? Its number is the parameter link"
                            : "/api/network/link says what a link carries");
  const auto window = window_traffic(**run, query, session.tools);
  if (!window) return refuse(422, window.error().message);
  const auto object = session.tools.network((*run)->path(), query.parameters(), *window);
  if (!object) return refuse(422, object.error().message);
  Reply reply;
  reply.body = with_schema(*object);
  return reply;
}

}  // namespace

Reply answer_network(Session& session, const Query& query) {
  return simulated(session, query, false);
}
Reply answer_network_link(Session& session, const Query& query) {
  return simulated(session, query, true);
}

}  // namespace fathom::view
