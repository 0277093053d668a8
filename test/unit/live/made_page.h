// SPDX-License-Identifier: BSD-3-Clause
// A page (live/page.h) made by hand, in a memory file.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "live/page.h"

namespace fathom::test {

class MadePage {
 public:
  static constexpr std::size_t kSteps = 8;

  MadePage() : bytes_(kSteps * live::kPageStep) {
    live::PageHeader& header = this->header();
    std::memcpy(header.magic, live::kPageMagic, sizeof header.magic);
    header.version = live::kPageVersion;
    header.header_bytes = sizeof(live::PageHeader);
    std::memcpy(header.rows.magic, profile::kRowsMagic, sizeof profile::kRowsMagic);
    header.rows.job = 7;
    header.rows.world_size = 4;
    header.state = live::PageState::kRunning;
  }

  live::PageHeader& header() { return *reinterpret_cast<live::PageHeader*>(bytes_.data()); }
  std::vector<char>& bytes() { return bytes_; }

  // Adds a region with room for one step, and returns its memory.
  template <typename T>
  T* add(std::uint32_t kind) {
    const std::uint32_t number = header().region_count++;
    live::Region& region = header().regions[number];
    region.kind = kind;
    region.element_bytes = sizeof(T);
    region.offset = (number + 1) * live::kPageStep;
    region.capacity_bytes = region.provided_bytes = live::kPageStep;
    return reinterpret_cast<T*>(bytes_.data() + region.offset);
  }
  template <typename T>
  T* add(profile::Section kind) {
    return add<T>(static_cast<std::uint32_t>(kind));
  }

  // An open file with the page.
  int descriptor() const {
    const int file = memfd_create("made", MFD_CLOEXEC);
    (void)!write(file, bytes_.data(), bytes_.size());
    return file;
  }

 private:
  std::vector<char> bytes_;
};

}  // namespace fathom::test
