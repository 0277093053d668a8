// SPDX-License-Identifier: BSD-3-Clause
// What a misspelt word was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::base {

// Characters to insert, delete, replace or swap with their neighbour to turn one word into the other
// (Damerau and Levenshtein's distance, restricted: no character is changed twice).
std::size_t edit_distance(std::string_view one, std::string_view other);

// The name with the smallest distance; ties: the first. Empty if none is near: more than half
// of the word, leading dashes apart, would have to change.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

// "; did you mean NAME?", or `otherwise` if no name is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& names,
                       const std::string& otherwise);

}  // namespace fathom::base
