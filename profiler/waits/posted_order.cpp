// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/posted_order.h"

#include <algorithm>

#include "profiler/waits/matched_messages.h"
#include "profiler/waits/wait_log.h"

namespace fathom::profiler {

bool PostedOrder::open(std::size_t bytes) {
  if (noted_ == nullptr) noted_ = new base::ReservedArray<Noted>;
  return noted_->reserve(bytes / sizeof(Noted));
}

void PostedOrder::note(Channel& channel, std::uint64_t ordinal, std::uint64_t ticks) {
  Noted* const noted = noted_->append();
  if (noted == nullptr) {
    channel.places_unknown = true;
    return;
  }
  *noted = {&channel, ordinal, ticks};
  channel.places_differ = true;
}

void PostedOrder::posted_earlier(Channel& channel, std::uint64_t ticks) {
  note(channel, channel.times.count - 1, ticks);
}

void PostedOrder::removed(Channel& channel, std::uint64_t ordinal) { note(channel, ordinal, 0); }

PostedOrder::Places PostedOrder::places(const Channel& channel, const TimeLog& times) {
  std::vector<Noted> moved;
  Places places;
  const std::uint64_t count = channel.times.count;
  std::vector<char> is_noted(count, 0);
  places.of_appended.assign(count, Places::kNone);
  for (std::size_t i = 0; i < noted_->size(); ++i) {
    const Noted& noted = (*noted_)[i];
    if (noted.channel != &channel || noted.ordinal >= count) continue;
    is_noted[noted.ordinal] = 1;
    if (noted.ticks != 0) moved.push_back(noted);
  }
  std::stable_sort(moved.begin(), moved.end(),
                   [](const Noted& a, const Noted& b) { return a.ticks < b.ticks; });
  const auto put = [&places](std::uint64_t ordinal, std::uint64_t ticks) {
    places.of_appended[ordinal] = places.ticks.size();
    places.ticks.push_back(ticks);
  };
  auto next = moved.begin();
  TimeLog::Reader reader(times, channel.times);
  for (std::uint64_t ordinal = 0; ordinal < count; ++ordinal) {
    if (is_noted[ordinal] != 0) continue;
    const std::uint64_t appended = reader.at(ordinal);
    for (; next != moved.end() && next->ticks < appended; ++next) put(next->ordinal, next->ticks);
    put(ordinal, MatchedMessages::moment(channel, ordinal, appended));
  }
  for (; next != moved.end(); ++next) put(next->ordinal, next->ticks);
  return places;
}

}  // namespace fathom::profiler
