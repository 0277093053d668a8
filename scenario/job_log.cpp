// SPDX-License-Identifier: BSD-3-Clause
#include "scenario/job_log.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/bundle.h"
#include "base/text_lines.h"

namespace fathom::scenario {
namespace {

constexpr std::size_t kFields = 18;
constexpr std::size_t kFieldsNeeded = 9;

using Fields = std::array<double, kFields>;

// Count of numbers on the line, up to kFields; 0 if a field is not a number.
std::size_t numbers_in(std::string_view line, Fields& fields) {
  std::size_t count = 0;
  const char* at = line.data();
  const char* const end = line.data() + line.size();
  while (count < kFields) {
    while (at != end && (*at == ' ' || *at == '\t')) ++at;
    if (at == end) break;
    const auto [next, failed] = std::from_chars(at, end, fields[count]);
    if (failed != std::errc() || !std::isfinite(fields[count])) return 0;
    if (next != end && *next != ' ' && *next != '\t') return 0;
    at = next;
    ++count;
  }
  return count;
}

}  // namespace

base::Result<std::vector<LoggedJob>> read_job_log(const std::string& path) {
  const auto text = base::read_unpacked_text(path);
  if (!text) return text.error();
  std::vector<LoggedJob> jobs;
  std::size_t number = 0;
  for (const std::string& line : base::split(*text, '\n')) {
    ++number;
    if (line.empty() || line.starts_with(';')) continue;
    const auto error = [&](const std::string& what) {
      return base::Error{path + ':' + std::to_string(number) + ": " + what};
    };
    Fields fields = {};
    if (numbers_in(line, fields) < kFieldsNeeded) {
      return error("is not a job in the Standard Workload Format: expected 18 numbers");
    }
    LoggedJob job{fields[1], fields[3], fields[8], 0};
    const double processors = fields[7] > 0 ? fields[7] : fields[4];
    if (processors <= 0 || job.duration_s < 0) continue;
    if (processors > 1e9) return error("asks for more than 10^9 processors");
    if (job.submit_s < 0) return error("was submitted before the log begins");
    job.ranks = static_cast<std::int64_t>(processors);
    if (job.request_s <= 0) job.request_s = job.duration_s;
    jobs.push_back(job);
  }
  return jobs;
}

}  // namespace fathom::scenario
