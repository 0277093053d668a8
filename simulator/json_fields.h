// Fields of JSON objects as the simulator's results have them.
#pragma once

#include <rapidjson/rapidjson.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "profile/utf8.h"

namespace fathom::simulator {

template <typename Writer>
void put_text(Writer& json, const char* key, const std::string& value) {
  const std::string clean = profile::as_utf8(value);
  json.Key(key);
  json.String(clean.data(), static_cast<rapidjson::SizeType>(clean.size()));
}

// Whole numbers without a decimal point; null for what is no number.
template <typename Writer>
void put_number(Writer& json, const char* key, double value) {
  json.Key(key);
  if (!std::isfinite(value)) {
    json.Null();
  } else if (value == std::floor(value) && std::abs(value) < 0x1p53) {
    json.Int64(static_cast<std::int64_t>(value));
  } else {
    json.Double(value);
  }
}

}  // namespace fathom::simulator
