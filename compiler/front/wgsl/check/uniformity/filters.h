// SPDX-License-Identifier: MIT
// The severity that `diagnostic` gives to derivatives whose control is not uniform: that of the
// innermost attribute around a place, else of the directive, else an error. See spec/wgsl 5.6;
// WGSL, "Diagnostic Filters".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

enum class FilterSeverity : uint8_t { kError, kWarning, kInfo, kOff };

class DerivativeFilters {
 public:
  explicit DerivativeFilters(const CheckContext& context);

  FilterSeverity At(TokenRange at) const;

 private:
  struct Row {
    TokenRange at{};
    FilterSeverity severity = FilterSeverity::kError;
    uint32_t around = 0xffffffffu;  // the row around it
  };

  FilterSeverity module_ = FilterSeverity::kError;
  std::vector<Row> rows_;  // by where they begin; outer ones first
};

}  // namespace kiln::wgsl::front
