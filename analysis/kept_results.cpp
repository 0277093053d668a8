// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/kept_results.h"

#include <algorithm>
#include <string_view>

#include "analysis/results_writer.h"
#include "base/byte_source.h"
#include "base/json/reader.h"

namespace fathom::analysis {
namespace {

using base::JsonText;
using base::List;
using base::Object;
using base::Target;

struct Document {
  std::string schema, application, scope;
  std::uint64_t ranks = 0;
  double seconds = 0, all_ranks_seconds = 0;
  KeptResults content;
};

Object target_of(Document& document) {
  KeptResults& content = document.content;
  return Object{
      [&](std::string_view key) -> Target {
        if (key == "schema") return &document.schema;
        if (key == "application") return &document.application;
        if (key == "ranks") return &document.ranks;
        if (key == "seconds") return &document.seconds;
        if (key == "all_ranks_seconds") return &document.all_ranks_seconds;
        if (key == "scope") return JsonText{&document.scope};
        if (key == "findings")
          return List{[&]() -> Target { return JsonText{&content.findings.emplace_back().json}; }};
        if (key == "analyses")
          return Object{[&](std::string_view name) -> Target {
                          return JsonText{&content.sections.emplace_back(name, "").second};
                        },
                        {}};
        if (key == "limits") return &content.limits;
        if (key == "skipped") return &content.skipped;
        return std::monostate();
      },
      {}};
}

Severity severity_named(std::string_view name) {
  for (const Severity severity : {Severity::kCritical, Severity::kWarning}) {
    if (name == name_of(severity)) return severity;
  }
  return Severity::kInfo;
}

// Its place among others, and which analysis made it. False if it does not say: the first
// documents of this schema did not.
bool read_place(KeptFinding& finding) {
  std::string severity;
  double seconds = 0;
  Finding& place = finding.place;
  const Object root{[&](std::string_view key) -> Target {
                      if (key == "kind") return &place.kind;
                      if (key == "analysis") return &place.analysis;
                      if (key == "seconds") return &seconds;
                      if (key == "severity") return &severity;
                      if (key == "strength") return &place.strength;
                      if (key == "culprits") return &place.culprits;
                      return std::monostate();
                    },
                    {}};
  base::MemorySource source(finding.json);
  if (!base::read_json(source, "finding", root, "")) return false;
  if (seconds == seconds) place.seconds = seconds;  // not null
  place.severity = severity_named(severity);
  return !place.analysis.empty();
}

bool is_of_this_run(const Document& document, const Results& results) {
  return document.schema == kSchema && document.scope == "{}" && results.scope.whole() &&
         document.application == results.application &&
         document.ranks == static_cast<std::uint64_t>(results.ranks) &&
         document.seconds == results.seconds &&
         document.all_ranks_seconds == results.all_ranks_seconds;
}

}  // namespace

KeptResults kept_results(const std::string& path, const Results& results) {
  const auto source = base::open_file(path);
  if (!source) return {};
  Document document;
  if (!base::read_json(**source, path, target_of(document), "")) return {};
  if (!is_of_this_run(document, results)) return {};
  KeptResults& kept = document.content;
  if (!std::all_of(kept.findings.begin(), kept.findings.end(), read_place)) return {};
  const auto is_replaced = [&](const std::string& analysis) {
    return std::any_of(results.sections.begin(), results.sections.end(),
                       [&](const NamedSection& section) { return section.name == analysis; });
  };
  std::erase_if(kept.findings,
                [&](const KeptFinding& finding) { return is_replaced(finding.place.analysis); });
  std::erase_if(kept.sections, [&](const auto& section) { return is_replaced(section.first); });
  std::erase_if(kept.skipped, is_replaced);
  return std::move(kept);
}

}  // namespace fathom::analysis
