// SPDX-License-Identifier: BSD-3-Clause
// Views and notes that the user keeps with a run, in RUN/view/views.json: what the pages call a state, under a
// name.
//
// The pages' own business: the server checks only that it is JSON of the right form and size.
#pragma once

#include <cstddef>
#include <string>

#include "view/query.h"
#include "view/reply.h"
#include "view/session.h"

namespace fathom::view {

inline constexpr std::size_t kMostSavedBytes = 256 << 10, kMostSavedViews = 1000;

Reply saved_views(Session& session, const Query& query);

// Replaces all of them by those of the body.
Reply save_views(Session& session, const Query& query, const std::string& body);

}  // namespace fathom::view
