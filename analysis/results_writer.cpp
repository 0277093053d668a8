// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/results_writer.h"

#include <algorithm>

#include "analysis/kept_results.h"
#include "base/atomic_file.h"
#include "base/json/writer.h"
#include "base/seconds.h"

namespace fathom::analysis {
namespace {

using base::JsonWriter;

void write_where(base::JsonWriter& json, const Where& where) {
  json.object("where", [&] {
    if (!where.class_name.empty()) json.field("class", where.class_name);
    if (!where.function.empty()) json.field("function", where.function);
    if (!where.caller.empty()) json.field("caller", where.caller);
    if (!where.file.empty()) json.field("file", where.file);
    if (where.line > 0) json.field("line", where.line);
    if (!where.phase.empty()) json.field("phase", where.phase);
    if (where.communicator != profile::kNone) json.field("communicator", where.communicator);
  });
}

void write_place(base::JsonWriter& json, const char* name, const CallPlace& place) {
  json.object(name, [&] {
    json.field("function", place.function);
    if (!place.caller.empty()) json.field("caller", place.caller);
    if (!place.file.empty()) json.field("file", place.file);
    if (place.line > 0) json.field("line", place.line);
  });
}

void write_meanwhile(base::JsonWriter& json, const Meanwhile& meanwhile) {
  json.object("meanwhile", [&] {
    json.field("rank", meanwhile.rank);
    json.field("seconds", meanwhile.seconds);
    json.field("of_seconds", meanwhile.of_seconds);
    json.field("pieces", meanwhile.pieces);
    if (meanwhile.inside) return write_place(json, "inside", *meanwhile.inside);
    write_place(json, "after", meanwhile.after);
    write_place(json, "before", meanwhile.before);
  });
}

void write_symptom(base::JsonWriter& json, const Symptom& symptom) {
  json.field("kind", symptom.kind);
  json.field("seconds", symptom.seconds);
  json.field("count", symptom.count);
  json.field("victims", symptom.victims);
  write_where(json, symptom.where);
  json.field("passed_on", symptom.passed_on);
  json.field("text", symptom.text);
}

void write_finding(base::JsonWriter& json, const Finding& finding) {
  json.field("kind", finding.kind);
  json.field("analysis", finding.analysis);
  json.field("seconds", finding.seconds);
  json.field("severity", name_of(finding.severity));
  json.field("strength", finding.strength);
  json.field("confidence", finding.confidence);
  json.field("count", finding.count);
  json.field("culprits", finding.culprits);
  json.field("victims", finding.victims);
  json.objects("pairs", finding.pairs, [&](const RankPair& pair) {
    json.field("source", pair.source);
    json.field("destination", pair.destination);
  });
  write_where(json, finding.where);
  json.objects("windows", finding.windows, [&](const TimeWindow& window) {
    json.field("from_s", window.from_s);
    json.field("to_s", window.to_s);
  });
  if (finding.meanwhile) write_meanwhile(json, *finding.meanwhile);
  if (!finding.symptoms.empty()) {
    json.objects("symptoms", finding.symptoms,
                 [&](const Symptom& symptom) { write_symptom(json, symptom); });
  }
  json.field("summary", finding.summary);
  json.field("advice", finding.advice);
  json.object("evidence", [&] {
    for (const Figure& figure : finding.evidence) json.field(figure.name, figure.value);
  });
}

void write_scope(base::JsonWriter& json, const Scope& scope) {
  json.object("scope", [&] {
    if (scope.ranks)
      json.field("ranks", std::vector<std::int64_t>(scope.ranks->begin(), scope.ranks->end()));
    if (scope.from_ns > 0) json.field("from_s", base::seconds(scope.from_ns));
    if (scope.to_ns != Scope{}.to_ns) json.field("to_s", base::seconds(scope.to_ns));
    if (!scope.classes.empty()) json.field("classes", scope.classes);
    if (!scope.communicators.empty()) json.field("communicators", scope.communicators);
    if (!scope.phases) return;
    if (scope.phases->size() == 1) json.field("phase", scope.phases->front());
    if (scope.phases->size() > 1) json.field("phases", *scope.phases);
  });
}

// The findings of both, which are each costliest first, in one order.
void write_findings(base::JsonWriter& json, const std::vector<Finding>& findings,
                    const std::vector<KeptFinding>& kept) {
  auto next = kept.begin();
  const auto write_kept_before = [&](const Finding* finding) {
    for (; next != kept.end() && !(finding && ranks_before(*finding, next->place)); ++next)
      json.raw(next->json);
  };
  json.key("findings");
  json.open_list();
  for (const Finding& finding : findings) {
    write_kept_before(&finding);
    json.object([&] { write_finding(json, finding); });
  }
  write_kept_before(nullptr);
  json.close_list();
}

std::vector<std::string> joined(std::vector<std::string> all,
                                const std::vector<std::string>& more) {
  for (const std::string& one : more) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  }
  return all;
}

void write_document(base::JsonWriter& json, const Results& results, const KeptResults& kept) {
  json.object([&] {
    json.field("schema", kSchema);
    json.field("application", results.application);
    json.field("ranks", results.ranks);
    json.field("seconds", results.seconds);
    json.field("all_ranks_seconds", results.all_ranks_seconds);
    write_scope(json, results.scope);
    write_findings(json, results.findings, kept.findings);
    json.object("analyses", [&] {
      for (const auto& [name, section] : kept.sections) {
        json.key(name);
        json.raw(section);
      }
      for (const NamedSection& named : results.sections) {
        json.object(named.name, [&] { write_section(json, named.section); });
      }
    });
    json.field("limits", joined(joined(results.warnings, kept.limits), results.limits));
    json.field("skipped", joined(kept.skipped, results.skipped));
  });
}

void write_section_document(base::JsonWriter& json, const Section& section, const char* schema) {
  json.object([&] {
    json.field("schema", schema);
    write_section(json, section);
  });
}

// Through an AtomicFile, so that a reader never finds half a document.
base::Status write_file(const Results& results, const KeptResults& kept, const std::string& path) {
  base::AtomicFile file;
  if (auto opened = file.open(path, base::AtomicFile::Existing::kReplace); !opened) return opened;
  base::JsonWriter json(file);
  write_document(json, results, kept);
  json.line_break();
  json.finish();
  return file.commit();
}

// `write(json)` writes the document. False if the file could not be written completely.
template <typename Write>
bool print(std::FILE* file, Write write) {
  base::JsonWriter json(file);
  write(json);
  json.line_break();
  json.finish();
  return std::fflush(file) == 0 && !std::ferror(file);
}

}  // namespace

void write_section(base::JsonWriter& json, const Section& section) {
  for (const Figure& figure : section.figures) json.field(figure.name, figure.value);
  for (const Table& table : section.tables) {
    json.object(table.name, [&] {
      for (const NamedColumn& column : table.columns) json.field(column.name, column.values);
    });
  }
}

std::string findings_text(const Results& results) {
  std::string text;
  base::JsonWriter json(text);
  std::size_t number = 0;
  json.list(results.findings, [&](const Finding& finding) {
    json.object([&] {
      json.field("id", number++);
      write_finding(json, finding);
    });
  });
  json.finish();
  return text;
}

base::Status write_results(const Results& results, const std::string& path) {
  return write_file(results, {}, path);
}

base::Status update_results(const Results& results, const std::string& path) {
  return write_file(results, kept_results(path, results), path);
}

std::string results_text(const Results& results) {
  std::string text;
  base::JsonWriter json(text);
  write_document(json, results, {});
  json.finish();
  return text;
}

bool print_results(const Results& results, std::FILE* file) {
  return print(file, [&](base::JsonWriter& json) { write_document(json, results, {}); });
}

std::string section_text(const Section& section, const char* schema) {
  std::string text;
  base::JsonWriter json(text);
  write_section_document(json, section, schema);
  json.line_break();
  json.finish();
  return text;
}

}  // namespace fathom::analysis
