// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/traffic_selection.h"

#include "base/text.h"
#include "cli/language/options.h"
#include "profile/reader.h"

namespace fathom::cli {
namespace {

class NameCollector : public profile::Visitor {
 public:
  void on_traffic(profile::Traffic& block) override { names.add(block); }
  void on_message_sizes(profile::MessageSizes&) override {}

  profile::TrafficNames names;
};

}  // namespace

void add_traffic_options(CLI::App& app, profile::SelectedNames& names, const std::string& note) {
  add_list(app, "--classes,--class", names.classes, "NAME,...",
           "only traffic of these classes: point-to-point,MPI_All*" + note);
  add_list(app, "--communicators,--communicator", names.communicators, "NAME,...",
           "only traffic on these communicators, by name, constructor or id" + note);
  add_list(app, "--phases,--phase", names.phases, "NAME,...",
           "only what lies inside these named phases" + note);
}

base::Result<profile::Selection> selection_in(const std::string& profile_path,
                                              const profile::SelectedNames& names) {
  if (names.whole()) return profile::Selection{};
  NameCollector collector;
  const auto header = profile::read_profile(profile_path, collector);
  if (!header) return header.error();
  return profile::selection_of(names, collector.names, header->communicators);
}

std::string described(const profile::SelectedNames& names) {
  std::string text;
  const auto add = [&text](const char* one, const char* several,
                           const std::vector<std::string>& list) {
    if (list.empty()) return;
    base::add_to_list(text,
                      std::string(list.size() == 1 ? one : several) + " " + base::joined(list));
  };
  add("class", "classes", names.classes);
  add("communicator", "communicators", names.communicators);
  add("phase", "phases", names.phases);
  return text;
}

}  // namespace fathom::cli
