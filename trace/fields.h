// SPDX-License-Identifier: BSD-3-Clause
// Where an Event holds each attribute of a call, for code that goes through the attributes one by
// one (exporters, importers, print).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "trace/event.h"
#include "trace/format/format.h"

namespace fathom::trace {

struct Field {
  Attribute attribute;
  const char* name;  // as in attributes.h
  bool is_unsigned;  // true: 64 bits, unsigned; false: fits 32 bits, signed
};

// All attributes that hold one value.
std::span<const Field> fields();
const Field* field_of(Attribute attribute);

std::uint64_t get_field(const Event& event, Attribute attribute);  // signed ones sign-extended
void set_field(Event& event, Attribute attribute, std::uint64_t value);

// Whether the event holds anything but the default.
bool is_set(const Event& event, Attribute attribute);

}  // namespace fathom::trace
