// SPDX-License-Identifier: BSD-3-Clause
// The answers of the page Network: the simulator makes them (cli/runs/network_tool.h).
#include <optional>
#include <tuple>
#include <utility>

#include "view/session.h"

namespace fathom::view {
namespace {

// All of the window: ranks and classes are chosen from its traffic (cli/runs/network_tool.h), and a class that has no
// messages in it is no mistake.
base::Result<profile::Profile> window_profile(ViewedRun& run, const analysis::Scope& scope) {
  const auto loaded = run.loaded();
  if (!loaded) return loaded.error();
  analysis::Scope window;
  std::tie(window.from_ns, window.to_ns) = std::tie(scope.from_ns, scope.to_ns);
  return analysis::profile_of_part(**loaded, window);
}

Reply simulated(Session& session, const Query& query, bool link) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  if (!session.tools.network)
    return refuse(422, "this Fathom was built without the simulator, which computes the loads");
  if (link != query.has("link"))
    return refuse(400, link ? "name the link by its number, in the parameter link"
                            : "ask /api/network/link what one link carries");
  const auto scope = query.scope(session.tools);
  if (!scope) return refuse(400, scope.error().message);
  std::optional<profile::Profile> window;
  if (!scope->whole_time()) {
    auto part = window_profile(**run, *scope);
    if (!part) return refuse(422, part.error().message);
    window = std::move(*part);
  }
  const auto object =
      session.tools.network((*run)->path(), query.parameters(), window ? &*window : nullptr);
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
