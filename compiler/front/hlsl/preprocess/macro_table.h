// SPDX-License-Identifier: MIT
// Which names are macros at the moment, and what they stand for. A definition is read once, however
// often its line is obeyed, so the tables are bounded by the texts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/front/hlsl/token.h"

namespace kiln::hlsl {

struct Macro {
  enum class Kind : uint8_t {
    kObject,
    kFunction,
    kFile,   // __FILE__
    kLine,   // __LINE__
    kClock,  // __DATE__ and the like: counts as not defined
  };

  uint32_t name = 0;  // symbol
  Kind kind = Kind::kObject;
  bool is_variadic = false;  // the last parameter takes what is left
  bool has_place = true;     // written in a file; predefined ones and those of a request are not
  bool is_active = false;    // its name is hidden: an expansion of it is being read
  uint32_t parameters = 0;
  uint32_t origin = 0;            // of its name, where it is defined
  uint32_t first = 0, count = 0;  // its tokens, in the bodies
};

class MacroTable {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  // Row of the macro that a spelling names, or kNone.
  uint32_t Find(uint32_t symbol) const {
    return symbol < by_symbol_.size() ? by_symbol_[symbol] : kNone;
  }
  Macro& operator[](uint32_t row) { return macros_[row]; }
  const Macro& operator[](uint32_t row) const { return macros_[row]; }
  std::span<const Token> Body(const Macro& macro) const {
    return std::span(bodies_).subspan(macro.first, macro.count);
  }

  // A new macro, which no name leads to yet; Define makes its name do so.
  uint32_t Add(Macro macro, std::span<const Token> body) {
    macro.first = static_cast<uint32_t>(bodies_.size());
    macro.count = static_cast<uint32_t>(body.size());
    bodies_.insert(bodies_.end(), body.begin(), body.end());
    macros_.push_back(macro);
    return static_cast<uint32_t>(macros_.size() - 1);
  }
  void Define(uint32_t row) {
    const uint32_t symbol = macros_[row].name;
    if (symbol >= by_symbol_.size()) {
      by_symbol_.resize(symbol + symbol / 2 + 64, kNone);
    }
    by_symbol_[symbol] = row;
  }
  void Undefine(uint32_t symbol) {
    if (symbol < by_symbol_.size()) {
      by_symbol_[symbol] = kNone;
    }
  }

  // Whether the two say the same: parameters, tokens and where there is space between them.
  bool Equal(uint32_t row, uint32_t other) const;

 private:
  std::vector<uint32_t> by_symbol_;
  std::vector<Macro> macros_;
  std::vector<Token> bodies_;
};

}  // namespace kiln::hlsl
