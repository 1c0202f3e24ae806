// SPDX-License-Identifier: MIT
// Rows "operator x operand kinds x shape", conversions and intrinsics of T0 as HLSL: what each
// computes for a set of inputs. Results are typed by spec/hlsl here once more, so that a wrong type
// shows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/front/hlsl/settings.h"

namespace kiln::hlsl {

enum class RowItem : uint8_t { kBool, kInt, kUint, kFloat };

// Rows and columns as written: a scalar is 0 and 0, "float3" is 3 and 0, "float2x3" is 2 and 3.
struct RowShape {
  uint32_t rows = 0;
  uint32_t columns = 0;

  uint32_t leaves() const { return (rows == 0 ? 1 : rows) * (columns == 0 ? 1 : columns); }
  bool is_scalar() const { return rows == 0; }
  bool is_matrix() const { return columns != 0; }
  friend bool operator==(const RowShape&, const RowShape&) = default;
};

struct RowType {
  RowItem item = RowItem::kFloat;
  RowShape shape;

  std::string Text() const;
};

struct MeaningRow {
  std::string name;
  std::string statements;  // declare and compute `r`; inputs are members of `g`
  RowType result;          // of `r`
  Version version = Version::k2021;
  bool open = false;            // Vulkan leaves some of it open: floats and '%'
  bool integer_matrix = false;  // other compilers make something else of these
};

// All rows, in the same order on every machine.
std::vector<MeaningRow> MeaningRows();

// A compute program of some rows. It reads `given[item]` and writes `made[item * rows.size() +
// row]`, whose members are f0 to f3, u0 to u3, s0 to s3: the leaves of the result, booleans as 0
// and 1.
std::string ProgramOf(std::vector<MeaningRow>::const_iterator begin,
                      std::vector<MeaningRow>::const_iterator end);

}  // namespace kiln::hlsl
