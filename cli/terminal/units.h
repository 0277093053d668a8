// SPDX-License-Identifier: BSD-3-Clause
// Numbers for people: decimal byte units with three digits, grouped counts, text that fits a
// terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fathom::cli {

std::string human_bytes(double bytes);        // "3.45 GB": powers of 1000
std::string bin_edge(std::uint64_t bytes);    // "64 KiB": for powers of two, exact
std::string grouped(std::uint64_t count);     // "47,761"
std::string times(std::uint64_t count);       // "once", "47,761 times"
std::string percent(double part, double of);  // "61 %", "0.4 %", "<0.1 %"
std::string human_seconds(double seconds);    // "1.5 s", "3 min 20 s", "2 h 05 min"
std::string human_time(double seconds);       // "12.3 µs", "1.50 ms", "215 s": three digits
std::string human_rate(double bytes_per_s);   // "12.5 GB/s"

// Replaces control characters, which a file from elsewhere may contain, by '?'.
std::string printable(const std::string& text);

// Number of columns that UTF-8 text takes, and the text padded or cut (with '~') to `width`
// columns.
std::size_t columns(const std::string& text);
std::string left(const std::string& text, std::size_t width);
std::string right(const std::string& text, std::size_t width);

// The end of the word that begins at `at`, for lines that are broken between words. A number and its
// unit are one word.
std::size_t word_end(const std::string& text, std::size_t at);

// Words of `text` in lines of at most `width` columns; a longer word gets its own line. The first
// line begins with `mark`, further ones are indented two columns more than it.
std::vector<std::string> wrapped(const std::string& text, std::size_t width,
                                 const std::string& mark);

// A page of labelled lines: lines longer than `width` columns are broken at blanks and continued
// `indent` columns from the left. Blanks inside a line stay as they are.
std::string folded(const std::string& page, std::size_t width, std::size_t indent);

}  // namespace fathom::cli
