// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/graphml.h"

#include <string>
#include <unordered_map>

#include "base/text.h"
#include "base/utf8.h"
#include "exporters/common/text_file.h"
#include "profile/pair_sums.h"

namespace fathom::exporters {
namespace {

constexpr char kHead[] =
    R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="host" for="node" attr.name="host" attr.type="string"/>
<key id="bytes" for="edge" attr.name="bytes" attr.type="long"/>
<key id="messages" for="edge" attr.name="messages" attr.type="long"/>
<graph edgedefault="directed">
)";

}  // namespace

base::Status export_graphml(const profile::Profile& profile, const Options& options,
                            const std::string& path, Notes&) {
  if (auto status = check_rank_count(profile, kMostListedRanks, "graphml"); !status) return status;
  TextFile file;
  if (base::Status status = file.open(path, options); !status) return status;
  std::unordered_map<std::int64_t, const std::string*> host_of;
  for (const profile::Rank& rank : profile.ranks) host_of[rank.rank] = &rank.host;
  file << kHead;
  for (std::int64_t rank = 0; rank < profile::rank_count(profile); ++rank) {
    const auto host = host_of.find(rank);
    file << "<node id=\"" << rank << "\"><data key=\"host\">"
         << base::xml_text(
                profile::shown_host(host == host_of.end() ? std::string() : *host->second))
         << "</data></node>\n";
  }
  for (const profile::PairCount& pair : profile::sum_pairs(profile, options.selection)) {
    file << "<edge source=\"" << pair.source << "\" target=\"" << pair.destination
         << "\"><data key=\"bytes\">" << pair.bytes << "</data><data key=\"messages\">"
         << pair.messages << "</data></edge>\n";
  }
  file << "</graph>\n</graphml>\n";
  return file.commit();
}

}  // namespace fathom::exporters
