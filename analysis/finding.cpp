#include "analysis/finding.h"

#include <algorithm>
#include <tuple>

namespace fathom::analysis {

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

void rank_findings(std::vector<Finding>& findings) {
  const auto worse = [](const Finding& finding) {
    return std::tuple(finding.seconds.value_or(-1), finding.severity, finding.strength);
  };
  std::stable_sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) {
    if (worse(a) != worse(b)) return worse(a) > worse(b);
    return std::tie(a.kind, a.culprits) < std::tie(b.kind, b.culprits);
  });
}

}  // namespace fathom::analysis
