// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/results/finding.h"

#include <tuple>

#include "base/order/sort_stably.h"
#include "base/text.h"

namespace fathom::analysis {

std::string text_of(const CallPlace& place) {
  if (place.file.empty())
    return place.function + (place.caller.empty() ? "" : " (" + place.caller + ")");
  const std::string line = place.line > 0 ? ":" + std::to_string(place.line) : "";
  return place.function + " (" + place.file.substr(place.file.rfind('/') + 1) + line + ")";
}

std::string place_of(const Meanwhile& meanwhile) {
  if (meanwhile.inside) return "in " + text_of(*meanwhile.inside);
  const std::string after = text_of(meanwhile.after), before = text_of(meanwhile.before);
  const std::string mostly = meanwhile.mostly ? "mostly " : "";
  if (after == before) return mostly + "between two calls of " + after;
  return mostly + "between " + after + " and " + before;
}

std::string amount_of(const Meanwhile& meanwhile) {
  const char *one = meanwhile.inside ? "one call" : "one piece of work",
             *several = meanwhile.inside ? " calls" : " pieces of work";
  return (meanwhile.pieces == 1 ? one : std::to_string(meanwhile.pieces) + several) + ", during " +
         base::duration_text(meanwhile.seconds) + " of the " +
         base::duration_text(meanwhile.of_seconds);
}

std::string text_of(const Meanwhile& meanwhile) {
  return "rank " + std::to_string(meanwhile.rank) + (meanwhile.inside ? " was " : " computed ") +
         place_of(meanwhile) + ": " + amount_of(meanwhile);
}

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::kCritical: return "critical";
    case Severity::kWarning: return "warning";
    case Severity::kInfo: break;
  }
  return "info";
}

Severity severity_of(double score) {
  if (score >= 0.85) return Severity::kCritical;
  return score >= 0.6 ? Severity::kWarning : Severity::kInfo;
}

Severity severity_of_cost(double share) {
  if (share >= 0.1) return Severity::kCritical;
  return share >= 0.03 ? Severity::kWarning : Severity::kInfo;
}

bool ranks_before(const Finding& a, const Finding& b) {
  const auto worse = [](const Finding& finding) {
    // -1, so that a finding of unknown cost comes after one that costs nothing.
    return std::tuple(finding.seconds.value_or(-1), finding.severity, finding.strength);
  };
  if (worse(a) != worse(b)) return worse(a) > worse(b);
  return std::tie(a.kind, a.culprits) < std::tie(b.kind, b.culprits);
}

void rank_findings(std::vector<Finding>& findings) { base::sort_stably(findings, ranks_before); }

}  // namespace fathom::analysis
