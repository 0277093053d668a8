// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <unistd.h>

#include <random>

#include "live/page_copy.h"
#include "live/process_sample.h"
#include "made_page.h"

namespace fathom {
namespace {

using live::PageCopy;
using test::MadePage;

base::Result<PageCopy> read(const MadePage& page) {
  const int descriptor = page.descriptor();
  auto copy = live::read_page(descriptor);
  close(descriptor);
  return copy;
}

MadePage full_page() {
  MadePage page;
  page.header().lost_messages = 3;
  page.header().unknown_messages = 2;
  std::memcpy(page.add<char>(profile::Section::kText), "host a\nclass 0 0 point-to-point\nhalf",
              36);
  auto* communicator = page.add<profile::CommunicatorRow>(profile::Section::kCommunicators);
  communicator->key = 11;
  communicator->group_key = 3;
  communicator->size = 4;
  std::memcpy(communicator->name, "MPI_COMM_WORLD", 14);
  auto* cells = page.add<profile::CellRow>(profile::Section::kCells);
  cells[0] = {2, 100, 5, 7, 2};
  cells[1] = {3, 10, 1, 7, 3};
  auto* line = page.add<live::ThreadLine>(live::kThreadLines);
  line->calls = 9;
  line->is_used = 1;
  std::memcpy(line->function, "MPI_Recv", 9);
  line->pending_count = 1;
  line->pending[0] = {2, 0, 3, 7, 4};
  auto* channels = page.add<live::ChannelRow>(live::kChannelCounts);
  channels[0] = {{0, 2, 5, 1}, 5, 100, 0, 0};
  return page;
}

TEST_CASE("a page gives rows, threads and channels up to the first zero") {
  const auto page = read(full_page());
  REQUIRE(page);
  REQUIRE(page->threads.size() == 1);
  CHECK(page->threads[0].function == "MPI_Recv");
  CHECK(page->threads[0].pending.size() == 1);
  REQUIRE(page->channels.size() == 1);
  CHECK(page->channels[0].sent_bytes == 100);
  live::ProcessSample sample;
  sample.page = *page;
  const live::JobState job = live::job_state_of({sample});
  REQUIRE(job.ranks.size() == 1);
  CHECK(page->rows.lost_messages == 5);
  CHECK(job.ranks[0].sent == 6);
  CHECK(job.ranks[0].sent_bytes == 110);
  REQUIRE(job.pairs.size() == 2);
  CHECK(job.pairs[0].kind == "point-to-point");
  CHECK(job.ranks[0].threads[0].pending[0].tag == 7);
}

TEST_CASE("a line that is being written is not believed") {
  MadePage page = full_page();
  const live::Region& region = page.header().regions[3];
  reinterpret_cast<live::ThreadLine*>(page.bytes().data() + region.offset)->sequence = 1;
  const auto copy = read(page);
  REQUIRE(copy);
  REQUIRE(copy->threads.size() == 1);
  CHECK(copy->threads[0].function.empty());
  CHECK(copy->threads[0].calls == 9);
}

TEST_CASE("a region outside its file is refused") {
  MadePage page = full_page();
  page.header().regions[2].offset = ~std::uint64_t{0} - 100;
  CHECK(!read(page));
  page.header().regions[2].offset = 7 * live::kPageStep;
  page.header().regions[2].capacity_bytes = page.header().regions[2].provided_bytes =
      2 * live::kPageStep;
  CHECK(!read(page));
}

TEST_CASE("more regions than fit, other record sizes and other versions are refused") {
  MadePage page = full_page();
  page.header().region_count = live::kMostRegions + 1;
  CHECK(!read(page));
  page = full_page();
  page.header().regions[2].element_bytes = 16;
  CHECK(!read(page));
  page = full_page();
  page.header().version += 1;
  CHECK(!read(page));
  page = full_page();
  page.bytes().resize(100);
  CHECK(!read(page));
}

// Any bytes may be there: what is read must not depend on them being sensible.
TEST_CASE("damaged pages are read or refused, and never believed blindly") {
  std::mt19937 random(1);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    MadePage page = full_page();
    const bool in_header = round % 2 == 0;
    for (int i = 0; i < 1 + round % 40; ++i) {
      const std::size_t used = in_header ? 200 + live::kRunBytes + 5 * 32 : page.bytes().size();
      page.bytes()[random() % used] = static_cast<char>(random());
    }
    const auto copy = read(page);
    if (!copy) continue;
    ++accepted;
    live::ProcessSample sample;
    sample.page = *copy;
    const live::JobState job = live::job_state_of({sample});
    CHECK(job.ranks.size() <= 1);
    for (const auto& rank : job.ranks)
      for (const auto& thread : rank.threads) CHECK(thread.pending.size() <= live::kMostPending);
  }
  CHECK(accepted > 100);
}

}  // namespace
}  // namespace fathom
