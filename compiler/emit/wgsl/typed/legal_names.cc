// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/typed/legal_names.h"

#include <fmt/format.h>

#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/names.h"

namespace kiln::wgsl {
namespace {

// Letters of other alphabets are bytes above ASCII, and WGSL has those of Unicode's identifiers.
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Characters that no name has become '_'. A name must not be '_' or begin with two of them.
std::string Spelled(std::string_view source) {
  std::string name(source);
  for (char& c : name) {
    c = IsLetter(c) || IsDigit(c) ? c : '_';
  }
  const bool bad_begin = name.empty() || IsDigit(name[0]) || name == "_" || name.starts_with("__");
  return bad_begin ? "x" + name : name;
}

}  // namespace

// "_1" behind a word, which no word of WGSL has.
std::string LegalName(std::string_view source) {
  std::string name = Spelled(source);
  return KindOfWord(name) == WordKind::kFree ? name : name + "_1";
}

std::string LegalMember(std::string_view source) {
  std::string name = Spelled(source);
  const WordKind kind = KindOfWord(name);
  return kind == WordKind::kFree || kind == WordKind::kPredeclared ? name : name + "_1";
}

bool NameSet::Has(std::string_view name) const { return names_.contains(std::string(name)); }

void NameSet::Add(std::string_view name) {
  ChargeMemory(name.size() + sizeof(std::string));
  names_.emplace(name);
}

// Nothing is taken out, so numbers that were tried stay taken: each is tried once.
std::string NameSet::Take(std::string_view name) {
  std::string free(name);
  if (Has(free)) {
    uint32_t& number = numbers_[free];
    do {
      CheckStop();
      free = fmt::format("{}_{}", name, ++number);
    } while (Has(free));
  }
  Add(free);
  return free;
}

}  // namespace kiln::wgsl
