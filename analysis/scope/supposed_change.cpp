// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/scope/supposed_change.h"

#include <charconv>
#include <sstream>

#include "profile/selection.h"

namespace fathom::analysis {
namespace {

constexpr char kExamples[] =
    "; write 'rank 3 : 0.8', 'before site halo.c:41 : 0.5' or 'latency : 2'";

base::Error wrong(const std::string& text, const std::string& why) {
  return {"'" + text + "': " + why + kExamples};
}

std::string without_spaces_around(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == text.npos ? "" : text.substr(begin, end - begin + 1);
}

// FILE:LINE, or a place without a line.
void set_place(const std::string& place, SupposedChange& change) {
  const auto colon = place.rfind(':');
  change.file = place;
  if (colon == place.npos) return;
  int line = 0;
  const char* const last = place.data() + place.size();
  const auto [end, error] = std::from_chars(place.data() + colon + 1, last, line);
  if (error != std::errc() || end != last) return;
  change.file = place.substr(0, colon);
  change.line = line;
}

}  // namespace

base::Result<SupposedChange> parse_supposed_change(const std::string& text) {
  SupposedChange change;
  change.text = text;
  const auto colon = text.rfind(':');
  if (colon == text.npos) return wrong(text, "it has no ': FACTOR'");
  const std::string number = without_spaces_around(text.substr(colon + 1));
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), change.factor);
  const bool whole = error == std::errc() && end == number.data() + number.size();
  if (!whole || !(change.factor >= 0 && change.factor <= 1e6))
    return wrong(text, "the factor is not a number from 0 to a million");
  std::istringstream words(text.substr(0, colon));
  bool before = false, any = false;
  for (std::string word, value; words >> word; any = true) {
    if (word == "latency") {
      change.of = SupposedChange::Of::kLatency;
      continue;
    }
    if (word == "before") {
      before = true;
      continue;
    }
    const bool known = word == "rank" || word == "ranks" || word == "function" || word == "site";
    if (!known) return wrong(text, "there is no '" + word + "' to change");
    if (!(words >> value)) return wrong(text, "'" + word + "' needs a value");
    if (word == "function") {
      change.function = value;
    } else if (word == "site") {
      set_place(value, change);
    } else {
      auto ranks = profile::parse_ranks(value);
      if (!ranks) return wrong(text, ranks.error().message);
      change.ranks = std::move(*ranks);
    }
  }
  const bool calls = !change.function.empty() || !change.file.empty();
  if (!any) return wrong(text, "it does not say what to change");
  if (before && !calls) return wrong(text, "'before' needs a function or a site");
  if (change.of == SupposedChange::Of::kLatency && (calls || before))
    return wrong(text,
                 "'latency' changes messages, so it takes neither 'before' nor a function or site");
  if (calls && !before) change.of = SupposedChange::Of::kCalls;
  return change;
}

}  // namespace fathom::analysis
