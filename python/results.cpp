// SPDX-License-Identifier: BSD-3-Clause
#include "python/results.h"

#include <pybind11/stl.h>

#include "python/arrays.h"

namespace fathom::python {
namespace {

namespace py = pybind11;

py::object as_object(const analysis::Value& value) {
  return std::visit([](const auto& held) -> py::object { return py::cast(held); }, value);
}

template <typename T>
py::object as_column(std::vector<T>&& values) {
  if constexpr (std::is_arithmetic_v<T>) {
    // Not copied, because tables of large runs have millions of rows.
    return as_array(std::move(values));
  } else {
    return py::cast(values);
  }
}

py::dict as_dict(const std::vector<analysis::Figure>& figures) {
  py::dict made;
  for (const analysis::Figure& figure : figures)
    made[py::str(figure.name)] = as_object(figure.value);
  return made;
}

py::list pairs_of(const std::vector<analysis::RankPair>& pairs) {
  py::list made;
  for (const analysis::RankPair& pair : pairs)
    made.append(py::make_tuple(pair.source, pair.destination));
  return made;
}

py::dict as_dict(const analysis::CallPlace& place) {
  py::dict made;
  made["function"] = place.function;
  made["caller"] = place.caller;
  made["file"] = place.file;
  made["line"] = place.line;
  return made;
}

py::dict as_dict(const analysis::Meanwhile& meanwhile) {
  py::dict made;
  made["rank"] = meanwhile.rank;
  made["seconds"] = meanwhile.seconds;
  made["of_seconds"] = meanwhile.of_seconds;
  made["pieces"] = meanwhile.pieces;
  if (meanwhile.inside) {
    made["inside"] = as_dict(*meanwhile.inside);
  } else {
    made["after"] = as_dict(meanwhile.after);
    made["before"] = as_dict(meanwhile.before);
  }
  made["text"] = analysis::text_of(meanwhile);
  return made;
}

py::dict as_dict(const analysis::Symptom& symptom) {
  py::dict made;
  made["kind"] = symptom.kind;
  made["seconds"] = symptom.seconds;
  made["count"] = symptom.count;
  made["victims"] = symptom.victims;
  made["function"] = symptom.where.function;
  made["caller"] = symptom.where.caller;
  made["file"] = symptom.where.file;
  made["line"] = symptom.where.line;
  made["phase"] = symptom.where.phase;
  made["passed_on"] = symptom.passed_on;
  made["text"] = symptom.text;
  return made;
}

py::dict as_dict(const analysis::Finding& finding) {
  py::dict made;
  made["kind"] = finding.kind;
  made["seconds"] = finding.seconds ? py::cast(*finding.seconds) : py::none();
  made["severity"] = analysis::name_of(finding.severity);
  made["strength"] = finding.strength;
  made["confidence"] = finding.confidence;
  made["count"] = finding.count;
  made["culprits"] = finding.culprits;
  made["victims"] = finding.victims;
  made["pairs"] = pairs_of(finding.pairs);
  made["class"] = finding.where.class_name;
  made["function"] = finding.where.function;
  made["file"] = finding.where.file;
  made["line"] = finding.where.line;
  made["phase"] = finding.where.phase;
  made["communicator"] = finding.where.communicator;
  py::list windows;
  for (const analysis::TimeWindow& window : finding.windows)
    windows.append(py::make_tuple(window.from_s, window.to_s));
  made["windows"] = windows;
  made["meanwhile"] = finding.meanwhile ? py::object(as_dict(*finding.meanwhile)) : py::none();
  py::list symptoms;
  for (const analysis::Symptom& symptom : finding.symptoms) symptoms.append(as_dict(symptom));
  made["symptoms"] = symptoms;
  made["summary"] = finding.summary;
  made["advice"] = finding.advice;
  made["evidence"] = as_dict(finding.evidence);
  return made;
}

}  // namespace

py::dict as_dict(analysis::Section&& section) {
  py::dict tables;
  for (analysis::Table& table : section.tables) {
    py::dict columns;
    for (analysis::NamedColumn& column : table.columns) {
      columns[py::str(column.name)] =
          std::visit([](auto& values) { return as_column(std::move(values)); }, column.values);
    }
    tables[py::str(table.name)] = columns;
  }
  py::dict made;
  made["figures"] = as_dict(section.figures);
  made["tables"] = tables;
  return made;
}

py::list as_list(const std::vector<analysis::Finding>& findings) {
  py::list made;
  for (const analysis::Finding& finding : findings) made.append(as_dict(finding));
  return made;
}

}  // namespace fathom::python
