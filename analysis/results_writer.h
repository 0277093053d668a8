// SPDX-License-Identifier: BSD-3-Clause
// analysis.json, schema fathom-analysis/1 (docs/analysis.schema.json, docs/analysis.md).
//
//   {"schema": "fathom-analysis/1", "application": …, "ranks": …, "seconds": …,
//    "all_ranks_seconds": …, "scope": {…},
//    "findings": [{"kind", "analysis", "seconds", …}, …],    costliest first
//    "analyses": {"structure": {figures and tables}, …},     one object per analysis
//    "limits": [sentences], "skipped": [names]}
//
// A table is an object of columns of equal length. A number that is not finite, and unknown
// seconds, are null. The output is streamed: memory does not grow with the length of the document.
#pragma once

#include <cstdio>
#include <string>

#include "analysis/run.h"
#include "base/json/writer.h"
#include "base/result.h"

namespace fathom::analysis {

inline constexpr char kSchema[] = "fathom-analysis/1";
inline constexpr char kComparisonSchema[] = "fathom-comparison/1";
inline constexpr char kCriticalPathSchema[] = "fathom-critical-path/1";

// An existing file is replaced once everything is written.
base::Status write_results(const Results& results, const std::string& path);

// The same, but keeps what an existing document of the same run holds of other analyses
// (kept_results.h).
base::Status update_results(const Results& results, const std::string& path);

// The same document in memory, without a line end.
std::string results_text(const Results& results);

// The list of findings alone, as in the document, each with its position as `id`.
std::string findings_text(const Results& results);

// Figures and tables of a section, into an object that is open.
void write_section(base::JsonWriter& json, const Section& section);

// False if the file (stdout) could not be written completely.
bool print_results(const Results& results, std::FILE* file);

// {"schema": …, figures and tables}
std::string section_text(const Section& section, const char* schema);

}  // namespace fathom::analysis
