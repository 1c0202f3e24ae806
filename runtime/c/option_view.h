// SPDX-License-Identifier: MIT
// A typed value of an option -> what kiln.h takes, a view of it.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <variant>

#include <kiln/kiln.h>

#include "runtime/c/arguments.h"

namespace kiln::c {

using OptionValue = std::variant<bool, uint32_t, int32_t, float, std::string>;

// Kind and member that a value of each type has.
struct FillOption {
  kiln_option& out;

  void operator()(bool value) const { Set(KILN_OPTION_FLAG, value ? 1 : 0); }
  void operator()(uint32_t value) const { Set(KILN_OPTION_UINT, value); }
  void operator()(int32_t value) const { Set(KILN_OPTION_SINT, std::bit_cast<uint32_t>(value)); }
  void operator()(float value) const {
    out.kind = KILN_OPTION_FLOAT;
    out.real = value;
  }
  void operator()(const std::string& value) const {
    out.kind = KILN_OPTION_ENUM;
    out.text = TextOf(value);
  }
  void Set(kiln_option_kind kind, uint32_t number) const {
    out.kind = kind;
    out.number = number;
  }
};

// Valid as long as both arguments.
inline kiln_option OptionView(const std::string& name, const OptionValue& value) {
  kiln_option out{};
  out.name = TextOf(name);
  std::visit(FillOption{out}, value);
  return out;
}

}  // namespace kiln::c
