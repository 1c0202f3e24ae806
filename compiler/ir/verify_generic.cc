// SPDX-License-Identifier: MIT
// Checks every table of an open module but the instructions.
#include "compiler/ir/verify_generic.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/utf8.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/spelling.h"
#include "compiler/ir/verify.h"

namespace kiln::ir {
namespace {

// A composite constant prints and closes as a tree; this bounds its leaves.
constexpr uint32_t kMaxConstLeaves = 1u << 16;
constexpr size_t kVisitsPerWord = 64;

template <class Enum>
bool IsEnum(uint32_t value) {
  return value < CountOf<Enum>();
}
template <class Enum>
bool IsEnum(Enum value) {
  return IsEnum<Enum>(static_cast<uint32_t>(value));
}

bool IsImage(const Type& type) {
  const ImageTraits traits = UnpackImage(type.extent);
  return type.scalar != Scalar::kNone && IsEnum(traits.dim) && IsEnum(traits.format) &&
         PackImage(traits) == type.extent &&
         (!traits.storage || type.scalar == ItemOf(traits.format)) &&
         (traits.storage || traits.format == ImageFormat::kUnknown);
}

}  // namespace

ModuleVerifier::ModuleVerifier(const ModuleView& module)
    : module_(module),
      budget_(kVisitsPerWord * (module.insts.size() + module.extra.size() + module.members.size() +
                                module.locals.size() + module.options.size() +
                                module.cexprs.size() + module.consts.size() + 1024)) {}

Result<void> ModuleVerifier::Run() {
  if (!IsEnum(module_.header.language)) {
    Check(false, "language", 0);
  }
  VerifyStrings();
  VerifyCexprs();
  VerifyTypes();
  VerifyConsts();
  VerifyOptions();
  VerifyDecls();
  VerifyLocals();
  VerifySpans();
  VerifySegments();
  VerifyInsts();
  mentioned_.resize(module_.segments.size());
  segment_depth_.resize(module_.segments.size(), 1);
  for (uint32_t i = 0; i < module_.segments.size() && ok(); ++i) {
    WalkRegion(i);
  }
  for (uint32_t i = 0; i < module_.segments.size() && ok(); ++i) {
    Check(mentioned_[i] == module_.segments[i].parent.valid(), "segment without its hole", i);
  }
  if (error_) {
    return *std::move(error_);
  }
  return {};
}

bool ModuleVerifier::Check(bool holds, std::string_view what, size_t row) {
  if (!holds && ok()) {
    error_ = Error{.code = ErrorCode::kCorrupt,
                   .context = fmt::format("module image: {} (row {})", what, row)};
  }
  return holds;
}

bool ModuleVerifier::Charge(size_t visits) {
  const bool enough = visits <= budget_;
  budget_ -= enough ? visits : 0;
  return Check(enough, "rows are shared too often", visits);
}

bool ModuleVerifier::IsList(ListId id) const {
  const size_t size = module_.extra.size();
  return !id.valid() || (id.value < size && module_.extra[id.value] < size - id.value);
}

bool ModuleVerifier::WordsBelow(ListId id, size_t bound) {
  if (!IsList(id) || !Charge(module_.List(id).size())) {
    return false;
  }
  return std::ranges::all_of(module_.List(id), [&](uint32_t word) { return word < bound; });
}

bool ModuleVerifier::IsSpan(SpanId id) const {
  return !id.valid() || module_.spans.empty() || id.value < module_.spans.size();
}

void ModuleVerifier::VerifyStrings() {
  uint32_t end = 0;
  for (size_t i = 0; i < module_.string_ends.size() && ok(); ++i) {
    Check(module_.string_ends[i] >= end, "strings overlap", i);
    end = module_.string_ends[i];
  }
  if (!Check(end == module_.string_bytes.size(), "string bytes", end)) {
    return;
  }
  for (uint32_t i = 0; i < module_.string_ends.size() && ok(); ++i) {  // sources are UTF-8
    const std::string_view text = module_.Text(StringId{i});
    Check(FindInvalidUtf8(text) == text.size(), "a string that is no UTF-8", i);
  }
}

void ModuleVerifier::VerifyCexprs() {
  const size_t count = module_.cexprs.size();
  cexpr_nesting_.resize(count);
  cexpr_is_typed_.resize(count);
  const Cexpr literal_true{.kind = static_cast<uint16_t>(ValueKind::kFlag), .a = 1};
  Check(count != 0 && module_.cexprs[0] == literal_true, "the first cexpr is `true`", 0);
  for (uint32_t i = 0; i < count && ok(); ++i) {
    VerifyCexpr(i);
  }
}

bool ModuleVerifier::VerifyLiteral(const Cexpr& cexpr) const {
  const auto kind = static_cast<ValueKind>(cexpr.kind);
  if (kind == ValueKind::kString) {
    return IsString(StringId{cexpr.a});
  }
  return cexpr.kind < static_cast<uint16_t>(ValueKind::kString) &&
         (kind != ValueKind::kFlag || cexpr.a <= 1);
}

void ModuleVerifier::VerifyCexpr(uint32_t row) {
  const Cexpr& cexpr = module_.cexprs[row];
  if (!Check(IsEnum(cexpr.op) && cexpr.zero == 0, "operator of a cexpr", row)) {
    return;
  }
  uint32_t below = 0;
  uint32_t left = 0;  // of a chain, which adds no level (ids.h)
  const auto use = [&](uint32_t operand) {
    if (Check(operand < row, "an operand of a cexpr follows it", row)) {
      below = std::max(below, cexpr_nesting_[operand]);
      cexpr_is_typed_[row] = cexpr_is_typed_[row] || cexpr_is_typed_[operand];
    }
  };
  const auto use_all = [&](ListId list) {
    if (Check(WordsBelow(list, row), "operands of a cexpr", row)) {
      std::ranges::for_each(module_.List(list), use);
    }
  };
  switch (ShapeOf(cexpr.op)) {
    case CexprShape::kLiteral:
      Check(VerifyLiteral(cexpr), "literal", row);
      break;
    case CexprShape::kName:
      Check(IsString(StringId{cexpr.a}), "name of a cexpr", row);
      break;
    case CexprShape::kUnary:
      Check(cexpr.op != CexprOp::kConvert || cexpr.kind < static_cast<uint32_t>(ValueKind::kString),
            "target of a conversion", row);
      use(cexpr.a);
      break;
    case CexprShape::kBinary:
      use(cexpr.a);
      left = std::exchange(below, 0);
      use(cexpr.b);
      break;
    case CexprShape::kSelect:
      use(cexpr.a);
      use_all(ListId{cexpr.b});
      Check(IsList(ListId{cexpr.b}) && module_.List(ListId{cexpr.b}).size() == 2, "choices", row);
      break;
    case CexprShape::kComposite:
      Check(IsType(TypeId{cexpr.a}), "type of a composite", row);
      use_all(ListId{cexpr.b});
      cexpr_is_typed_[row] = true;
      break;
    case CexprShape::kInvalid:
      Check(IsEnum<InvalidCexpr>(cexpr.kind) && IsString(StringId{cexpr.a}), "invalid cexpr", row);
      break;
  }
  cexpr_nesting_[row] = std::max(left, below + 1);
  Check(below < kMaxNesting, "a cexpr is nested too deep", row);
}

void ModuleVerifier::VerifyTypes() {
  std::vector<uint32_t> nesting(module_.types.size(), 1);
  for (uint32_t i = 0; i < module_.types.size() && ok(); ++i) {
    VerifyType(i);
    const Type& type = module_.types[i];
    if (ok() && (type.kind == TypeKind::kArray || type.kind == TypeKind::kRuntimeArray)) {
      nesting[i] = nesting[type.element] + 1;
      Check(nesting[i] <= kMaxNesting, "a type is nested too deep", i);
    }
  }
}

void ModuleVerifier::VerifyType(uint32_t row) {
  const Type& type = module_.types[row];
  if (!Check(IsEnum(type.kind) && IsEnum(type.scalar) && type.flags == 0, "kind of a type", row)) {
    return;
  }
  const bool item = type.element < row;
  bool good = false;
  switch (type.kind) {
    case TypeKind::kVoid:
    case TypeKind::kSampler:
    case TypeKind::kDeferred:
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
      good = item && IsCexpr(CexprId{type.extent}) && !cexpr_is_typed_[type.extent] &&
             type == ArrayType(TypeId{type.element}, type.extent);
      break;
    case TypeKind::kRuntimeArray:
      good = item && type == Type{.kind = type.kind, .element = type.element};
      break;
    case TypeKind::kImage:
      good = IsImage(type) &&
             type == Type{.kind = type.kind, .scalar = type.scalar, .extent = type.extent};
      break;
    case TypeKind::kNamed:
      good = IsString(StringId{type.element}) &&
             type == Type{.kind = type.kind, .element = type.element};
      break;
    case TypeKind::kStruct:
      break;  // only a pool has shapes
  }
  Check(good, "type", row);
}

void ModuleVerifier::VerifyConsts() {
  std::vector<uint32_t> leaves(module_.consts.size(), 1);
  std::vector<uint32_t> nesting(module_.consts.size(), 1);
  for (uint32_t i = 0; i < module_.consts.size() && ok(); ++i) {
    const Const& row = module_.consts[i];
    if (!Check(IsType(row.type) && row.composite <= 1 && row.zero == 0, "constant", i)) {
      return;
    }
    if (row.composite == 0) {
      const Type& type = module_.types[row.type.value];
      Check(type.kind == TypeKind::kVector && type.rows == 1, "type of a scalar constant", i);
      continue;
    }
    const ListId parts{row.a};
    if (!Check(parts.valid() && WordsBelow(parts, i), "parts of a constant", i)) {
      return;
    }
    for (const uint32_t part : module_.List(parts)) {
      leaves[i] = std::min(leaves[i] + leaves[part], kMaxConstLeaves + 1);
      nesting[i] = std::max(nesting[i], nesting[part] + 1);
    }
    Check(leaves[i] <= kMaxConstLeaves && nesting[i] <= kMaxNesting, "size of a constant", i);
  }
}

void ModuleVerifier::VerifyOptions() {
  for (uint32_t i = 0; i < module_.options.size() && ok(); ++i) {
    const Option& option = module_.options[i];
    Check(IsString(option.name) && IsEnum(option.scope) && IsEnum(option.kind) &&
              option.specialize <= 1 && option.zero == 0,
          "option", i);
    const bool is_enum = option.kind == OptionKind::kEnum;
    Check(is_enum == option.values.valid() &&
              WordsBelow(option.values, module_.string_ends.size()) &&
              (!is_enum || !module_.List(option.values).empty()),
          "values of an option", i);
    Check((!is_enum || option.default_value == 0) &&
              (option.kind != OptionKind::kFlag || option.default_value <= 1),
          "default of an option", i);
    Check(IsSpan(option.span), "span of an option", i);
  }
}

void ModuleVerifier::VerifyDecls() {
  size_t members = 0;
  for (uint32_t i = 0; i < module_.decls.size() && ok(); ++i) {
    const Decl& decl = module_.decls[i];
    if (!Check(
            decl.first_member == members && decl.member_count <= module_.members.size() - members,
            "members of a declaration", i)) {
      return;
    }
    members += decl.member_count;
    VerifyDecl(i);
    VerifyMembers(decl);
  }
  Check(members == module_.members.size(), "members of no declaration", members);
}

void ModuleVerifier::VerifyDecl(uint32_t row) {
  const Decl& decl = module_.decls[row];
  if (!Check(IsEnum(decl.kind) && IsString(decl.name) && IsCexpr(decl.condition), "declaration",
             row)) {
    return;
  }
  const uint32_t low = decl.flags & 0xffu;
  const uint32_t high = decl.flags >> 8u;
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
  }
  Check(flags, "flags of a declaration", row);
  Check(VerifyDeclType(decl), "type of a declaration", row);
  bool body = decl.body == kNoRow;
  if (decl.kind == DeclKind::kConstant || decl.kind == DeclKind::kSetting) {
    body = IsCexpr(CexprId{decl.body});
  } else if (decl.kind == DeclKind::kFunction) {
    body = decl.body < module_.segments.size();
  }
  Check(body, "body of a declaration", row);
}

bool ModuleVerifier::VerifyDeclType(const Decl& decl) const {
  const bool required = decl.kind == DeclKind::kSampler || decl.kind == DeclKind::kImage ||
                        decl.kind == DeclKind::kFunction || decl.kind == DeclKind::kWorkgroup;
  if (!IsType(decl.type)) {
    return !required && !decl.type.valid();
  }
  Type type = module_.types[decl.type.value];
  if (decl.kind == DeclKind::kSampler) {
    return type.kind == TypeKind::kSampler;
  }
  while (type.kind == TypeKind::kArray) {
    type = module_.types[type.element];
  }
  return decl.kind != DeclKind::kImage || type.kind == TypeKind::kImage;
}

void ModuleVerifier::VerifyMembers(const Decl& decl) {
  for (uint32_t i = 0; i < decl.member_count && ok(); ++i) {
    VerifyMember(decl, decl.first_member + i);
  }
}

void ModuleVerifier::VerifyMember(const Decl& decl, uint32_t row) {
  const Member& member = module_.members[row];
  if (!Check(IsString(member.name) && IsCexpr(member.condition) && IsEnum(member.kind) &&
                 IsEnum(member.pack) && IsEnum(member.access),
             "member", row)) {
    return;
  }
  const bool parameter = member.kind == MemberKind::kParameter;
  const bool alias = member.kind == MemberKind::kAlias;
  Check(parameter == (decl.kind == DeclKind::kFunction), "kind of a member", row);
  Check(alias ? IsType(member.type) || !member.type.valid() : IsType(member.type),
        "type of a member", row);
  Check(WordsBelow(member.tags, module_.string_ends.size()), "tags of a member", row);
  if (alias) {
    Check(WordsBelow(ListId{member.value}, module_.string_ends.size()), "path of an alias", row);
  } else if (parameter) {
    Check(member.value < module_.locals.size() &&
              module_.locals[member.value].kind == LocalKind::kParameter,
          "local of a parameter", row);
  } else {
    Check(member.value == kNoRow || member.value == kRelaxedField, "value of a field", row);
  }
}

void ModuleVerifier::VerifyLocals() {
  for (uint32_t i = 0; i < module_.locals.size() && ok(); ++i) {
    const Local& local = module_.locals[i];
    if (!Check(IsEnum(local.kind) && IsEnum(local.access) && local.relaxed <= 1 &&
                   IsCexpr(local.condition),
               "local", i)) {
      return;
    }
    const bool exit = local.kind == LocalKind::kLoopExit;
    const bool typed = local.kind == LocalKind::kParameter || local.kind == LocalKind::kVariable;
    Check(IsString(local.name) || (exit && !local.name.valid()), "name of a local", i);
    Check(IsType(local.type) || (!typed && !local.type.valid()), "type of a local", i);
    Check((local.kind == LocalKind::kAlias && local.block < module_.blocks.size()) ||
              local.block == kNoRow,
          "block of a local", i);
    Check(WordsBelow(local.shadowed, i), "what a local shadows", i);
  }
}

void ModuleVerifier::VerifySpans() {
  for (size_t i = 0; i < module_.spans.size() && ok(); ++i) {
    Check(module_.spans[i].begin <= module_.spans[i].end, "span", i);
  }
  const auto parallel = [&](size_t spans, size_t rows) {
    Check(spans == 0 || spans == rows, "span rows", spans);
  };
  parallel(module_.decl_spans.size(), module_.decls.size());
  parallel(module_.member_spans.size(), module_.members.size());
  parallel(module_.local_spans.size(), module_.locals.size());
  parallel(module_.segment_spans.size(), module_.segments.size());
  parallel(module_.inst_spans.size(), module_.insts.size());
  const auto good = [&](auto... ids) { Check((IsSpan(ids) && ...), "number of a span", 0); };
  for (const DeclSpans& spans : module_.decl_spans) {
    good(spans.name, spans.condition, spans.type, spans.value);
  }
  for (const MemberSpans& spans : module_.member_spans) {
    good(spans.name, spans.condition, spans.type, spans.value);
  }
  for (const LocalSpans& spans : module_.local_spans) {
    good(spans.name, spans.condition, spans.type);
  }
  for (const RegionSpans& spans : module_.segment_spans) {
    good(spans.condition);
  }
  for (const InstSpans& spans : module_.inst_spans) {
    good(spans.main, spans.aux);
  }
}

Result<void> VerifyIds(const ModuleView& module) { return ModuleVerifier(module).Run(); }

}  // namespace kiln::ir
