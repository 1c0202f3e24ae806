// SPDX-License-Identifier: MIT
// Tables in an order in which each may rely on those before it: strings, compile-time expressions,
// types whose extents they are, constants of those types, then what declares things. Rows refer
// backwards, so nesting is counted in one pass and no recursion is needed before it is known to be
// bounded. Rows may be shared; what a walk over them could cost is charged to the budget.
#include "compiler/ir/verify/verify_generic.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text/utf8.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/text/spelling.h"

namespace kiln::ir {
namespace {

// A composite constant prints and closes as a tree; this bounds its leaves.
constexpr uint32_t kMaxConstLeaves = 1u << 16;

// An enumerator of an image from outside may be any number.
template <class Enum>
bool IsEnum(uint32_t value) {
  return value < CountOf<Enum>();
}
template <class Enum>
bool IsEnum(Enum value) {
  return IsEnum<Enum>(static_cast<uint32_t>(value));
}

bool IsImageType(const Type& type) {
  const ImageTraits traits = UnpackImage(type.extent);
  if (!IsEnum(traits.dim) || !IsEnum(traits.format)) {
    return false;
  }
  // A format fixes the scalar of its texels; without a format any scalar will do that a texel can
  // have.
  const bool item = traits.format == ImageFormat::kUnknown
                        ? type.scalar != Scalar::kNone && type.scalar != Scalar::kBool
                        : type.scalar == ItemOf(traits.format);
  // Packing what was unpacked must give the same word, so no unknown bit survives.
  return item && PackImage(traits) == type.extent &&
         (traits.storage || traits.format == ImageFormat::kUnknown) &&
         !(traits.depth && traits.unknown_depth);
}

// Blocks are types too: of the place that is the whole block.
bool HasMembersInMemory(DeclKind kind) {
  return kind == DeclKind::kStruct || kind == DeclKind::kBuffer || kind == DeclKind::kPushConstant;
}

// Some attributes belong to declarations, some to members, some to both.
bool Allows(AttributeOwners owners, bool of_member) {
  const uint8_t one =
      static_cast<uint8_t>(of_member ? AttributeOwners::kMember : AttributeOwners::kDecl);
  return (static_cast<uint8_t>(owners) & one) != 0;
}

}  // namespace

// The order is that of dependence, as the head of this file says; each step relies on those before
// it.
void TableVerifier::Run() {
  if (!IsEnum(module_.header.language)) {
    rows_.Check(false, "language", 0);
  }
  rows_.Check(module_.header.typed <= 1 && module_.header.rules <= kAllRules, "facts of the header",
              0);
  VerifyStrings();
  VerifyCexprs();
  VerifyTypes();
  VerifyConsts();
  VerifyOptions();
  VerifyDecls();
  VerifyAttributes();
  VerifyLocals();
  VerifySpans();
}

// Strings lie one behind the other, and only their ends are kept. If ends never go back and the
// last is the size, then every string is inside.
void TableVerifier::VerifyStrings() {
  uint32_t end = 0;
  for (size_t i = 0; i < module_.string_ends.size() && rows_.ok(); ++i) {
    rows_.Check(module_.string_ends[i] >= end, "strings overlap", i);
    end = module_.string_ends[i];
  }
  if (!rows_.Check(end == module_.string_bytes.size(), "string bytes", end)) {
    return;
  }
  // UTF-8 is checked once for all, so that messages may print any name without looking at it.
  for (uint32_t i = 0; i < module_.string_ends.size() && rows_.ok(); ++i) {  // sources are UTF-8
    const std::string_view text = module_.Text(StringId{i});
    rows_.Check(FindInvalidUtf8(text) == text.size(), "a string that is no UTF-8", i);
  }
}

// Row 0 is `true` by convention: conditions that are not written refer to it.
void TableVerifier::VerifyCexprs() {
  const size_t count = module_.cexprs.size();
  cexpr_nesting_.resize(count);
  cexpr_is_typed_.resize(count);
  const Cexpr literal_true{.kind = static_cast<uint16_t>(ValueKind::kFlag), .a = 1};
  // An empty table is refused here, since all conditions need the row.
  rows_.Check(count != 0 && module_.cexprs[0] == literal_true, "the first cexpr is `true`", 0);
  for (uint32_t i = 0; i < count && rows_.ok(); ++i) {
    VerifyCexpr(i);
  }
}

// A text, or a value that fits its kind.
bool TableVerifier::VerifyLiteral(const Cexpr& cexpr) const {
  const auto kind = static_cast<ValueKind>(cexpr.kind);
  if (kind == ValueKind::kString) {
    return rows_.IsString(StringId{cexpr.a});
  }
  return cexpr.kind < static_cast<uint16_t>(ValueKind::kString) &&
         (kind != ValueKind::kFlag || cexpr.a <= 1);
}

void TableVerifier::VerifyCexpr(uint32_t row) {
  const Cexpr& cexpr = module_.cexprs[row];
  const bool wraps =
      cexpr.zero == kWrapping && module_.header.typed != 0 && IsEnum(cexpr.op) && MayWrap(cexpr.op);
  if (!rows_.Check(IsEnum(cexpr.op) && (cexpr.zero == 0 || wraps), "operator of a cexpr", row)) {
    return;
  }
  uint32_t below = 0;
  uint32_t left = 0;  // of a chain, which adds no level (ids.h)
  // Operands come before the row that uses them. So there is no cycle, and depth and kinds of
  // operands are known.
  const auto use = [&](uint32_t operand) {
    if (rows_.Check(operand < row, "an operand of a cexpr follows it", row)) {
      below = std::max(below, cexpr_nesting_[operand]);
      cexpr_is_typed_[row] = cexpr_is_typed_[row] || cexpr_is_typed_[operand];
    }
  };
  const auto use_all = [&](ListId list) {
    if (rows_.Check(rows_.WordsBelow(list, row), "operands of a cexpr", row)) {
      std::ranges::for_each(module_.List(list), use);
    }
  };
  switch (ShapeOf(cexpr.op)) {
    case CexprShape::kLiteral:
      rows_.Check(VerifyLiteral(cexpr), "literal", row);
      break;
    case CexprShape::kName:
      rows_.Check(rows_.IsString(StringId{cexpr.a}), "name of a cexpr", row);
      break;
    case CexprShape::kUnary:
      rows_.Check(
          cexpr.op != CexprOp::kConvert || cexpr.kind < static_cast<uint32_t>(ValueKind::kString),
          "target of a conversion", row);
      use(cexpr.a);
      break;
    case CexprShape::kBinary:
      use(cexpr.a);
      // A long sum is deep on its left side, and evaluation handles this side in a loop. It costs
      // no depth, as programs of a generator have sums of thousands of terms.
      left = std::exchange(below, 0);
      use(cexpr.b);
      break;
    case CexprShape::kSelect:
      use(cexpr.a);
      use_all(ListId{cexpr.b});
      rows_.Check(rows_.IsList(ListId{cexpr.b}) && module_.List(ListId{cexpr.b}).size() == 2,
                  "choices", row);
      break;
    case CexprShape::kComposite:
      rows_.Check(rows_.IsType(TypeId{cexpr.a}), "type of a composite", row);
      use_all(ListId{cexpr.b});
      // Types may depend on expressions, and such an expression on types; marked here, it is
      // refused as an extent below, which breaks the cycle.
      cexpr_is_typed_[row] = true;
      break;
    case CexprShape::kInvalid:
      rows_.Check(IsEnum<InvalidCexpr>(cexpr.kind) && rows_.IsString(StringId{cexpr.a}),
                  "invalid cexpr", row);
      break;
  }
  cexpr_nesting_[row] = std::max(left, below + 1);
  rows_.Check(below < kMaxNesting, "a cexpr is nested too deep", row);
}

void TableVerifier::VerifyTypes() {
  std::vector<uint32_t> nesting(module_.types.size(), 1);
  for (uint32_t i = 0; i < module_.types.size() && rows_.ok(); ++i) {
    VerifyType(i);
    const Type& type = module_.types[i];
    // Only arrays nest by themselves here; structs are counted with their declarations.
    if (rows_.ok() && (type.kind == TypeKind::kArray || type.kind == TypeKind::kRuntimeArray)) {
      nesting[i] = nesting[type.element] + 1;
      rows_.Check(nesting[i] <= kMaxNesting, "a type is nested too deep", i);
    }
  }
}

// The struct that a type is or holds; invalid if there is none. Requires: the type has been
// checked.
DeclId TableVerifier::StructIn(TypeId id) const {
  const Type* type = &module_.types[id.value];
  while (type->kind == TypeKind::kArray || type->kind == TypeKind::kRuntimeArray) {
    type = &module_.types[type->element];
  }
  return type->kind == TypeKind::kDeclared ? DeclId{type->element} : DeclId{};
}

// In typed modules a declaration names structs above it alone, so that none holds itself, and the
// nesting of structs is counted as rows come.
void TableVerifier::UseType(uint32_t row, TypeId id) {
  if (!rows_.ok() || !rows_.IsType(id)) {
    return;
  }
  // Structs hold those above them only. The nesting of the row is then one more than that of its
  // deepest member, without any recursion.
  if (const DeclId held = StructIn(id); held.valid()) {
    rows_.Check(held.value < row, "a declaration names a struct below it", row);
    if (rows_.ok()) {
      struct_nesting_[row] = std::max(struct_nesting_[row], struct_nesting_[held.value] + 1);
      rows_.Check(struct_nesting_[row] <= kMaxNesting, "structs are nested too deep", row);
    }
  }
}

// Each kind is compared with the row that its constructor would make. So fields that a kind does
// not use are zero, and equal types are equal rows.
void TableVerifier::VerifyType(uint32_t row) {
  const Type& type = module_.types[row];
  if (!rows_.Check(IsEnum(type.kind) && IsEnum(type.scalar) && type.flags == 0, "kind of a type",
                   row)) {
    return;
  }
  const bool item = type.element < row;
  bool good = false;
  switch (type.kind) {
    case TypeKind::kDeferred:
      good = module_.header.typed == 0 && type == Type{.kind = type.kind};
      break;
    case TypeKind::kVoid:
    case TypeKind::kSampler:
    case TypeKind::kAccel:
    case TypeKind::kRayQuery:
      good = type == Type{.kind = type.kind};
      break;
    case TypeKind::kVector:
      good = type.scalar != Scalar::kNone && type.rows >= 1 && type.rows <= 4 &&
             type == VectorType(type.scalar, type.rows);
      break;
    case TypeKind::kMatrix:
      good = type.scalar != Scalar::kNone && type.rows >= 2 && type.rows <= 4 &&
             type.columns >= 2 && type.columns <= 4 &&
             type == MatrixType(type.scalar, type.columns, type.rows);
      break;
    case TypeKind::kArray:
      good = item && rows_.IsCexpr(CexprId{type.extent}) && !cexpr_is_typed_[type.extent] &&
             type == ArrayType(TypeId{type.element}, type.extent);
      break;
    case TypeKind::kRuntimeArray:
      good = item && type == Type{.kind = type.kind, .element = type.element};
      break;
    case TypeKind::kImage:
    case TypeKind::kSampledImage:
      good = IsImageType(type) &&
             type == Type{.kind = type.kind, .scalar = type.scalar, .extent = type.extent};
      break;
    case TypeKind::kNamed:
      good = module_.header.typed == 0 && rows_.IsString(StringId{type.element}) &&
             type == Type{.kind = type.kind, .element = type.element};
      break;
    case TypeKind::kDeclared:
      good = module_.header.typed != 0 && type.element < module_.decls.size() &&
             HasMembersInMemory(module_.decls[type.element].kind) &&
             type == Type{.kind = type.kind, .element = type.element};
      break;
    case TypeKind::kStruct:
      break;  // only a pool has shapes
  }
  rows_.Check(good, "type", row);
}

// Parts come before the whole. Shared parts make the tree larger than the table; it is the number
// of leaves that printing and specialising pay for.
void TableVerifier::VerifyConsts() {
  std::vector<uint32_t> leaves(module_.consts.size(), 1);
  std::vector<uint32_t> nesting(module_.consts.size(), 1);
  for (uint32_t i = 0; i < module_.consts.size() && rows_.ok(); ++i) {
    const Const& row = module_.consts[i];
    if (!rows_.Check(rows_.IsType(row.type) && row.composite <= 1, "constant", i)) {
      return;
    }
    const Type& type = module_.types[row.type.value];
    const bool scalar = type.kind == TypeKind::kVector && type.rows == 1;
    const bool wide = scalar && BitWidthOf(type.scalar) == 64;
    rows_.Check(row.high == 0 || (wide && row.composite == 0), "upper half of a constant", i);
    if (row.composite == 0) {
      const bool narrow = type.scalar == Scalar::kS16 || type.scalar == Scalar::kU16;
      rows_.Check(scalar && (!narrow || row.a <= 0xffffu), "type of a scalar constant", i);
      continue;
    }
    const ListId parts{row.a};
    if (!rows_.Check(parts.valid() && rows_.WordsBelow(parts, i), "parts of a constant", i)) {
      return;
    }
    for (const uint32_t part : module_.List(parts)) {
      // Saturating, so that the sum of many large parts cannot wrap around.
      leaves[i] = std::min(leaves[i] + leaves[part], kMaxConstLeaves + 1);
      nesting[i] = std::max(nesting[i], nesting[part] + 1);
    }
    rows_.Check(leaves[i] <= kMaxConstLeaves && nesting[i] <= kMaxNesting, "size of a constant", i);
  }
}

void TableVerifier::VerifyOptions() {
  for (uint32_t i = 0; i < module_.options.size() && rows_.ok(); ++i) {
    const Option& option = module_.options[i];
    rows_.Check(rows_.IsString(option.name) && IsEnum(option.scope) && IsEnum(option.kind) &&
                    option.specialize <= 1,
                "option", i);
    const bool is_enum = option.kind == OptionKind::kEnum;
    // Only an enumeration has names of values, and one without any could have no value.
    rows_.Check(is_enum == option.values.valid() &&
                    rows_.WordsBelow(option.values, module_.string_ends.size()) &&
                    (!is_enum || !module_.List(option.values).empty()),
                "values of an option", i);
    if (!rows_.ok()) {
      return;
    }
    rows_.Check((!is_enum || option.default_value < module_.List(option.values).size()) &&
                    (option.kind != OptionKind::kFlag || option.default_value <= 1),
                "default of an option", i);
    rows_.Check(rows_.IsSpan(option.span), "span of an option", i);
  }
}

// Members of all declarations lie one behind the other in the order of the declarations, without
// gaps.
void TableVerifier::VerifyDecls() {
  struct_nesting_.resize(module_.decls.size());
  size_t members = 0;
  for (uint32_t i = 0; i < module_.decls.size() && rows_.ok(); ++i) {
    const Decl& decl = module_.decls[i];
    // Compared with what is left and not added up, so nothing can overflow.
    if (!rows_.Check(
            decl.first_member == members && decl.member_count <= module_.members.size() - members,
            "members of a declaration", i)) {
      return;
    }
    members += decl.member_count;
    VerifyDecl(i);
    VerifyMembers(decl);
  }
  rows_.Check(members == module_.members.size(), "members of no declaration", members);
}

// Fields that a kind does not use have to be zero, so that equal declarations are equal bytes.
void TableVerifier::VerifyDecl(uint32_t row) {
  const Decl& decl = module_.decls[row];
  if (!rows_.Check(IsEnum(decl.kind) && rows_.IsString(decl.name) && rows_.IsCexpr(decl.condition),
                   "declaration", row)) {
    return;
  }
  const uint32_t low = decl.flags & 0xffu;
  const uint32_t high = decl.flags >> 8u;
  // What no kind uses must be zero, for the same reason as in types.
  bool flags = decl.flags == 0;
  if (decl.kind == DeclKind::kContainer) {
    flags = IsEnum<ContainerKind>(low) && high == 0;
  } else if (decl.kind == DeclKind::kBuffer) {
    flags = IsEnum<BufferKind>(low) && IsEnum<ResourceSet>(high);
  } else if (decl.kind == DeclKind::kSampler) {
    flags = low == 0 && IsEnum<ResourceSet>(high);
  } else if (decl.kind == DeclKind::kImage) {
    flags = IsEnum<ImageAccess>(low) && IsEnum<ResourceSet>(high);
  } else if (decl.kind == DeclKind::kFunction) {
    flags = decl.flags <= 1;
  } else if (decl.kind == DeclKind::kEntry) {
    flags = IsEnum<Stage>(decl.flags);
  } else if (decl.kind == DeclKind::kSetting) {
    flags = module_.header.typed != 0 || decl.flags == 0;
  }
  rows_.Check(flags, "flags of a declaration", row);
  rows_.Check(VerifyDeclType(decl), "type of a declaration", row);
  UseType(row, decl.type);
  const bool typed = module_.header.typed != 0;
  rows_.Check(typed || (decl.kind != DeclKind::kPrivate && decl.kind != DeclKind::kEntry),
              "a declaration of typed modules", row);
  if (typed && decl.kind == DeclKind::kSetting) {
    rows_.Check(decl.aux == kNoRow || IsFunctionAbove(row, decl.aux), "owner of a setting", row);
  }
  // Either a constant or a function gives the first value of a variable, never both.
  if (decl.kind == DeclKind::kPrivate) {
    rows_.Check(decl.aux == kNoRow || (IsFunctionAbove(row, decl.aux) && decl.body == kNoRow &&
                                       module_.decls[decl.aux].member_count == 0 &&
                                       module_.decls[decl.aux].type == decl.type),
                "what computes a variable takes nothing and gives its value", row);
  }
  // The word `body` means a row of another table for each kind.
  bool body = decl.body == kNoRow;
  if (decl.kind == DeclKind::kPrivate) {
    body = body || rows_.IsCexpr(CexprId{decl.body});
  } else if (decl.kind == DeclKind::kEntry) {
    body = IsFunctionAbove(row, decl.body);
  }
  if (decl.kind == DeclKind::kConstant || decl.kind == DeclKind::kSetting) {
    body = rows_.IsCexpr(CexprId{decl.body});
  } else if (decl.kind == DeclKind::kFunction) {
    body = decl.body < module_.regions.size();
  }
  rows_.Check(body, "body of a declaration", row);
}

bool TableVerifier::IsFunctionAbove(uint32_t row, uint32_t id) const {
  return id < row && module_.decls[id].kind == DeclKind::kFunction;
}

// RPL's blocks have members, those of typed modules may have a type instead.
bool TableVerifier::VerifyDeclType(const Decl& decl) const {
  const bool required = decl.kind == DeclKind::kSampler || decl.kind == DeclKind::kImage ||
                        decl.kind == DeclKind::kFunction || decl.kind == DeclKind::kWorkgroup ||
                        decl.kind == DeclKind::kPrivate;
  const bool typed = module_.header.typed != 0;
  const bool block = decl.kind == DeclKind::kBuffer || decl.kind == DeclKind::kPushConstant;
  if (!rows_.IsType(decl.type)) {
    // A buffer of a typed module says what it holds by members or by a type, and one of the two has
    // to be there.
    const bool content = typed && decl.kind == DeclKind::kBuffer && decl.member_count == 0;
    return !required && !content && !decl.type.valid();
  }
  if (typed && block) {
    const Type* content = &module_.types[decl.type.value];
    while (content->kind == TypeKind::kArray && decl.kind == DeclKind::kBuffer) {
      content = &module_.types[content->element];
    }
    return decl.member_count == 0 && content->kind == TypeKind::kDeclared;
  }
  // A copy, since the loop below steps from type to type.
  Type type = module_.types[decl.type.value];
  if (decl.kind == DeclKind::kSampler && !typed) {
    return type.kind == TypeKind::kSampler;
  }
  while (type.kind == TypeKind::kArray) {
    type = module_.types[type.element];
  }
  if (decl.kind == DeclKind::kSampler) {
    return type.kind == TypeKind::kSampler;
  }
  return decl.kind != DeclKind::kImage || type.kind == TypeKind::kImage ||
         type.kind == TypeKind::kSampledImage;
}

// Each key says what its two words are (FactsOf).
bool TableVerifier::IsAttributeWord(AttributeWord word, uint32_t value) const {
  switch (word) {
    case AttributeWord::kNone:
      return value == 0;
    case AttributeWord::kNumber:
      return true;
    case AttributeWord::kText:
      return rows_.IsString(StringId{value});
    case AttributeWord::kInterpolation:
      return IsEnum<Interpolation>(value);
    case AttributeWord::kRate:
      return IsEnum<Rate>(value);
    case AttributeWord::kFormat:
      return IsEnum<ImageFormat>(value);
    case AttributeWord::kRuleSet:
      return IsEnum<RuleSet>(value);
  }
  KILN_UNREACHABLE();
}

// Sorted by owner, those of declarations first: the attributes of one owner are then found by a
// binary search.
void TableVerifier::VerifyAttributes() {
  const std::span<const Attribute> rows = module_.attributes;
  rows_.Check(rows.empty() || module_.header.typed != 0, "attributes of an untyped module", 0);
  for (size_t i = 0; i < rows.size() && rows_.ok(); ++i) {
    const Attribute& row = rows[i];
    const size_t owners = row.of_member == 0 ? module_.decls.size() : module_.members.size();
    if (!rows_.Check(row.of_member <= 1 && IsEnum(row.key) && row.owner < owners, "attribute", i)) {
      return;
    }
    const AttributeFacts& facts = FactsOf(row.key);
    rows_.Check(Allows(facts.owners, row.of_member != 0) && IsAttributeWord(facts.a, row.a) &&
                    IsAttributeWord(facts.b, row.b),
                "value of an attribute", i);
    if (i > 0) {
      const auto before = std::pair(rows[i - 1].of_member, rows[i - 1].owner);
      rows_.Check(before <= std::pair(row.of_member, row.owner), "order of attributes", i);
    }
  }
}

// Members were found to be in range before.
void TableVerifier::VerifyMembers(const Decl& decl) {
  for (uint32_t i = 0; i < decl.member_count && rows_.ok(); ++i) {
    VerifyMember(decl, decl.first_member + i);
  }
}

void TableVerifier::VerifyMember(const Decl& decl, uint32_t row) {
  const Member& member = module_.members[row];
  if (!rows_.Check(rows_.IsString(member.name) && rows_.IsCexpr(member.condition) &&
                       IsEnum(member.kind) && IsEnum(member.pack) && IsEnum(member.access) &&
                       (member.access != Access::kPlace || module_.header.typed != 0),
                   "member", row)) {
    return;
  }
  const bool parameter = member.kind == MemberKind::kParameter;
  const bool alias = member.kind == MemberKind::kAlias;
  rows_.Check(parameter == (decl.kind == DeclKind::kFunction), "kind of a member", row);
  rows_.Check(alias ? rows_.IsType(member.type) || !member.type.valid() : rows_.IsType(member.type),
              "type of a member", row);
  UseType(static_cast<uint32_t>(&decl - module_.decls.data()), member.type);
  rows_.Check(rows_.WordsBelow(member.tags, module_.string_ends.size()), "tags of a member", row);
  if (alias) {
    rows_.Check(rows_.WordsBelow(ListId{member.value}, module_.string_ends.size()),
                "path of an alias", row);
  } else if (parameter) {
    rows_.Check(member.value < module_.locals.size() &&
                    module_.locals[member.value].kind == LocalKind::kParameter,
                "local of a parameter", row);
  } else {
    rows_.Check(member.value == kNoRow || member.value == kRelaxedField, "value of a field", row);
  }
}

void TableVerifier::VerifyLocals() {
  for (uint32_t i = 0; i < module_.locals.size() && rows_.ok(); ++i) {
    const Local& local = module_.locals[i];
    if (!rows_.Check(IsEnum(local.kind) && IsEnum(local.access) && local.relaxed <= 1 &&
                         rows_.IsCexpr(local.condition),
                     "local", i)) {
      return;
    }
    const bool exit = IsExit(local.kind);
    const bool typed = local.kind == LocalKind::kParameter || local.kind == LocalKind::kVariable;
    rows_.Check(rows_.IsString(local.name) || (exit && !local.name.valid()), "name of a local", i);
    rows_.Check(rows_.IsType(local.type) || (!typed && !local.type.valid()), "type of a local", i);
    // Only an alias has a block, from which its value comes at each mention.
    rows_.Check((local.kind == LocalKind::kAlias && local.block < module_.blocks.size()) ||
                    local.block == kNoRow,
                "block of a local", i);
    // What is shadowed stands above, so following it ends.
    rows_.Check(rows_.WordsBelow(local.shadowed, i), "what a local shadows", i);
  }
}

// Spans serve messages only, so it is enough that they can be followed; whether they lie in a
// source of the right length is known where the source is.
void TableVerifier::VerifySpans() {
  for (size_t i = 0; i < module_.spans.size() && rows_.ok(); ++i) {
    rows_.Check(module_.spans[i].begin <= module_.spans[i].end, "span", i);
  }
  // Either there are no spans of a kind, or one row of them for each row.
  const auto parallel = [&](size_t spans, size_t rows) {
    rows_.Check(spans == 0 || spans == rows, "span rows", spans);
  };
  parallel(module_.decl_spans.size(), module_.decls.size());
  parallel(module_.member_spans.size(), module_.members.size());
  parallel(module_.local_spans.size(), module_.locals.size());
  parallel(module_.region_spans.size(), module_.regions.size());
  parallel(module_.inst_spans.size(), module_.insts.size());
  const auto good = [&](auto... ids) {
    rows_.Check((rows_.IsSpan(ids) && ...), "number of a span", 0);
  };
  for (const DeclSpans& spans : module_.decl_spans) {
    good(spans.name, spans.condition, spans.type, spans.value);
  }
  for (const MemberSpans& spans : module_.member_spans) {
    good(spans.name, spans.condition, spans.type, spans.value);
  }
  for (const LocalSpans& spans : module_.local_spans) {
    good(spans.name, spans.condition, spans.type);
  }
  for (const RegionSpans& spans : module_.region_spans) {
    good(spans.condition);
  }
  for (const InstSpans& spans : module_.inst_spans) {
    good(spans.main, spans.aux);
  }
}

}  // namespace kiln::ir
