// A CSV file that appears whole or not at all.
#pragma once

#include <cstdio>
#include <string>

#include "base/result.h"
#include "profile/atomic_file.h"

namespace fathom::scenario {

// Comma-separated values: names in quotes, numbers with all their digits, what is not known empty.
class Table {
 public:
  Table(const std::string& path, const char* heading)
      : status_(file_.open(path, profile::AtomicFile::Existing::kReplace)) {
    if (status_) file_.append(heading);
  }
  Table& text(const std::string& value) {
    separate();
    put("\"");
    for (const char c : value) put(c == '"' ? "\"\"" : std::string(1, c));
    put("\"");
    return *this;
  }
  Table& number(double value, bool known = true) {
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
  base::Status commit() { return status_ ? file_.commit() : status_; }

 private:
  void separate() {
    if (!first_) put(",");
    first_ = false;
  }
  void put(const std::string& text) {
    if (status_) file_.append(text);
  }

  profile::AtomicFile file_;
  base::Status status_;
  bool first_ = true;
};

}  // namespace fathom::scenario
