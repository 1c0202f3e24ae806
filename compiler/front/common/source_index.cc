// SPDX-License-Identifier: MIT
// Tables of declarations and mentions that editors look into.
#include "compiler/front/common/source_index.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "compiler/base/threads/stop.h"

namespace kiln::front {

std::string_view IndexKindText(IndexKind kind) {
  switch (kind) {
    case IndexKind::kNamespace:
      return "namespace";
    case IndexKind::kStruct:
      return "struct";
    case IndexKind::kMember:
      return "member";
    case IndexKind::kEnum:
      return "enum";
    case IndexKind::kEnumerator:
      return "enumerator";
    case IndexKind::kAlias:
      return "alias";
    case IndexKind::kBlock:
      return "block";
    case IndexKind::kFunction:
      return "function";
    case IndexKind::kParameter:
      return "parameter";
    case IndexKind::kVariable:
      return "variable";
    case IndexKind::kLocal:
      return "local";
    case IndexKind::kConstant:
      return "constant";
    case IndexKind::kOption:
      return "option";
  }
  return {};
}

// Mentions do not overlap once they are settled, so the last that begins at or before the byte is
// the only one that may cover it. A cursor behind the last letter of a name means the name.
const IndexedMention* SourceIndex::At(uint32_t offset) const {
  const auto behind = std::ranges::upper_bound(
      mentions, offset, {}, [](const IndexedMention& one) { return one.at.begin; });
  if (behind == mentions.begin()) {
    return nullptr;
  }
  const IndexedMention& found = *(behind - 1);
  return offset <= found.at.end ? &found : nullptr;
}

void SourceIndex::Add(IndexedSymbol symbol) {
  // With what a table that grows has in reserve, and the makers' own row for the name.
  const uint64_t more = 3 * sizeof(IndexedSymbol) + symbol.name.size() + symbol.text.size();
  ChargeMemory(more);
  bytes += more;
  symbols.push_back(std::move(symbol));
}

void SourceIndex::Add(IndexedMention mention) {
  ChargeMemory(2 * sizeof(IndexedMention));
  bytes += 2 * sizeof(IndexedMention);
  mentions.push_back(mention);
}

TypeTextId SourceIndex::InternType(std::string_view text) {
  if (text.empty()) {
    return {};
  }
  const uint32_t known = types.size();
  const TypeTextId id = types.Intern(text);
  if (types.size() > known) {
    const uint64_t more = text.size() + 2 * sizeof(std::string_view);
    ChargeMemory(more);
    bytes += more;
  }
  return id;
}

void Settle(SourceIndex& index) {
  std::ranges::sort(index.mentions, [](const IndexedMention& a, const IndexedMention& b) {
    return std::tuple(a.at.begin, a.at.end, a.symbol) < std::tuple(b.at.begin, b.at.end, b.symbol);
  });
  const auto same = std::ranges::unique(
      index.mentions,
      [](const IndexedMention& a, const IndexedMention& b) { return a.at.begin == b.at.begin; });
  index.mentions.erase(same.begin(), same.end());
}

std::string IndexText(const SourceIndex& index) {
  std::string text;
  for (size_t i = 0; i < index.symbols.size(); ++i) {
    const IndexedSymbol& symbol = index.symbols[i];
    for (uint32_t up = symbol.parent; up != IndexedSymbol::kNone; up = index.symbols[up].parent) {
      text += "  ";
    }
    text += IndexKindText(symbol.kind);
    text += " " + symbol.name;
    text += symbol.type.valid() ? ": " : "";
    text += index.TypeOf(symbol);
    for (const IndexedMention& mention : index.mentions) {
      if (mention.symbol == i) {
        text += " @" + std::to_string(mention.at.begin);
      }
    }
    text += "\n";
  }
  return text;
}

std::string CutToShown(std::string text) {
  if (text.size() > kMostShown) {
    size_t end = kMostShown;
    // A byte 10xxxxxx goes on with a character.
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
      --end;
    }
    text.resize(end);
  }
  return text;
}

std::string OneLine(std::string_view text) {
  std::string line;
  // One byte more tells whether the last character is whole.
  for (size_t i = 0; i < text.size() && line.size() <= kMostShown; ++i) {
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      i = std::min(text.find("*/", i + 2), text.size() - 2) + 1;
    } else if (static_cast<unsigned char>(text[i]) > ' ') {
      line += text[i];
      continue;
    }
    if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  line = CutToShown(std::move(line));
  while (line.ends_with(' ')) {
    line.pop_back();
  }
  return line;
}

}  // namespace kiln::front
