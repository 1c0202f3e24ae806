// SPDX-License-Identifier: MIT
// One function for each group of attributes; a word of bits says where a group may stand.
#include "compiler/front/hlsl/check/attribute.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/expression.h"

namespace kiln::hlsl {
namespace {

using syntax::AttributeName;

// For HLSL1049, which says where an attribute stands that may not stand there.
std::string_view PlaceText(AttributePlace place) {
  switch (place) {
    case AttributePlace::kMember:
      return "a member";
    case AttributePlace::kGlobal:
      return "a global variable";
    case AttributePlace::kBlock:
      return "a block";
    case AttributePlace::kParameter:
      return "a parameter";
    case AttributePlace::kFunction:
      return "a function";
  }
  KILN_UNREACHABLE();
}

// A word of these is where an attribute may stand.
constexpr uint32_t Bit(AttributePlace place) { return 1u << static_cast<uint32_t>(place); }
constexpr uint32_t kMember = Bit(AttributePlace::kMember);
constexpr uint32_t kGlobal = Bit(AttributePlace::kGlobal);
constexpr uint32_t kBlock = Bit(AttributePlace::kBlock);
constexpr uint32_t kParameter = Bit(AttributePlace::kParameter);
constexpr uint32_t kFunction = Bit(AttributePlace::kFunction);

// Where an attribute may stand; 0: not at declarations.
// spec/hlsl 20. Attributes of statements are not among these: they are read where the statement
// is.
uint32_t PlacesOf(AttributeName name) {
  switch (name) {
    case AttributeName::kVkBinding:
    case AttributeName::kVkPushConstant:
    case AttributeName::kVulkanSet:
    case AttributeName::kKilnSet:
      return kGlobal | kBlock;
    case AttributeName::kVkConstantId:
    case AttributeName::kVkCombinedImageSampler:
    case AttributeName::kVkCounterBinding:
    case AttributeName::kVkImageFormat:
    case AttributeName::kKilnOption:
    case AttributeName::kKilnDepth:
      return kGlobal;
    case AttributeName::kVkOffset:
    case AttributeName::kKilnPack:
      return kMember | kGlobal | kParameter;
    case AttributeName::kKilnMeta:
      return kMember | kGlobal | kBlock | kParameter;
    case AttributeName::kVkLocation:
    case AttributeName::kVkIndex:
    case AttributeName::kVkBuiltin:
      return kMember | kParameter | kFunction;
    case AttributeName::kKilnRate:
    case AttributeName::kKilnSource:
      return kParameter;
    case AttributeName::kKilnConditional:
      return kMember | kGlobal | kBlock | kParameter | kFunction;
    case AttributeName::kKilnSetting:
    case AttributeName::kNumThreads:
    case AttributeName::kEarlyDepthStencil:
    case AttributeName::kShader:
    case AttributeName::kNoInline:
    case AttributeName::kRootSignature:
      return kFunction;
    default:
      return 0;
  }
}

// Families that are not built, by attribute; empty for the others.
std::string_view FamilyOf(AttributeName name) {
  static constexpr std::string_view kFamilies[] = {
#define KILN_HLSL_ATTRIBUTE(enumerator, name_space, text, family) family,
#include "compiler/front/hlsl/syntax/attributes.def"
  };
  return kFamilies[static_cast<size_t>(name)];
}

// kiln::set (pass | material | object | shared | number).
// The four names are sets 0 to 3 (spec/hlsl 23.1, set); a number names any other.
void ReadHomeSet(CheckContext& context, const syntax::Attribute& attribute, Attributes& made) {
  static constexpr std::string_view kNames[] = {"pass", "material", "object", "shared"};
  if (const auto word = WordArgument(context, attribute, 0)) {
    const auto* found = std::ranges::find(kNames, *word);
    if (found == std::end(kNames)) {
      return SayNeeds(context, attribute, "pass, material, object, shared or a number");
    }
    made.home_set = static_cast<uint32_t>(found - std::begin(kNames));
  } else if (const auto number = NumberArgument(context, attribute, 0)) {
    made.home_set = *number;
  }
}

// What was there stays after an error, which was reported.
void ReadNumber(CheckContext& context, const syntax::Attribute& attribute, uint32_t& made) {
  if (const auto number = NumberArgument(context, attribute, 0)) {
    made = *number;
  }
}

void ReadText(CheckContext& context, const syntax::Attribute& attribute, std::string_view& made) {
  if (const auto word = WordArgument(context, attribute, 0)) {
    made = *word;
  } else {
    SayNeeds(context, attribute, "a name or a string");
  }
}

// Families without a lowering are refused by name, so that nobody believes they had
// an effect.
void Refuse(CheckContext& context, const syntax::Attribute& attribute, std::string_view family) {
  context.Refuse({attribute.begin, attribute.end}, context.Text(attribute.token), family);
}

// One attribute of a declaration, into the fields that layouts and interfaces ask for. What is
// read by somebody else is passed over.
void ReadAttribute(CheckContext& context, const syntax::Attribute& attribute, Attributes& made) {
  switch (attribute.name) {
    case AttributeName::kVkBinding:
      ReadNumber(context, attribute, made.binding);
      // The set is a second argument, or an attribute of its own in the seed's spelling.
      if (ArgumentCount(context, attribute) > 1) {
        made.set = NumberArgument(context, attribute, 1).value_or(kNoRow);
      }
      return;
    case AttributeName::kVulkanSet:
      return ReadNumber(context, attribute, made.set);
    case AttributeName::kVkPushConstant:
      made.push_constant = true;
      return;
    case AttributeName::kVkCombinedImageSampler:
      made.combined = true;
      return;
    case AttributeName::kVkConstantId:
      return ReadNumber(context, attribute, made.constant_id);
    case AttributeName::kVkOffset:
      return ReadNumber(context, attribute, made.offset);
    case AttributeName::kVkLocation:
      return ReadNumber(context, attribute, made.location);
    case AttributeName::kVkIndex:
      return ReadNumber(context, attribute, made.index);
    case AttributeName::kVkCounterBinding:
      return ReadNumber(context, attribute, made.counter);
    case AttributeName::kVkBuiltin:
      return ReadText(context, attribute, made.builtin);
    case AttributeName::kVkImageFormat:
      return ReadText(context, attribute, made.image_format);
    case AttributeName::kKilnSet:
      return ReadHomeSet(context, attribute, made);
    case AttributeName::kKilnSource:
      return ReadText(context, attribute, made.source);
    case AttributeName::kKilnPack:
      return Refuse(context, attribute, "pack formats");
    case AttributeName::kKilnMeta:
      return Refuse(context, attribute, "tags of metadata");
    case AttributeName::kKilnDepth:
      made.depth = true;
      return;
    case AttributeName::kKilnRate: {
      const auto word = WordArgument(context, attribute, 0);
      if (word != "instance" && word != "vertex") {
        return SayNeeds(context, attribute, "instance or vertex");
      }
      made.instance_rate = word == "instance";
      return;
    }
    default:
      return;  // of whoever asks for it
  }
}

// The number behind a name; a name without one counts as 0.
// `TEXCOORD3` is TEXCOORD with the number 3; `SV_Target` has number 0. A number that does not
// fit is part of the name.
std::pair<std::string_view, uint32_t> SplitNumber(std::string_view text) {
  size_t digits = text.size();
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') {
    --digits;
  }
  uint32_t number = 0;
  const std::string_view tail = text.substr(digits);
  const std::errc error = std::from_chars(tail.data(), tail.data() + tail.size(), number).ec;
  if (!tail.empty() && (error != std::errc{} || digits == 0)) {
    return {text, 0};
  }
  return {text.substr(0, digits), number};
}

// "b0", "space2".
std::optional<uint32_t> NumberBehind(std::string_view text, std::string_view prefix) {
  uint32_t number = 0;
  if (!text.starts_with(prefix) || text.size() == prefix.size()) {
    return std::nullopt;
  }
  const char* first = text.data() + prefix.size();
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, number);
  return error == std::errc{} && end == last ? std::optional(number) : std::nullopt;
}

// spec/hlsl 16.2: one register and one space, in either order.
void ReadRegister(CheckContext& context, const syntax::Place& place, Attributes& made) {
  const std::span<const uint32_t> words = context.ast.List(place.arguments);
  const auto malformed = [&] {
    const TokenRange at{place.begin, place.end};
    context.Say(context.At(Code::kHlsl4021, at).With("text", context.Text(at)));
  };
  for (const uint32_t token : words) {
    const std::string_view text = context.Text(token);
    if (const auto space = NumberBehind(text, "space")) {
      made.register_space = *space;
      continue;
    }
    const bool known =
        !text.empty() && std::string_view("btsucBTSUC").find(text[0]) != std::string_view::npos;
    if (!known || !NumberBehind(text, text.substr(0, 1)) || !made.register_name.empty()) {
      return malformed();
    }
    made.register_name = text;
  }
  if (words.empty()) {
    malformed();
  }
}

// packoffset (c4.y): 16 bytes for each register, 4 for each component.
void ReadPackOffset(CheckContext& context, const syntax::Place& place, Attributes& made) {
  const std::span<const uint32_t> words = context.ast.List(place.arguments);
  const auto number = words.empty() ? std::nullopt : NumberBehind(context.Text(words[0]), "c");
  const std::string_view component = words.size() > 1 ? context.Text(words[1]) : "x";
  const size_t index =
      component.size() == 1 ? std::string_view("xyzw").find(component[0]) : std::string_view::npos;
  const TokenRange at{place.begin, place.end};
  // The bound keeps the offset in 32 bits.
  if (!number || *number > (1u << 24) || words.size() > 2 || index == std::string_view::npos) {
    context.Say(context.At(Code::kHlsl4014, at)
                    .With("text", context.Text(at))
                    .With("name", context.Text(context.name_token)));
    return;
  }
  made.offset = *number * 16 + static_cast<uint32_t>(index) * 4;
}

// spec/hlsl 16.1: a register space beside another set would have to be one of the two.
void CheckHome(CheckContext& context, const syntax::Place& place, const Attributes& made) {
  if (made.home_set != kNoRow && made.register_space != kNoRow &&
      made.home_set != made.register_space) {
    const TokenRange at{place.begin, place.end};
    context.Refuse(at, context.Text(at), "register spaces beside another 'kiln::set'");
  }
}

// What stands behind colons. The last of a kind counts.
void ReadPlaces(CheckContext& context, syntax::RowRange places, Attributes& made) {
  for (uint32_t i = 0; i < places.count; ++i) {
    const syntax::Place& place = context.ast.places[places.first + i];
    if (place.kind == syntax::PlaceKind::kSemantic) {
      std::tie(made.semantic, made.semantic_index) = SplitNumber(context.Text(place.token));
      made.semantic_token = place.token;
    } else if (place.kind == syntax::PlaceKind::kRegister) {
      ReadRegister(context, place, made);
      CheckHome(context, place, made);
    } else {
      ReadPackOffset(context, place, made);
    }
  }
}

// spec/hlsl 17.5. `linear` is what interpolation is without a word.
void ReadModifiers(const syntax::Type& type, Attributes& made) {
  using enum syntax::Modifier;
  const std::pair<syntax::Modifier, ir::Interpolation> kinds[] = {
      {kCentroid, ir::Interpolation::kCentroid},
      {kNoInterpolation, ir::Interpolation::kFlat},
      {kNoPerspective, ir::Interpolation::kNoPerspective},
      {kSample, ir::Interpolation::kSample},
  };
  for (const auto& [modifier, interpolation] : kinds) {
    if (type.Has(modifier)) {
      made.interpolation = static_cast<uint32_t>(interpolation);
    }
  }
  made.row_major = type.Has(kRowMajor);
  made.column_major = type.Has(kColumnMajor);
}

// Attributes in the order of the source. One that is misplaced or not built is reported and
// left out, so what is returned is right as far as it goes.
void ReadAttributes(CheckContext& context, AttributePlace place, syntax::RowRange rows,
                    Attributes& made, Annotations& declared) {
  for (uint32_t i = 0; i < rows.count; ++i) {
    const syntax::Attribute& attribute = context.ast.attributes[rows.first + i];
    if (const std::string_view family = FamilyOf(attribute.name); !family.empty()) {
      context.Refuse({attribute.begin, attribute.end}, context.Text(attribute.token), family);
      continue;
    }
    if ((PlacesOf(attribute.name) & Bit(place)) == 0) {
      SayMisplaced(context, attribute, PlaceText(place));
      continue;
    }
    // spec/hlsl 8.4: the condition is known when options are. It converts to bool as any
    // condition does.
    if (attribute.name == AttributeName::kKilnConditional) {
      if (ArgumentCount(context, attribute) != 1) {
        SayNeeds(context, attribute, "a condition");
        continue;
      }
      const ExprId value = CheckExpr(context, ArgumentAt(context, attribute, 0));
      const ExprId condition = Condition(context, value, "'kiln::conditional'");
      if (context.Get(condition).kind != ExprKind::kFailed &&
          context.Get(condition).rate > Rate::kOption) {
        const TokenRange at = context.Get(value).at;
        context.Say(context.At(Code::kHlsl2028, at).With("text", context.Text(at)));
        continue;
      }
      declared.condition = condition;
    } else if (attribute.name == AttributeName::kKilnOption) {
      declared.option = &attribute;
    } else {
      ReadAttribute(context, attribute, made);
    }
  }
}

// Most declarations have nothing, and then they have no row.
bool IsEmpty(const Attributes& made) {
  return made.semantic.empty() && made.builtin.empty() && made.image_format.empty() &&
         made.register_name.empty() && made.source.empty() && made.register_space == kNoRow &&
         made.binding == kNoRow && made.set == kNoRow && made.counter == kNoRow &&
         made.location == kNoRow && made.index == kNoRow && made.offset == kNoRow &&
         made.constant_id == kNoRow && made.interpolation == kNoRow && made.home_set == kNoRow &&
         !made.instance_rate && !made.row_major && !made.column_major && !made.push_constant &&
         !made.depth && !made.combined;
}

}  // namespace

// Attributes of a declaration hold for all its variables, those of a declarator for one.
Annotations DeclaredOf(CheckContext& context, AttributePlace place, const syntax::Decl& decl,
                       const syntax::Variable& variable) {
  Annotations declared;
  Attributes made;
  if (place != AttributePlace::kParameter) {
    ReadAttributes(context, place, decl.attributes, made, declared);
  }
  ReadAttributes(context, place, variable.attributes, made, declared);
  ReadPlaces(context, variable.places, made);
  if (variable.type != syntax::kNone) {
    ReadModifiers(context.ast.types[variable.type], made);
  }
  if (!IsEmpty(made)) {
    declared.attributes = context.AddAttributes(made);
  }
  return declared;
}

// The attributes of a function are those of its result.
Annotations DeclaredOfFunction(CheckContext& context, const syntax::Decl& decl) {
  Annotations declared;
  Attributes made;
  const AttributePlace place =
      decl.kind == syntax::DeclKind::kBlock ? AttributePlace::kBlock : AttributePlace::kFunction;
  ReadAttributes(context, place, decl.attributes, made, declared);
  ReadPlaces(context, decl.places, made);
  if (decl.type != syntax::kNone) {
    ReadModifiers(context.ast.types[decl.type], made);
  }
  if (!IsEmpty(made)) {
    declared.attributes = context.AddAttributes(made);
  }
  return declared;
}

// Two words for each argument: first row and root of an expression.
size_t ArgumentCount(const CheckContext& context, const syntax::Attribute& attribute) {
  return context.ast.List(attribute.arguments).size() / 2;
}

// Requires: `i` is less than ArgumentCount.
syntax::ExprRange ArgumentAt(const CheckContext& context, const syntax::Attribute& attribute,
                             size_t i) {
  const std::span<const uint32_t> words = context.ast.List(attribute.arguments);
  return {words[2 * i], words[2 * i + 1]};
}

// A word or a string, not evaluated: `pass` need not be declared anywhere.
std::optional<std::string_view> WordArgument(const CheckContext& context,
                                             const syntax::Attribute& attribute, size_t i) {
  if (i >= ArgumentCount(context, attribute)) {
    return std::nullopt;
  }
  const syntax::Expr& row = context.ast.exprs[ArgumentAt(context, attribute, i).root];
  if (row.kind == syntax::ExprKind::kString) {
    return context.ast.StringOf(row);
  }
  return row.kind == syntax::ExprKind::kName && row.a == syntax::kNone
             ? std::optional(context.Text(row.token))
             : std::nullopt;
}

// An integer from 0 to 2^31 - 1 that is constant.
std::optional<uint32_t> NumberArgument(CheckContext& context, const syntax::Attribute& attribute,
                                       size_t i) {
  if (i < ArgumentCount(context, attribute)) {
    const ExprId id = CheckExpr(context, ArgumentAt(context, attribute, i));
    if (context.Get(id).kind == ExprKind::kFailed) {
      return std::nullopt;
    }
    const std::optional<Scalar> value = ScalarOf(context, id);
    if (value && !IsFloat(value->item) && Integer(*value) >= 0 &&
        Integer(*value) <= std::numeric_limits<int32_t>::max()) {
      return static_cast<uint32_t>(Integer(*value));
    }
  }
  SayNeeds(context, attribute, "a number");
  return std::nullopt;
}

// One message for all mistakes in arguments, with what the attribute takes.
void SayNeeds(CheckContext& context, const syntax::Attribute& attribute,
              std::string_view expected) {
  const TokenRange at{attribute.begin, attribute.end};
  context.Say(context.At(Code::kHlsl1046, at)
                  .With("name", context.Text(attribute.token))
                  .With("expected", expected)
                  .With("text", context.Text(at)));
}

// An attribute that is known but has no meaning where it stands.
void SayMisplaced(CheckContext& context, const syntax::Attribute& attribute,
                  std::string_view what) {
  context.Say(context.At(Code::kHlsl1049, {attribute.begin, attribute.end})
                  .With("name", context.Text(attribute.token))
                  .With("what", what));
}

// Statements that have no attributes of their own.
void SayNoAttributes(CheckContext& context, const syntax::Stmt& row) {
  for (uint32_t i = 0; i < row.attributes.count; ++i) {
    SayMisplaced(context, context.ast.attributes[row.attributes.first + i], "this statement");
  }
}

// spec/hlsl 12: hints for `if` and `switch`. `call` and `forcecase` are accepted and mean
// nothing.
ir::BranchHint BranchHintOf(CheckContext& context, const syntax::Stmt& row) {
  ir::BranchHint hint = ir::BranchHint::kNone;
  for (uint32_t i = 0; i < row.attributes.count; ++i) {
    const syntax::Attribute& attribute = context.ast.attributes[row.attributes.first + i];
    if (attribute.name == syntax::AttributeName::kBranch) {
      hint = ir::BranchHint::kDontFlatten;
    } else if (attribute.name == syntax::AttributeName::kFlatten) {
      hint = ir::BranchHint::kFlatten;
    } else if (attribute.name != syntax::AttributeName::kCall &&
               attribute.name != syntax::AttributeName::kForceCase) {
      SayMisplaced(context, attribute, "a branch");
    }
  }
  return hint;
}

// Rounds are kept in a byte; more than 255 are a plain unroll.
void ReadLoopHint(CheckContext& context, const syntax::Stmt& row, Stmt& loop) {
  for (uint32_t i = 0; i < row.attributes.count; ++i) {
    const syntax::Attribute& attribute = context.ast.attributes[row.attributes.first + i];
    if (attribute.name == syntax::AttributeName::kLoop ||
        attribute.name == syntax::AttributeName::kFastOpt) {
      loop.hint = static_cast<uint8_t>(ir::LoopHint::kDontUnroll);
    } else if (attribute.name == syntax::AttributeName::kUnroll) {
      loop.hint = static_cast<uint8_t>(ir::LoopHint::kUnroll);
      if (ArgumentCount(context, attribute) > 0) {
        const uint32_t rounds = NumberArgument(context, attribute, 0).value_or(0);
        loop.rounds = rounds > 255 ? uint8_t{0} : static_cast<uint8_t>(rounds);
      }
    } else if (attribute.name != syntax::AttributeName::kAllowUavCondition) {
      SayMisplaced(context, attribute, "a loop");
    }
  }
}

}  // namespace kiln::hlsl
