// SPDX-License-Identifier: MIT
// Declarations, in source order: rows of an open module keep the order of their source, which is
// what makes two modules of equal text equal bytes. Spec: compiler/ir/decls.h
#include "compiler/front/rpl/lower.h"

#include <string>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/rpl/lower_cexpr.h"
#include "compiler/front/rpl/lower_context.h"
#include "compiler/front/rpl/lower_stmt.h"

namespace kiln::rpl {
namespace {

// The scalar of what a shader reads and writes: normalised formats are floats there.
ir::Scalar ScalarOf(ir::ImageFormat format) {
  switch (format) {
    case ir::ImageFormat::kUnknown:
    case ir::ImageFormat::kRgba32Float:
    case ir::ImageFormat::kRgba16Float:
    case ir::ImageFormat::kR32Float:
    case ir::ImageFormat::kRgba8Unorm:
    case ir::ImageFormat::kRgba8Snorm:
      return ir::Scalar::kF32;
    case ir::ImageFormat::kRgba32Sint:
    case ir::ImageFormat::kRgba16Sint:
    case ir::ImageFormat::kRgba8Sint:
    case ir::ImageFormat::kR32Sint:
      return ir::Scalar::kS32;
    case ir::ImageFormat::kRgba32Uint:
    case ir::ImageFormat::kRgba16Uint:
    case ir::ImageFormat::kRgba8Uint:
    case ir::ImageFormat::kR32Uint:
      return ir::Scalar::kU32;
    default:
      break;  // not a format of the language
  }
  KILN_UNREACHABLE();
}

// The set stands in the upper byte, so that the lower one is free for what the kind of declaration
// needs (compiler/ir/decls.h).
uint16_t SetFlags(const Decl& decl, uint32_t low) {
  return static_cast<uint16_t>(low | static_cast<uint32_t>(decl.set) << 8);
}

// Lowers one module in one pass over its declarations. Names are not resolved: a module of
// generic IR is made without knowing any other one, so that it depends on its own text alone.
class DeclLowerer {
 public:
  explicit DeclLowerer(LowerContext& context)
      : context_(context),
        ast_(context.ast),
        lexed_(context.lexed),
        builder_(context.builder),
        cexprs_(context),
        stmts_(context, cexprs_) {}

  ir::Module Run(const Hash128& fingerprint);

 private:
  void LowerDecl(const Decl& decl);
  void LowerOption(const Decl& decl);
  ir::Decl DeclRow(const Decl& decl, ir::DeclKind kind, ir::DeclSpans* spans);
  void LowerConstant(const Decl& decl);
  void LowerFields(const Decl& decl, ir::DeclKind kind, uint16_t flags);
  void LowerResource(const Decl& decl, ir::DeclKind kind);
  ir::TypeId ResourceType(const Decl& decl, ir::SpanId* spans);
  ir::Member LowerField(const Field& field, ir::MemberSpans* spans);
  void LowerPath(const ExprRange& value, ir::Member& member, ir::MemberSpans* spans);

  void LowerFunction(const Decl& decl);

  LowerContext& context_;
  const Ast& ast_;
  const LexResult& lexed_;
  ir::Builder& builder_;
  CexprLowerer cexprs_;
  StmtLowerer stmts_;
};

// Code makes up most of a module; reserving for it spares copies.
ir::Module DeclLowerer::Run(const Hash128& fingerprint) {
  builder_.Reserve(ast_.exprs.size() + ast_.stmts.size());
  for (const Decl& decl : ast_.decls) {
    CheckStop();
    LowerDecl(decl);
  }
  // The source goes along, since messages of later steps quote it.
  builder_.SetSource(context_.text);
  return builder_.Finish(fingerprint);
}

// Which kind of row a declaration becomes. A kind that has fields has its details in the flags.
void DeclLowerer::LowerDecl(const Decl& decl) {
  switch (decl.form) {
    case DeclForm::kOption:
      LowerOption(decl);
      return;
    case DeclForm::kConstant:
    case DeclForm::kSetting:
      LowerConstant(decl);
      return;
    case DeclForm::kStruct:
      LowerFields(decl, ir::DeclKind::kStruct, 0);
      return;
    case DeclForm::kContainer:
      LowerFields(decl, ir::DeclKind::kContainer, static_cast<uint16_t>(decl.container));
      return;
    case DeclForm::kBuffer:
      LowerFields(decl, ir::DeclKind::kBuffer, SetFlags(decl, static_cast<uint32_t>(decl.buffer)));
      return;
    case DeclForm::kPushConstant:
      LowerFields(decl, ir::DeclKind::kPushConstant, 0);
      return;
    case DeclForm::kSampler:
      LowerResource(decl, ir::DeclKind::kSampler);
      return;
    case DeclForm::kImage:
      LowerResource(decl, ir::DeclKind::kImage);
      return;
    case DeclForm::kWorkgroup:
      LowerResource(decl, ir::DeclKind::kWorkgroup);
      return;
    case DeclForm::kFunction:
      LowerFunction(decl);
      return;
  }
  KILN_UNREACHABLE();
}

// An option has no condition: it is what conditions are made of.
void DeclLowerer::LowerOption(const Decl& decl) {
  ir::Option option{.name = context_.NameOf(decl.name),
                    .scope = decl.option.scope,
                    .kind = decl.option.kind,
                    .specialize = static_cast<uint16_t>(decl.option.specialize ? 1 : 0),
                    .default_value = decl.option.value,
                    .span = context_.AddSpan(context_.SpanOf(decl.name))};
  if (decl.option.kind == ir::OptionKind::kEnum) {
    // `words` is scratch memory of the context: one vector serves all lists that are being
    // collected.
    context_.words.clear();
    for (const uint32_t symbol : ast_.List(decl.option.values)) {
      context_.words.push_back(context_.TextOfSymbol(symbol).value);
    }
    option.values = builder_.List(context_.words);
  }
  builder_.Add(option);
}

// What every declaration has: its name, its condition and where they stand.
ir::Decl DeclLowerer::DeclRow(const Decl& decl, ir::DeclKind kind, ir::DeclSpans* spans) {
  ir::Decl row{.kind = kind};
  spans->name = context_.AddSpan(context_.SpanOf(decl.name));
  // A dotted name becomes one text, dots included and blanks between its parts left out.
  if (decl.name_last == kNone || decl.name_last == decl.name) {
    row.name = context_.NameOf(decl.name);
  } else {
    std::string dotted;
    for (uint32_t token = decl.name; token <= decl.name_last; ++token) {
      dotted += context_.TextAt(context_.SpanOf(token));
    }
    row.name = builder_.Text(dotted);
    spans->name =
        context_.AddSpan(Cover(context_.SpanOf(decl.name), context_.SpanOf(decl.name_last)));
  }
  row.condition = cexprs_.LowerCondition(decl.condition, &spans->condition);
  return row;
}

// Constants and settings are one expression each. A setting has the number of its block beside
// it, so that two for one thing in one block are found later.
void DeclLowerer::LowerConstant(const Decl& decl) {
  const bool setting = decl.form == DeclForm::kSetting;
  ir::DeclSpans spans;
  ir::Decl row = DeclRow(decl, setting ? ir::DeclKind::kSetting : ir::DeclKind::kConstant, &spans);
  // Without a type, the value says what the constant is.
  const bool typed = decl.type.token != kNone;
  if (typed) {
    row.type = cexprs_.LowerType(decl.type, CexprLowerer::Runtime::kNo, &spans.type);
  }
  // Constructors of composites are allowed only where a type says what they are (spec/rpl 14.5).
  row.body = cexprs_
                 .LowerCexpr(decl.value, &spans.value,
                             typed ? CexprLowerer::Composites::kAllowed
                                   : CexprLowerer::Composites::kInvalid)
                 .value;
  row.aux = setting ? decl.block : ir::kNoRow;
  builder_.Add(row, spans);
}

// Structs, containers, buffers and push constants differ in flags alone.
void DeclLowerer::LowerFields(const Decl& decl, ir::DeclKind kind, uint16_t flags) {
  ir::DeclSpans spans;
  ir::Decl row = DeclRow(decl, kind, &spans);
  row.flags = flags;
  std::vector<ir::Member> members;
  // Spans have their size at once: LowerField gets the address of a row, which must not move.
  std::vector<ir::MemberSpans> member_spans(decl.field_count);
  members.reserve(decl.field_count);
  for (uint32_t i = 0; i < decl.field_count; ++i) {
    members.push_back(LowerField(ast_.fields[decl.first_field + i], &member_spans[i]));
  }
  builder_.Add(row, spans, members, member_spans);
}

// What a later message may point to has a span: name, condition, type and the format of `pack`.
ir::Member DeclLowerer::LowerField(const Field& field, ir::MemberSpans* spans) {
  ir::Member member{.name = context_.NameOf(field.name),
                    .kind = field.kind,
                    .pack = field.pack,
                    .pack_bits = field.pack_bits};
  spans->name = context_.AddSpan(context_.SpanOf(field.name));
  member.condition = cexprs_.LowerCondition(field.condition, &spans->condition);
  if (field.kind == ir::MemberKind::kAlias) {
    LowerPath(field.value, member, spans);
    return member;
  }
  member.type = cexprs_.LowerType(
      field.type, field.runtime ? CexprLowerer::Runtime::kYes : CexprLowerer::Runtime::kNo,
      &spans->type);
  // The field `value` is free where a member is no alias, so the mark of relaxed fields is put into
  // it.
  if (field.relaxed) {
    member.value = ir::kRelaxedField;
  }
  if (field.pack_token != kNone) {
    spans->value = context_.AddSpan(context_.SpanOf(field.pack_token));
  }
  if (field.tags != kNone) {
    context_.words.clear();
    for (const uint32_t symbol : ast_.List(field.tags)) {
      context_.words.push_back(context_.TextOfSymbol(symbol).value);
    }
    member.tags = builder_.List(context_.words);
  }
  return member;
}

// a.b.c is rows a, .b, .c; anything else is no path and keeps the span of the whole.
void DeclLowerer::LowerPath(const ExprRange& value, ir::Member& member, ir::MemberSpans* spans) {
  context_.words.clear();
  context_.run.clear();
  // The rows of a path are a name and then one member for each step, in this order and nothing
  // else; the shape is checked while it is copied.
  for (uint32_t row = value.first; row <= value.root; ++row) {
    const Expr& expr = ast_.exprs[row];
    const ExprKind due = row == value.first ? ExprKind::kName : ExprKind::kMember;
    if (expr.kind != due) {
      spans->value = context_.AddSpan(ast_.exprs[value.root].span);
      return;
    }
    context_.words.push_back(context_.NameOf(expr.token).value);
    context_.run.push_back(context_.SpanOf(expr.token));
  }
  spans->value = builder_.AddRun(context_.run);
  member.value = builder_.List(context_.words).value;
}

// Samplers, images and variables of workgroups: a type and a name.
void DeclLowerer::LowerResource(const Decl& decl, ir::DeclKind kind) {
  ir::DeclSpans spans;
  ir::Decl row = DeclRow(decl, kind, &spans);
  const bool image = kind == ir::DeclKind::kImage;
  row.flags = kind == ir::DeclKind::kWorkgroup
                  ? uint16_t{0}
                  : SetFlags(decl, image ? static_cast<uint32_t>(decl.access) : 0);
  row.type = ResourceType(decl, &spans.type);
  builder_.Add(row, spans);
}

// Storage images have no type of their own in the source: keyword and format make it.
ir::TypeId DeclLowerer::ResourceType(const Decl& decl, ir::SpanId* spans) {
  // Only storage images have a format.
  if (decl.format == ir::ImageFormat::kUnknown) {
    return cexprs_.LowerType(decl.type, CexprLowerer::Runtime::kNo, spans);
  }
  const Keyword kind = lexed_.symbols[context_.SymbolOf(decl.type.token)].word.keyword;
  *spans = context_.AddSpan(context_.SpanOf(decl.type.token));
  return builder_.Image(
      ScalarOf(decl.format),
      {.dim = kind == Keyword::kStorageImage3d ? ir::ImageDim::k3d : ir::ImageDim::k2d,
       .arrayed = kind == Keyword::kStorageImage2dArray,
       .storage = true,
       .format = decl.format});
}

// Statements are lowered by their own class, since they share its tables for a whole module.
void DeclLowerer::LowerFunction(const Decl& decl) {
  ir::DeclSpans spans;
  const ir::Decl row = DeclRow(decl, ir::DeclKind::kFunction, &spans);
  stmts_.LowerFunction(decl, row, spans);
}

}  // namespace

// A tree with errors has rows without ends and lists without items, so callers must not pass
// one.
ir::Module Lower(std::string_view text, const LexResult& lexed, const Ast& ast,
                 const Hash128& fingerprint) {
  LowerContext context(text, lexed, ast);
  return DeclLowerer(context).Run(fingerprint);
}

}  // namespace kiln::rpl
