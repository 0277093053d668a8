// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/openmetrics.h"

#include <charconv>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"
#include "exporters/common/text_file.h"
#include "profile/summary.h"

namespace fathom::exporters {
namespace {

using profile::Volume;

struct Key {
  std::int64_t rank = 0;
  std::string class_name;
  bool hidden = false;
  auto operator<=>(const Key&) const = default;
};

// Label values: a backslash, a quote and a line break are escaped, and the text must be UTF-8.
std::string quoted(std::string_view text) {
  std::string value = "\"";
  for (const char character : base::as_utf8(text)) {
    if (character == '\n') {
      value += "\\n";
      continue;
    }
    if (character == '\\' || character == '"') value += '\\';
    value += character;
  }
  return value + '"';
}

std::string class_labels(const std::string& class_name, bool hidden) {
  return "class=" + quoted(class_name) + (hidden ? ",hidden=\"true\"" : ",hidden=\"false\"");
}

std::string decimal(double number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  return {digits, end};
}

// Exact, which a double is not.
std::string seconds(std::int64_t ns) {
  const std::string fraction = std::to_string(ns % 1'000'000'000 + 1'000'000'000);
  return std::to_string(ns / 1'000'000'000) + "." + fraction.substr(1);
}

// Messages by length: those of no bytes, of one, and of at most each power of 8, as in the report.
// The same for every run, so that Prometheus can add up several.
class Histogram {
 public:
  static constexpr std::size_t kBuckets = 13;  // the last ends at 8 GiB
  static constexpr std::uint64_t end_of(std::size_t bucket) {
    return bucket == 0 ? 0 : std::uint64_t{1} << (3 * (bucket - 1));
  }

  void add(std::uint64_t size, std::uint64_t messages) {
    std::size_t bucket = 0;
    while (bucket < kBuckets && end_of(bucket) < size) ++bucket;
    messages_[bucket] += messages;
    bytes_ += size * messages;
  }
  // Of unknown lengths, `longest` at most. Bins are between two powers of two, so all are in one
  // bucket, but for messages of exactly the shorter of the two.
  void add_bin(std::uint64_t longest, std::uint64_t messages) {
    add(longest, messages);
    bytes_known_ = false;
  }

  std::uint64_t messages_in(std::size_t bucket) const { return messages_[bucket]; }
  std::uint64_t bytes() const { return bytes_; }
  bool bytes_known() const { return bytes_known_; }

 private:
  std::uint64_t messages_[kBuckets + 1] = {};  // the last: longer
  std::uint64_t bytes_ = 0;
  bool bytes_known_ = true;
};

class Metrics {
 public:
  explicit Metrics(TextFile& file) : file_(file) {}

  void family(std::string_view name, std::string_view type, std::string_view unit,
              std::string_view help) {
    file_ << "# TYPE " << name << ' ' << type << '\n';
    if (!unit.empty()) file_ << "# UNIT " << name << ' ' << unit << '\n';
    file_ << "# HELP " << name << ' ' << help << '\n';
    name_ = name;
  }
  template <typename Value>
  void sample(std::string_view suffix, std::string_view labels, const Value& value) {
    file_ << name_ << suffix;
    if (!labels.empty()) file_ << '{' << labels << '}';
    file_ << ' ' << value << '\n';
  }

 private:
  TextFile& file_;
  std::string name_;
};

void write_run(Metrics& metrics, const profile::Profile& profile) {
  metrics.family("fathom_run", "gauge", "", "Always 1; the labels describe the run.");
  const profile::MpiLibrary& mpi = profile.mpi;
  metrics.sample("",
                 "executable=" + quoted(profile.application.executable) +
                     ",mpi=" + quoted(mpi.library + " " + mpi.version) + ",pml=" + quoted(mpi.pml) +
                     ",source=" + quoted(profile.source),
                 1);
  metrics.family("fathom_run_seconds", "gauge", "seconds",
                 "From MPI_Init to MPI_Finalize, on the rank that took longest.");
  metrics.sample("", "", decimal(profile.application.seconds));
  metrics.family("fathom_run_start_seconds", "gauge", "seconds", "When the run began, Unix time.");
  metrics.sample("", "", seconds(profile.application.started_unix_ns));
  metrics.family("fathom_run_ranks", "gauge", "", "Processes, with those of other worlds.");
  metrics.sample("", "", profile::rank_count(profile));
}

void write_coverage(Metrics& metrics, const profile::Coverage& coverage) {
  metrics.family("fathom_coverage", "gauge", "",
                 "1 for the verdict: whether senders and receivers counted the same messages.");
  std::set<std::string> verdicts = {"exact", "one-witness", "differs", "incomplete"};
  if (!coverage.verdict.empty()) verdicts.insert(coverage.verdict);
  for (const std::string& verdict : verdicts)
    metrics.sample("", "verdict=" + quoted(verdict), verdict == coverage.verdict ? 1 : 0);
  metrics.family("fathom_lost_messages", "counter", "", "Not counted, because no memory was left.");
  metrics.sample("_total", "", coverage.lost_messages);
  metrics.family("fathom_unreceived_messages", "counter", "",
                 "Sent, and still waiting at their receivers at the end.");
  metrics.sample("_total", "", coverage.unreceived.messages);
}

// What each rank sent and received. Families may not be mixed, so there is a pass for each.
void write_traffic(Metrics& metrics, const profile::Profile& profile, const Options& options) {
  std::map<Key, std::pair<Volume, Volume>> ends;  // sent, received
  for (const profile::Traffic& block : profile.traffic) {
    if (!options.selection.admits(block)) continue;
    for (std::size_t row = 0; row < block.source.size(); ++row) {
      Volume& sent = ends[{block.source[row], block.class_name, block.hidden}].first;
      Volume& received = ends[{block.destination[row], block.class_name, block.hidden}].second;
      for (Volume* side : {&sent, &received}) {
        side->bytes += block.bytes[row];
        side->messages += block.messages[row];
      }
    }
  }
  std::unordered_map<std::int64_t, std::string> hosts;
  for (const profile::Rank& rank : profile.ranks) hosts[rank.rank] = rank.host;
  const auto write = [&](bool is_sent, bool is_bytes) {
    const std::string name = std::string("fathom_") + (is_sent ? "sent_" : "received_") +
                             (is_bytes ? "bytes" : "messages");
    metrics.family(name, "counter", is_bytes ? "bytes" : "",
                   std::string(is_bytes ? "Bytes" : "Messages") +
                       (is_sent ? " that the rank sent." : " that the rank received.") +
                       " Hidden: sent by MPI on the program's behalf.");
    for (const auto& [key, volumes] : ends) {
      const Volume& volume = is_sent ? volumes.first : volumes.second;
      if (volume.messages == 0) continue;
      metrics.sample("_total",
                     "rank=\"" + std::to_string(key.rank) +
                         "\",host=" + quoted(profile::shown_host(hosts[key.rank])) + "," +
                         class_labels(key.class_name, key.hidden),
                     is_bytes ? volume.bytes : volume.messages);
    }
  };
  for (const bool is_sent : {true, false}) {
    write(is_sent, true);
    write(is_sent, false);
  }
}

void write_sizes(Metrics& metrics, const profile::Profile& profile, const Options& options) {
  std::map<std::pair<std::string, bool>, Histogram> histograms;
  for (const profile::MessageSizes& sizes : profile.message_sizes) {
    if (!options.selection.admits(sizes)) continue;
    Histogram& histogram = histograms[{sizes.class_name, sizes.hidden}];
    for (std::size_t row = 0; row < sizes.size.size(); ++row)
      histogram.add(sizes.size[row], sizes.messages[row]);
    for (std::size_t bin = 0; bin < sizes.bin_low.size(); ++bin)
      histogram.add_bin(2 * sizes.bin_low[bin] - 1, sizes.bin_messages[bin]);
  }
  metrics.family("fathom_message_size_bytes", "histogram", "bytes", "Lengths of messages.");
  for (const auto& [key, histogram] : histograms) {
    const std::string labels = class_labels(key.first, key.second);
    std::uint64_t so_far = 0;
    for (std::size_t bucket = 0; bucket < Histogram::kBuckets; ++bucket) {
      so_far += histogram.messages_in(bucket);
      metrics.sample("_bucket",
                     labels + ",le=\"" + std::to_string(Histogram::end_of(bucket)) + ".0\"",
                     so_far);
    }
    so_far += histogram.messages_in(Histogram::kBuckets);
    metrics.sample("_bucket", labels + ",le=\"+Inf\"", so_far);
    // Both or neither: the format allows no count without a sum.
    if (!histogram.bytes_known()) continue;
    metrics.sample("_count", labels, so_far);
    metrics.sample("_sum", labels, histogram.bytes());
  }
}

}  // namespace

base::Status export_openmetrics(const profile::Profile& profile, const Options& options,
                                const std::string& path, Notes& notes) {
  TextFile file;
  if (const auto opened = file.open(path, options); !opened) return opened;
  Metrics metrics(file);
  write_run(metrics, profile);
  write_coverage(metrics, profile.coverage);
  write_traffic(metrics, profile, options);
  if (options.selection.communicators || options.selection.phases) {
    notes.push_back("Message sizes are known by class only, so this selection has no histogram.");
  } else {
    write_sizes(metrics, profile, options);
  }
  file << "# EOF\n";
  notes.push_back("Pairs of ranks, communicators and phases are added up: each would be a series.");
  return file.commit();
}

}  // namespace fathom::exporters
