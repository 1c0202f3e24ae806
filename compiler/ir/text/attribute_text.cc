// SPDX-License-Identifier: MIT
#include "compiler/ir/text/attribute_text.h"

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"

namespace kiln::ir {
namespace {

// Those of the form in memory are words without brackets.
// The order of the keys decides, so keys of the form in memory have to stay behind the others.
bool IsPlain(AttributeKey key) { return key >= AttributeKey::kOffset; }

// A word of an attribute is a plain 32-bit value in memory; the facts of the key say what it stands
// for. Printing and reading switch over the same enumeration, so a new kind of word breaks both at
// compile time and not only one.
std::string WordText(AttributeWord word, uint32_t value,
                     const std::function<std::string(uint32_t)>& text) {
  switch (word) {
    case AttributeWord::kNone:
      return {};
    case AttributeWord::kNumber:
      return fmt::format("{}", value);
    case AttributeWord::kText:
      return text(value);
    case AttributeWord::kInterpolation:
      return std::string(NameOf(static_cast<Interpolation>(value)));
    case AttributeWord::kRate:
      return std::string(NameOf(static_cast<Rate>(value)));
    case AttributeWord::kFormat:
      return std::string(NameOf(static_cast<ImageFormat>(value)));
    case AttributeWord::kRuleSet:
      return std::string(NameOf(static_cast<RuleSet>(value)));
  }
  KILN_UNREACHABLE();
}

uint32_t ReadWord(TextScanner& scanner, AttributeWord word,
                  const std::function<uint32_t(std::string_view)>& add_text) {
  switch (word) {
    case AttributeWord::kNone:
      return 0;
    case AttributeWord::kNumber:
      return scanner.Number();
    case AttributeWord::kText:
      return add_text(scanner.Quoted());
    case AttributeWord::kInterpolation:
      return static_cast<uint32_t>(scanner.ReadEnum<Interpolation>());
    case AttributeWord::kRate:
      return static_cast<uint32_t>(scanner.ReadEnum<Rate>());
    case AttributeWord::kFormat:
      return static_cast<uint32_t>(scanner.ReadEnum<ImageFormat>());
    case AttributeWord::kRuleSet:
      return static_cast<uint32_t>(scanner.ReadEnum<RuleSet>());
  }
  KILN_UNREACHABLE();
}

}  // namespace

std::string AttributeText(const Attribute& attribute,
                          const std::function<std::string(uint32_t)>& text) {
  const AttributeFacts& facts = FactsOf(attribute.key);
  std::string out = facts.name;
  // A key without a first word has no second one either.
  if (facts.a == AttributeWord::kNone) {
    return out;
  }
  out += IsPlain(attribute.key) ? " " : "(";
  out += WordText(facts.a, attribute.a, text);
  if (facts.b != AttributeWord::kNone) {
    out += ", " + WordText(facts.b, attribute.b, text);
  }
  return IsPlain(attribute.key) ? out : out + ")";
}

// Accepts attributes in any order, although the printer writes them in the order in which the
// module holds them. AcceptKeyword leaves a name such as `offset : f1` alone, because a member of
// that name may follow.
std::vector<Attribute> ReadAttributes(TextScanner& scanner, bool of_member, uint32_t owner,
                                      const std::function<uint32_t(std::string_view)>& add_text) {
  std::vector<Attribute> attributes;
  for (uint32_t i = 0; i < CountOf<AttributeKey>(); ++i) {
    const auto key = static_cast<AttributeKey>(i);
    const AttributeFacts& facts = FactsOf(key);
    // The keys are tried one by one; there are few, and a text is read for tests and tools only.
    if (!scanner.AcceptKeyword(facts.name)) {
      continue;
    }
    Attribute attribute{
        .of_member = static_cast<uint16_t>(of_member ? 1 : 0), .key = key, .owner = owner};
    const bool bracketed = !IsPlain(key);
    if (bracketed) {
      scanner.Expect("(");
    }
    attribute.a = ReadWord(scanner, facts.a, add_text);
    if (facts.b != AttributeWord::kNone) {
      scanner.Expect(",");
      attribute.b = ReadWord(scanner, facts.b, add_text);
    }
    if (bracketed) {
      scanner.Expect(")");
    }
    attributes.push_back(attribute);
    // After each attribute the search starts from the first key again, so that any key may come
    // next. Repeated keys are read as they stand: the verifier judges them, not the text.
    i = UINT32_MAX;  // the next may be any
  }
  return attributes;
}

}  // namespace kiln::ir
