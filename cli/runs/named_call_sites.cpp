// SPDX-License-Identifier: BSD-3-Clause
#include "cli/runs/named_call_sites.h"

#include <algorithm>

#include "profile/reader.h"
#include "profile/writer.h"
#include "trace/code/named_call_sites.h"

namespace fathom::cli {
namespace {

class Nothing : public profile::Visitor {
 public:
  void on_traffic(profile::Traffic&) override {}
  void on_message_sizes(profile::MessageSizes&) override {}
};

// Passes every block on to a writer.
class Copy : public profile::Visitor {
 public:
  explicit Copy(profile::Writer& writer) : writer_(writer) {}
  void on_calls(profile::CallTimes& block) override { add(block); }
  void on_waits(profile::CallWaits& block) override { add(block); }
  void on_path(profile::CriticalPath& window) override { add(window); }
  void on_traffic(profile::Traffic& block) override { add(block); }
  void on_message_sizes(profile::MessageSizes& sizes) override { add(sizes); }
  const base::Status& status() const { return status_; }

 private:
  template <typename Block>
  void add(const Block& block) {
    if (status_) status_ = writer_.add(block);
  }

  profile::Writer& writer_;
  base::Status status_ = base::Done{};
};

}  // namespace

base::Status name_call_sites_in(const std::string& profile_path) {
  Nothing nothing;
  auto header = profile::read_profile(profile_path, nothing);
  if (!header) return header.error();
  const auto named = [&] { return std::ranges::count_if(header->call_sites, trace::has_names); };
  const auto before = named();
  trace::name_call_sites(header->call_sites);
  if (named() == before) return base::Done{};
  profile::Writer writer;
  if (base::Status status = writer.open(profile_path); !status) return status;
  if (base::Status status = writer.begin(*header); !status) return status;
  Copy copy(writer);
  if (auto again = profile::read_profile(profile_path, copy); !again) return again.error();
  if (!copy.status()) return copy.status();
  return writer.finish(header->coverage);
}

}  // namespace fathom::cli
