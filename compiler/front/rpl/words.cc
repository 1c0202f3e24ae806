// SPDX-License-Identifier: MIT
// The word tables of tokens.def and builtins.def behind one constant hash table. A name of a family
// ("min_f3") is looked up in two steps, family and type.
#include "compiler/front/rpl/words.h"

#include <algorithm>
#include <array>
#include <span>

#include "compiler/base/check.h"
#include "compiler/base/text/closest_name.h"

namespace kiln::rpl {
namespace {

constexpr auto kKeywordTexts = std::to_array<std::string_view>({
    "",
#define KILN_KEYWORD(enumerator, text) text,
#include "compiler/front/rpl/tokens.def"
});

struct TypeRow {
  std::string_view text;
  uint8_t version;
};
constexpr auto kTypes = std::to_array<TypeRow>({
    {"", 1},
#define KILN_TYPE(enumerator, text, version, make) {text, version},
#include "compiler/front/rpl/tokens.def"
});

// What one spelling stands for; 0 for none. `builtin` is 1 + the row, because g++ 12 with -O1 and
// above writes zero for some default members of a constant table that are not zero.
struct Entry {
  std::string_view text;
  uint8_t keyword = 0;
  uint8_t type = 0;
  uint16_t builtin = 0;
};

// More than twice the words, so that searches in the table are short.
constexpr size_t kSlotCount = 512;
static_assert(kKeywordTexts.size() + kTypes.size() + ir::kBuiltinCount < kSlotCount / 2);

constexpr size_t SlotOf(std::string_view text) {
  uint32_t hash = static_cast<uint32_t>(text.size());
  for (const char c : text) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x01000193u;
  }
  return (hash ^ (hash >> 15)) % kSlotCount;
}

using EntryTable = std::array<Entry, kSlotCount>;

constexpr const Entry& Find(const EntryTable& table, std::string_view text) {
  size_t slot = SlotOf(text);
  while (!table[slot].text.empty() && table[slot].text != text) {
    slot = (slot + 1) % kSlotCount;
  }
  return table[slot];
}

constexpr EntryTable kEntries = [] {
  EntryTable table{};
  const auto entry = [&table](std::string_view text) -> Entry& {
    // The search returns the slot of the word or the free slot where it belongs, which is all that
    // filling needs.
    Entry& found = const_cast<Entry&>(Find(table, text));
    found.text = text;
    return found;
  };
  for (size_t i = 1; i < kKeywordTexts.size(); ++i) {
    entry(kKeywordTexts[i]).keyword = static_cast<uint8_t>(i);
  }
  for (size_t i = 1; i < kTypes.size(); ++i) {
    entry(kTypes[i].text).type = static_cast<uint8_t>(i);
  }
  for (size_t i = 0; i < ir::kBuiltinCount; ++i) {
    // Functions of typed modules have rows but no spelling in RPL.
    if (!ir::IsOfTypedModules(static_cast<ir::Builtin>(i))) {
      entry(ir::kBuiltinFacts[i].name).builtin = static_cast<uint16_t>(i + 1);
    }
  }
  return table;
}();

// builtins.def lists what version 2 added behind everything else.
constexpr uint8_t VersionOf(ir::Builtin builtin) {
  return builtin >= ir::Builtin::kSampleLod ? 2 : 1;
}

std::optional<InbuiltFunction> FindFamily(std::string_view text) {
  // "_f3" or "_f3x3" at the end
  const size_t size = text.size();
  // A suffix is two or four characters long, so only two places of the underscore are possible.
  const size_t cut = size > 3 && text[size - 3] == '_'   ? size - 3
                     : size > 5 && text[size - 5] == '_' ? size - 5
                                                         : 0;
  if (cut == 0) {
    return std::nullopt;
  }
  const Entry& family = Find(kEntries, text.substr(0, cut));
  const Entry& suffix = Find(kEntries, text.substr(cut + 1));
  if (family.builtin == 0 || suffix.type == 0) {
    return std::nullopt;
  }
  // Both halves exist; whether the family exists for this type is a fact of the family. The version
  // is the later one of the two.
  const auto builtin = static_cast<ir::Builtin>(family.builtin - 1);
  const auto type = static_cast<InbuiltType>(suffix.type);
  const ir::BuiltinTypes types = ir::FactsOf(builtin).types;
  if (types == ir::BuiltinTypes::kNone || !ir::ExistsFor(types, TypeOf(type))) {
    return std::nullopt;
  }
  return InbuiltFunction{builtin, type, std::max(VersionOf(builtin), kTypes[suffix.type].version)};
}

// --- what tokens.def writes in its `make` column
using enum ir::Scalar;
using enum ir::ImageDim;

ir::Type Vector(ir::Scalar scalar, uint8_t rows) { return ir::VectorType(scalar, rows); }
ir::Type Matrix(uint8_t size) { return ir::MatrixType(kF32, size, size); }
ir::Type SamplerType() { return {.kind = ir::TypeKind::kSampler}; }
ir::Type Image(ir::ImageDim dim, bool arrayed, bool depth) {
  return {.kind = ir::TypeKind::kImage,
          .scalar = kF32,
          .extent = ir::PackImage({.dim = dim, .arrayed = arrayed, .depth = depth})};
}

}  // namespace

std::string_view KeywordText(Keyword keyword) {
  return kKeywordTexts[static_cast<size_t>(keyword)];
}

std::string_view TypeName(InbuiltType type) { return kTypes[static_cast<size_t>(type)].text; }

ir::Type TypeOf(InbuiltType type) {
  switch (type) {
    case InbuiltType::kNone:
      break;
#define KILN_TYPE(enumerator, text, version, make) \
  case InbuiltType::k##enumerator:                 \
    return make;
#include "compiler/front/rpl/tokens.def"
  }
  KILN_UNREACHABLE();
}

Word LookUpWord(std::string_view text) {
  const Entry& entry = Find(kEntries, text);
  Word word{.keyword = static_cast<Keyword>(entry.keyword),
            .type = static_cast<InbuiltType>(entry.type),
            .type_version = kTypes[entry.type].version};
  // Words of the table are found in one step. Others may be a family with a type behind it.
  if (entry.builtin == 0) {
    word.function = FindFamily(text);
    return word;
  }
  const auto builtin = static_cast<ir::Builtin>(entry.builtin - 1);
  // A function without types is called by its name alone; one with types needs the suffix, so the
  // bare name of a family is no function.
  if (ir::FactsOf(builtin).types == ir::BuiltinTypes::kNone) {
    word.function = InbuiltFunction{builtin, InbuiltType::kNone, VersionOf(builtin)};
  }
  return word;
}

std::string_view SimilarDeclarationKeyword(std::string_view text) {
  // Keywords that begin a declaration stand first in tokens.def, up to this one.
  constexpr size_t kLast = static_cast<size_t>(Keyword::kColorOutputContainer);
  return ClosestName(text).OfferAll(std::span(kKeywordTexts).subspan(1, kLast)).best();
}

}  // namespace kiln::rpl
