// SPDX-License-Identifier: BSD-3-Clause
// The answers of the page Network: the simulator makes them (cli/runs/network_tool.h).
#include "view/session.h"

namespace fathom::view {
namespace {

Reply simulated(Session& session, const Query& query, bool link) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  if (!session.tools.network)
    return refuse(422, "this Fathom was built without the simulator, which computes the loads");
  if (link != query.has("link"))
    return refuse(400, link ? "which link? Its number is the parameter link"
                            : "/api/network/link says what a link carries");
  const auto object = session.tools.network((*run)->path(), query.parameters());
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
