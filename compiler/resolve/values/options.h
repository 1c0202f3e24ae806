// SPDX-License-Identifier: MIT
// Option values of one variant: supplied values are checked once (spec/rpl 3), defaults filled in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/decls.h"
#include "compiler/resolve/program.h"

namespace kiln::resolve {

// One assignment as the caller wrote it.
struct OptionSetting {
  std::string name;
  std::optional<ir::OptionScope> scope;  // nothing = any
  ir::OptionKind kind = ir::OptionKind::kFlag;
  uint32_t bits = 0;  // flag 0/1, uint, sint, float bits
  std::string text;   // enum

  friend bool operator==(const OptionSetting&, const OptionSetting&) = default;
};

// A checked value for every option of a program: bits by OptionId; an enum's bits are the index of
// its value in the declared list.
struct OptionValues {
  std::vector<uint32_t> bits;
};

// RPL2003, with the nearest name of an option.
Diagnostic UnknownOption(const Program& program, std::string_view name);

// The bits of one setting; nothing after adding what is wrong with it. Diagnostics: RPL2003 to
// RPL2007.
std::optional<uint32_t> CheckOption(const Program& program, const OptionSetting& setting,
                                    std::vector<Diagnostic>& diagnostics);

// False: there are errors, and `values` means nothing. Memory of `values` is used again.
bool CheckOptions(const Program& program, std::span<const OptionSetting> settings,
                  OptionValues& values, std::vector<Diagnostic>& diagnostics);

// The same as a value.
// Diagnostics: RPL2003 to RPL2007, in the order of spec/rpl 3; a later setting replaces an earlier
// one.
Diagnosed<OptionValues> CheckOptions(const Program& program,
                                     std::span<const OptionSetting> settings);

}  // namespace kiln::resolve
