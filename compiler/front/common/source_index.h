// SPDX-License-Identifier: MIT
// What is declared where in one module, and where it is mentioned: what editors ask a front end.
// Made of a source without syntax errors; what checking could not tell is left out, never guessed.
// Bytes are those of the module: offsets in the row of all files where it includes some.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/id.h"
#include "compiler/base/string_pool.h"
#include "compiler/source/span.h"

namespace kiln::front {

// The token of a name in the source, and the token that declares what it means.
struct Mention {
  uint32_t token = 0;
  uint32_t declared = 0;
  // WGSL: the number of the member of the struct that `declared` is the name of.
  uint32_t member = 0xffffffffu;
};

enum class IndexKind : uint8_t {
  kNamespace,
  kStruct,
  kMember,
  kEnum,
  kEnumerator,
  kAlias,
  kBlock,
  kFunction,
  kParameter,
  kVariable,  // of the module
  kLocal,
  kConstant,
  kOption,  // chosen when the module is specialised
};
std::string_view IndexKindText(IndexKind kind);

using TypeTextId = Id<struct TypeTextTag>;

struct IndexedSymbol {
  static constexpr uint32_t kNone = 0xffffffffu;

  IndexKind kind = IndexKind::kVariable;
  std::string name;
  TypeTextId type;   // as written; of a value without one as inferred; invalid: none is known
  std::string text;  // the declaration in one line, without bodies and values of length
  Span name_at;      // bytes
  Span whole;        // bytes of the declaration
  uint32_t parent = kNone;  // the symbol that it is part of
};

struct IndexedMention {
  Span at;
  uint32_t symbol = 0;
};

struct SourceIndex {
  std::vector<IndexedSymbol> symbols;    // ascending by `whole`, parents before their parts
  std::vector<IndexedMention> mentions;  // ascending, each place once; declarations among them
  StringPool<TypeTextId> types;          // a type of a thousand declarators is there once
  uint64_t bytes = 0;                    // of all tables and texts, roughly

  // Both charge what they keep. Throws Stopped.
  void Add(IndexedSymbol symbol);
  void Add(IndexedMention mention);
  // Invalid for an empty text.
  TypeTextId InternType(std::string_view text);

  std::string_view TypeOf(const IndexedSymbol& symbol) const {
    return symbol.type.valid() ? types[symbol.type] : std::string_view();
  }
  // The mention that covers the byte, or ends at it; null if there is none.
  const IndexedMention* At(uint32_t offset) const;
};

inline constexpr size_t kMostShown = 200;  // bytes of what is shown of a declaration

// Sorts both tables and drops mentions of a place that has one.
void Settle(SourceIndex& index);
// A line for each symbol: "struct Light", "  member color: vec3<f32> @12", then its mentions.
std::string IndexText(const SourceIndex& index);
// White space and comments as one space, at most kMostShown bytes.
std::string OneLine(std::string_view text);
// Without the characters that do not end within kMostShown bytes.
std::string CutToShown(std::string text);

}  // namespace kiln::front
