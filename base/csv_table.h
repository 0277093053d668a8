// SPDX-License-Identifier: BSD-3-Clause
// A CSV file that appears complete or not at all.
#pragma once

#include <cstdio>
#include <string>

#include "base/atomic_file.h"
#include "base/result.h"
#include "base/text.h"

namespace fathom::base {

// Comma-separated values: names in quotes, numbers with all their digits, unknown values empty.
class CsvTable {
 public:
  CsvTable(const std::string& path, const char* heading)
      : status_(file_.open(path, AtomicFile::Existing::kReplace)) {
    if (status_) file_.append(heading);
  }
  CsvTable& text(const std::string& value) {
    separate();
    put(csv_quoted(value));
    return *this;
  }
  CsvTable& number(double value, bool known = true) {
    separate();
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.15g", value);
    if (known) put(digits);
    return *this;
  }
  void end() {
    put("\n");
    first_ = true;
  }
  Status commit() { return status_ ? file_.commit() : status_; }

 private:
  void separate() {
    if (!first_) put(",");
    first_ = false;
  }
  void put(const std::string& text) {
    if (status_) file_.append(text);
  }

  AtomicFile file_;
  Status status_;
  bool first_ = true;
};

}  // namespace fathom::base
