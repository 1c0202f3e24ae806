// SPDX-License-Identifier: MIT
// Operands of rows as text, and the list that rows are added to.
//
// Inputs of an item: g.f floats in [-16, 16], g.g floats in [1/8, 8], g.u any words, g.v words in
// [1, 31], g.s any signed words, g.t in [1, 127]. Which of them an operand takes keeps a row
// defined: nothing is divided by zero, no float is converted to a word that cannot hold it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/hlsl/meaning_rows.h"

namespace kiln::hlsl {

inline constexpr RowItem kItems[] = {RowItem::kBool, RowItem::kInt, RowItem::kUint,
                                     RowItem::kFloat};
inline constexpr RowItem kNumbers[] = {RowItem::kInt, RowItem::kUint, RowItem::kFloat};
inline constexpr std::string_view kLetters = "xyzw";

std::string_view NameOf(RowItem item);

// Which inputs an operand is made of.
enum class Side : uint8_t { kLeft, kRight, kPositive };

std::vector<RowShape> AllShapes();

// Of two operands that an operator takes together.
struct ShapePair {
  RowShape left;
  RowShape right;
  RowShape result;
};
std::vector<ShapePair> MixedPairs();

// "float2 (g.f.x, g.f.y)"
std::string OperandText(const RowType& type, Side side, uint32_t first = 0);

// spec/hlsl 9.3: the higher item; bool with bool counts as int.
RowItem CommonItem(RowItem left, RowItem right);

bool IsIntegerMatrix(const RowType& type);

// Words that become floats are small, so nobody rounds them.
Side SideOf(const RowType& type, const RowType& other, Side side);

class RowList {
 public:
  std::vector<MeaningRow> Take() { return std::move(rows_); }

  void Add(MeaningRow row) {
    row.integer_matrix |= IsIntegerMatrix(row.result);
    rows_.push_back(std::move(row));
  }
  MeaningRow& last() { return rows_.back(); }

  // A row whose result is the value of an expression.
  void AddValue(std::string name, const RowType& result, const std::string& expression,
                bool open = false, Version version = Version::k2021);
  // `left op right`.
  void Binary(std::string_view op, const RowType& left, const RowType& right, Side left_side,
              Side right_side, const RowType& result, bool open = false);

 private:
  std::vector<MeaningRow> rows_;
};

// --- rows by topic
void AddArithmetic(RowList& list);
void AddComparisons(RowList& list);
void AddBits(RowList& list);
void AddShifts(RowList& list);
void AddLogic(RowList& list);
void AddUnary(RowList& list);
void AddSteps(RowList& list);
void AddCompound(RowList& list);
void AddConversions(RowList& list);
void AddTruncations(RowList& list);
void AddSelections(RowList& list);
void AddDots(RowList& list);
void AddProducts(RowList& list);
void AddAccesses(RowList& list);
void AddFunctions(RowList& list);
void AddFlow(RowList& list);
void AddMethods(RowList& list);
void AddResources(RowList& list);

}  // namespace kiln::hlsl
