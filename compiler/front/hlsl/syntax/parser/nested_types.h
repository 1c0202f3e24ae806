// SPDX-License-Identifier: MIT
// Finds the names of types that are declared inside a record, before the record is parsed.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/front/hlsl/syntax/parser/token_cursor.h"

namespace kiln::hlsl::syntax {

// A type that is declared directly inside the record whose '{' is token `brace`.
struct NestedType {
  uint32_t brace;
  uint32_t symbol;
};

class NestedTypeScan {
 public:
  explicit NestedTypeScan(const TokenCursor& at) : at_(at) {}

  // One token after the other, from the '{' of the outermost record on; false behind its '}'.
  bool Look(uint32_t token, std::vector<NestedType>& found);

 private:
  struct Brace {
    uint32_t token;
    bool is_record;
  };
  void LookInRecord(uint32_t token, std::vector<NestedType>& found);

  const TokenCursor& at_;
  std::vector<Brace> open_;
  bool record_follows_ = true;  // the next '{' is one of a record
  bool in_typedef_ = false;
};

}  // namespace kiln::hlsl::syntax
