// SPDX-License-Identifier: BSD-3-Clause
#include "trace/code/demangled.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace fathom::trace {
namespace {

// Empty if it is not a mangled name. The prefix is checked because __cxa_demangle() also translates
// types: "f" would become "float".
std::string of_cxx(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return "";
  int status = -1;
  char* plain = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? plain : "";
  std::free(plain);
  return name;
}

// Fortran compilers write names in lower case, so that capitals can separate them.
bool is_fortran_name(std::string_view name) {
  constexpr auto kAllowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' && std::ranges::all_of(name, kAllowed);
}

// "__MODULE_MOD_PROCEDURE"; empty if it is not that.
std::string of_gfortran(std::string_view symbol) {
  constexpr std::string_view kPrefix = "__", kSeparator = "_MOD_";
  const auto middle = symbol.find(kSeparator);
  if (!symbol.starts_with(kPrefix) || middle == std::string_view::npos || middle < kPrefix.size())
    return "";
  const auto module = symbol.substr(kPrefix.size(), middle - kPrefix.size());
  const auto procedure = symbol.substr(middle + kSeparator.size());
  if (!is_fortran_name(module) || !is_fortran_name(procedure)) return "";
  return std::string(module) + "::" + std::string(procedure);
}

// "_Q", then names, each after a capital that says what it is: the modules, submodules and procedures
// around a procedure, and P with the procedure itself. Empty if it is not that.
std::string of_flang(std::string_view symbol) {
  if (!symbol.starts_with("_Q")) return "";
  std::string name;
  for (symbol.remove_prefix(2); !symbol.empty();) {
    const char what = symbol[0];
    symbol.remove_prefix(1);
    const auto end = std::min(symbol.find_first_of("MSFP"), symbol.size());
    const bool last = end == symbol.size();
    if (std::string_view("MSFP").find(what) == std::string_view::npos || (what == 'P') != last ||
        !is_fortran_name(symbol.substr(0, end)))
      return "";
    name.append(name.empty() ? "" : "::").append(symbol.substr(0, end));
    symbol.remove_prefix(end);
  }
  return name;
}

}  // namespace

std::string demangled(const std::string& symbol) {
  std::string name = of_cxx(symbol);
  if (name.empty()) name = of_gfortran(symbol);
  if (name.empty()) name = of_flang(symbol);
  return name.empty() ? symbol : name;
}

}  // namespace fathom::trace
