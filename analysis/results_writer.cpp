#include "analysis/results_writer.h"

#include <rapidjson/writer.h>

#include <cmath>
#include <functional>

#include "profile/atomic_file.h"
#include "profile/utf8.h"

namespace fathom::analysis {
namespace {

class Output {
 public:
  using Ch = char;
  explicit Output(std::function<void(char)> put) : put_(std::move(put)) {}
  void Put(char byte) { put_(byte); }
  void Flush() {}

 private:
  std::function<void(char)> put_;
};

class Json {
 public:
  explicit Json(std::function<void(char)> put) : output_(std::move(put)), json_(output_) {}

  void key(const std::string& name) { json_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size())); }
  void value(bool truth) { json_.Bool(truth); }
  void value(std::int64_t number) { json_.Int64(number); }
  void value(std::uint64_t number) { json_.Uint64(number); }
  void value(double number) { std::isfinite(number) ? json_.Double(number) : json_.Null(); }
  void value(const std::string& text) {
    const std::string clean = profile::as_utf8(text);
    json_.String(clean.data(), static_cast<rapidjson::SizeType>(clean.size()));
  }
  void value(const RankPair& pair) {
    object([&] {
      field("source", pair.source);
      field("destination", pair.destination);
    });
  }
  void value(const TimeWindow& window) {
    object([&] {
      field("from_s", window.from_s);
      field("to_s", window.to_s);
    });
  }
  void value(const Value& any) {
    std::visit([&](const auto& held) { value(held); }, any);
  }
  template <typename T>
  void value(const std::vector<T>& list) {
    json_.StartArray();
    for (const T& entry : list) value(entry);
    json_.EndArray();
  }
  template <typename T>
  void value(const std::optional<T>& held) {
    held ? value(*held) : static_cast<void>(json_.Null());
  }

  template <typename T>
  void field(const std::string& name, const T& content) {
    key(name);
    value(content);
  }
  template <typename Body>
  void object(Body body) {
    json_.StartObject();
    body();
    json_.EndObject();
  }
  template <typename List, typename Each>
  void array(const char* name, const List& list, Each each) {
    key(name);
    json_.StartArray();
    for (const auto& entry : list) object([&] { each(entry); });
    json_.EndArray();
  }

 private:
  Output output_;
  rapidjson::Writer<Output> json_;
};

void write_where(Json& json, const Where& where) {
  json.key("where");
  json.object([&] {
    if (!where.class_name.empty()) json.field("class", where.class_name);
    if (!where.function.empty()) json.field("function", where.function);
    if (!where.caller.empty()) json.field("caller", where.caller);
    if (!where.file.empty()) json.field("file", where.file);
    if (where.line > 0) json.field("line", static_cast<std::int64_t>(where.line));
    if (!where.phase.empty()) json.field("phase", where.phase);
    if (where.communicator != profile::kNone) json.field("communicator", where.communicator);
  });
}

void write_finding(Json& json, const Finding& finding) {
  json.field("kind", finding.kind);
  json.field("seconds", finding.seconds);
  json.field("severity", std::string(name_of(finding.severity)));
  json.field("strength", finding.strength);
  json.field("confidence", finding.confidence);
  json.field("count", finding.count);
  json.field("culprits", finding.culprits);
  json.field("victims", finding.victims);
  json.field("pairs", finding.pairs);
  write_where(json, finding.where);
  json.field("windows", finding.windows);
  json.field("summary", finding.summary);
  json.field("advice", finding.advice);
  json.key("evidence");
  json.object([&] {
    for (const Figure& figure : finding.evidence) json.field(figure.name, figure.value);
  });
}

void write_section(Json& json, const Section& section) {
  for (const Figure& figure : section.figures) json.field(figure.name, figure.value);
  for (const Table& table : section.tables) {
    json.key(table.name);
    json.object([&] {
      for (const NamedColumn& column : table.columns) {
        json.key(column.name);
        std::visit([&](const auto& values) { json.value(values); }, column.values);
      }
    });
  }
}

void write_scope(Json& json, const Scope& scope) {
  json.key("scope");
  json.object([&] {
    if (scope.ranks) json.field("ranks", std::vector<std::int64_t>(scope.ranks->begin(), scope.ranks->end()));
    if (scope.from_ns > 0) json.field("from_s", static_cast<double>(scope.from_ns) * 1e-9);
    if (scope.to_ns != Scope{}.to_ns) json.field("to_s", static_cast<double>(scope.to_ns) * 1e-9);
    if (scope.phase) json.field("phase", *scope.phase);
  });
}

void write_document(Json& json, const Results& results) {
  json.object([&] {
    json.field("schema", std::string(kSchema));
    json.field("application", results.application);
    json.field("ranks", results.ranks);
    json.field("seconds", results.seconds);
    json.field("all_ranks_seconds", results.all_ranks_seconds);
    write_scope(json, results.scope);
    json.array("findings", results.findings, [&](const Finding& finding) { write_finding(json, finding); });
    json.key("analyses");
    json.object([&] {
      for (const NamedSection& named : results.sections) {
        json.key(named.name);
        json.object([&] { write_section(json, named.section); });
      }
    });
    json.field("limits", results.limits);
    json.field("skipped", results.skipped);
  });
}

}  // namespace

base::Status write_results(const Results& results, const std::string& path) {
  profile::AtomicFile file;
  if (auto opened = file.open(path, profile::AtomicFile::Existing::kReplace); !opened) return opened;
  Json json([&](char byte) { file.put(byte); });
  write_document(json, results);
  file.put('\n');
  return file.commit();
}

bool print_results(const Results& results, std::FILE* out) {
  Json json([&](char byte) { std::fputc(byte, out); });
  write_document(json, results);
  std::fputc('\n', out);
  return std::fflush(out) == 0 && !std::ferror(out);
}

bool print_section(const Section& section, const char* schema, std::FILE* out) {
  Json json([&](char byte) { std::fputc(byte, out); });
  json.object([&] {
    json.field("schema", std::string(schema));
    write_section(json, section);
  });
  std::fputc('\n', out);
  return std::fflush(out) == 0 && !std::ferror(out);
}

}  // namespace fathom::analysis
