// SPDX-License-Identifier: BSD-3-Clause
#include "trace/code/code_sites.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace fathom::trace {

struct CodeSites::State {
  std::vector<CodeSegment> segments;  // by base
  std::size_t most_cached;
  std::unordered_map<std::uint64_t, CodeSite> known;
  CodeFiles files;

  const CodeSegment* segment_of(std::uint64_t address) const {
    const auto next =
        std::upper_bound(segments.begin(), segments.end(), address,
                         [](std::uint64_t a, const CodeSegment& s) { return a < s.base; });
    if (next == segments.begin()) return nullptr;
    const CodeSegment& candidate = *(next - 1);
    return address - candidate.base < candidate.size ? &candidate : nullptr;
  }

  CodeSite look_up(std::uint64_t return_address) {
    CodeSite site;
    site.offset = return_address;
    // Looks up the call, just before the address that it returns to: the next instruction may
    // belong to another line.
    const std::uint64_t address = return_address - 1;
    const CodeSegment* segment = segment_of(address);
    if (segment == nullptr) return site;
    const std::uint64_t file_offset = segment->offset + (address - segment->base);
    site.module = segment->path;
    site.offset = file_offset;
    const auto virtual_address =
        files.virtual_address(segment->path, segment->build_id, file_offset);
    if (!virtual_address) return site;
    site.offset = *virtual_address;
    files.look_up(segment->build_id, site);
    return site;
  }
};

CodeSites::CodeSites(std::vector<CodeSegment> segments, std::size_t most_cached)
    : state_(std::make_unique<State>()) {
  std::sort(segments.begin(), segments.end(),
            [](const auto& a, const auto& b) { return a.base < b.base; });
  state_->segments = std::move(segments);
  state_->most_cached = std::max<std::size_t>(most_cached, 1);
}
CodeSites::CodeSites(CodeSites&&) noexcept = default;
CodeSites& CodeSites::operator=(CodeSites&&) noexcept = default;
CodeSites::~CodeSites() = default;

const CodeSite& CodeSites::of_call(std::uint64_t return_address) {
  const auto found = state_->known.find(return_address);
  if (found != state_->known.end()) return found->second;
  if (state_->known.size() >= state_->most_cached) state_->known.clear();
  return state_->known.emplace(return_address, state_->look_up(return_address)).first->second;
}

}  // namespace fathom::trace
