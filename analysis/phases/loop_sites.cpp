// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/phases/loop_sites.h"

#include <cstring>
#include <string_view>

namespace fathom::analysis {
namespace {

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = base::mixed(text.size());
  for (const char byte : text) hash = base::mixed(hash ^ static_cast<unsigned char>(byte));
  return hash;
}

template <typename Row>
Transport::Bytes bytes_of(const std::vector<Row>& rows) {
  const char* begin = reinterpret_cast<const char*>(rows.data());
  return {begin, begin + rows.size() * sizeof(Row)};
}

template <typename Row>
std::vector<Row> rows_of(const Transport::Bytes& bytes) {
  std::vector<Row> rows(bytes.size() / sizeof(Row));
  if (!rows.empty()) std::memcpy(rows.data(), bytes.data(), bytes.size());
  return rows;
}

}  // namespace

LoopSites::LoopSites(const JoinedJob& job)
    : definitions_(job.definitions()),
      names_(definitions_),
      symbols_(job.definitions().processes.size()) {
  std::vector<Site> own;
  for (const std::uint32_t process : job.own()) {
    for (const std::uint64_t address : job.site_addresses(process))
      own.push_back({process, address});
  }
  Transport& transport = job.transport();
  std::vector<Transport::Bytes> answers(transport.size());
  const std::vector<Transport::Bytes> asked = transport.gather(bytes_of(own));
  for (std::size_t i = 0; i < asked.size(); ++i)
    answers[i] = bytes_of(looked_up(rows_of<Site>(asked[i])));
  const std::vector<std::uint64_t> symbols =
      rows_of<std::uint64_t>(transport.exchange(std::move(answers))[0]);
  for (std::size_t i = 0; i < own.size(); ++i) symbols_[own[i].process].push_back(symbols[i]);
}

std::vector<std::uint64_t> LoopSites::looked_up(const std::vector<Site>& sites) {
  std::vector<std::uint64_t> symbols;
  for (const Site& site : sites) {
    symbols.push_back(symbol_of(site.process, site.address));
    const std::uint32_t* known = only_at_.find(symbols.back());
    only_at_[symbols.back()] = known && *known != site.process ? kNobody : site.process;
  }
  return symbols;
}

std::uint64_t LoopSites::symbol_of(std::uint32_t process, std::uint64_t address) {
  if (definitions_.processes[process].code.empty()) return base::mixed(address);
  const trace::CodeSite& site = names_.of_call(process, address);
  // Without the function, because the compiler may put one line into several.
  if (site.line > 0) return base::mixed(hash_of(site.file) + static_cast<std::uint64_t>(site.line));
  return base::mixed(hash_of(site.module) + site.offset);
}

bool LoopSites::only_at(std::uint32_t process, std::uint64_t address) {
  if (address == 0) return false;
  const std::uint32_t* known = only_at_.find(symbol_of(process, address));
  return known && *known == process;
}

}  // namespace fathom::analysis
