// SPDX-License-Identifier: MIT
// Declarations, in source order. Spec: compiler/ir/decls.h
#include "compiler/front/rpl/lower.h"

#include "compiler/base/check.h"
#include "compiler/base/stop.h"
#include "compiler/front/rpl/lowerer.h"

namespace kiln::rpl {
namespace {

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
  }
  KILN_UNREACHABLE();
}

uint16_t SetFlags(const Decl& decl, uint32_t low) {
  return static_cast<uint16_t>(low | static_cast<uint32_t>(decl.set) << 8);
}

}  // namespace

ir::Module Lower(std::string_view text, const LexResult& lexed, const Ast& ast,
                 const Hash128& fingerprint) {
  return Lowerer(text, lexed, ast).Run(fingerprint);
}

Lowerer::Lowerer(std::string_view text, const LexResult& lexed, const Ast& ast)
    : text_(text),
      lexed_(lexed),
      ast_(ast),
      builder_({.language = ir::Language::kRpl, .version = ast.version}),
      texts_(lexed.symbols.size()),
      named_types_(lexed.symbols.size()),
      void_(builder_.Void()),
      deferred_(builder_.Deferred()),
      cexprs_(ast.exprs.size()),
      insts_(ast.exprs.size()),
      innermost_(lexed.symbols.size(), kNone) {}

ir::Module Lowerer::Run(const Hash128& fingerprint) {
  builder_.Reserve(ast_.exprs.size() + ast_.stmts.size());
  for (const Decl& decl : ast_.decls) {
    CheckStop();
    LowerDecl(decl);
  }
  builder_.SetSource(text_);
  return builder_.Finish(fingerprint);
}

// --- texts and types -----------------------------------------------------------------------------

ir::StringId Lowerer::TextOfSymbol(uint32_t symbol) {
  ir::StringId& id = texts_[symbol];
  if (!id.valid()) {
    const Symbol& row = lexed_.symbols[symbol];
    id = builder_.Text(text_.substr(row.begin, row.length));
  }
  return id;
}

ir::TypeId Lowerer::InbuiltTypeId(InbuiltType type) {
  ir::TypeId& id = inbuilt_types_[static_cast<size_t>(type)];
  if (!id.valid()) {
    id = builder_.Intern(TypeOf(type));
  }
  return id;
}

ir::TypeId Lowerer::NamedType(uint32_t token) {
  if (lexed_.tokens[token].kind == TokenKind::kVoid) {
    return void_;
  }
  const uint32_t symbol = SymbolOf(token);
  ir::TypeId& id = named_types_[symbol];
  if (!id.valid()) {
    const Word& word = lexed_.symbols[symbol].word;
    const bool inbuilt = word.type != InbuiltType::kNone && word.type_version <= ast_.version;
    id = inbuilt ? InbuiltTypeId(word.type)
                 : builder_.Intern(
                       {.kind = ir::TypeKind::kNamed, .element = TextOfSymbol(symbol).value});
  }
  return id;
}

// Spans: the name, then the runs of the sizes, outermost first.
ir::TypeId Lowerer::LowerType(const TypeRef& type, Runtime runtime, ir::SpanId* spans) {
  ir::TypeId id = NamedType(type.token);
  *spans = AddSpan(SpanOf(type.token));
  if (runtime == Runtime::kYes) {
    return builder_.RuntimeArray(id);
  }
  const std::span<const uint32_t> sizes = ast_.List(type.sizes);
  for (size_t i = 0; i < sizes.size(); i += 2) {
    ir::SpanId ignored;  // its run follows the row of the name
    LowerCexpr({sizes[i], sizes[i + 1]}, &ignored);
  }
  for (size_t i = sizes.size(); i > 0; i -= 2) {
    id = builder_.Array(id, cexprs_[sizes[i - 1]]);
  }
  return id;
}

// --- declarations --------------------------------------------------------------------------------

void Lowerer::LowerDecl(const Decl& decl) {
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

void Lowerer::LowerOption(const Decl& decl) {
  ir::Option option{.name = NameOf(decl.name),
                    .scope = decl.option.scope,
                    .kind = decl.option.kind,
                    .specialize = static_cast<uint16_t>(decl.option.specialize ? 1 : 0),
                    .default_value = decl.option.value,
                    .span = AddSpan(SpanOf(decl.name))};
  if (decl.option.kind == ir::OptionKind::kEnum) {
    words_.clear();
    for (const uint32_t symbol : ast_.List(decl.option.values)) {
      words_.push_back(TextOfSymbol(symbol).value);
    }
    option.values = builder_.List(words_);
  }
  builder_.Add(option);
}

ir::Decl Lowerer::DeclRow(const Decl& decl, ir::DeclKind kind, ir::DeclSpans* spans) {
  ir::Decl row{.kind = kind};
  spans->name = AddSpan(SpanOf(decl.name));
  if (decl.name_last == kNone || decl.name_last == decl.name) {
    row.name = NameOf(decl.name);
  } else {
    std::string dotted;
    for (uint32_t token = decl.name; token <= decl.name_last; ++token) {
      dotted += TextAt(SpanOf(token));
    }
    row.name = builder_.Text(dotted);
    spans->name = AddSpan(Cover(SpanOf(decl.name), SpanOf(decl.name_last)));
  }
  row.condition = LowerCondition(decl.condition, &spans->condition);
  return row;
}

void Lowerer::LowerConstant(const Decl& decl) {
  const bool setting = decl.form == DeclForm::kSetting;
  ir::DeclSpans spans;
  ir::Decl row = DeclRow(decl, setting ? ir::DeclKind::kSetting : ir::DeclKind::kConstant, &spans);
  const bool typed = decl.type.token != kNone;
  if (typed) {
    row.type = LowerType(decl.type, Runtime::kNo, &spans.type);
  }
  row.body =
      LowerCexpr(decl.value, &spans.value, typed ? Composites::kAllowed : Composites::kInvalid)
          .value;
  row.aux = setting ? decl.block : ir::kNoRow;
  builder_.Add(row, spans);
}

void Lowerer::LowerFields(const Decl& decl, ir::DeclKind kind, uint16_t flags) {
  ir::DeclSpans spans;
  ir::Decl row = DeclRow(decl, kind, &spans);
  row.flags = flags;
  std::vector<ir::Member> members;
  std::vector<ir::MemberSpans> member_spans(decl.field_count);
  members.reserve(decl.field_count);
  for (uint32_t i = 0; i < decl.field_count; ++i) {
    members.push_back(LowerField(ast_.fields[decl.first_field + i], &member_spans[i]));
  }
  builder_.Add(row, spans, members, member_spans);
}

ir::Member Lowerer::LowerField(const Field& field, ir::MemberSpans* spans) {
  ir::Member member{.name = NameOf(field.name),
                    .kind = field.kind,
                    .pack = field.pack,
                    .pack_bits = field.pack_bits};
  spans->name = AddSpan(SpanOf(field.name));
  member.condition = LowerCondition(field.condition, &spans->condition);
  if (field.kind == ir::MemberKind::kAlias) {
    LowerPath(field.value, member, spans);
    return member;
  }
  member.type = LowerType(field.type, field.runtime ? Runtime::kYes : Runtime::kNo, &spans->type);
  if (field.relaxed) {
    member.value = ir::kRelaxedField;
  }
  if (field.pack_token != kNone) {
    spans->value = AddSpan(SpanOf(field.pack_token));
  }
  if (field.tags != kNone) {
    words_.clear();
    for (const uint32_t symbol : ast_.List(field.tags)) {
      words_.push_back(TextOfSymbol(symbol).value);
    }
    member.tags = builder_.List(words_);
  }
  return member;
}

// a.b.c is rows a, .b, .c; anything else is no path and keeps the span of the whole.
void Lowerer::LowerPath(const ExprRange& value, ir::Member& member, ir::MemberSpans* spans) {
  words_.clear();
  run_.clear();
  for (uint32_t row = value.first; row <= value.root; ++row) {
    const Expr& expr = ast_.exprs[row];
    const ExprKind due = row == value.first ? ExprKind::kName : ExprKind::kMember;
    if (expr.kind != due) {
      spans->value = AddSpan(ast_.exprs[value.root].span);
      return;
    }
    words_.push_back(NameOf(expr.token).value);
    run_.push_back(SpanOf(expr.token));
  }
  spans->value = builder_.AddRun(run_);
  member.value = builder_.List(words_).value;
}

void Lowerer::LowerResource(const Decl& decl, ir::DeclKind kind) {
  ir::DeclSpans spans;
  ir::Decl row = DeclRow(decl, kind, &spans);
  const bool image = kind == ir::DeclKind::kImage;
  row.flags = kind == ir::DeclKind::kWorkgroup
                  ? uint16_t{0}
                  : SetFlags(decl, image ? static_cast<uint32_t>(decl.access) : 0);
  row.type = ResourceType(decl, &spans.type);
  builder_.Add(row, spans);
}

ir::TypeId Lowerer::ResourceType(const Decl& decl, ir::SpanId* spans) {
  if (decl.format == ir::ImageFormat::kUnknown) {
    return LowerType(decl.type, Runtime::kNo, spans);
  }
  const Keyword kind = lexed_.symbols[SymbolOf(decl.type.token)].word.keyword;
  *spans = AddSpan(SpanOf(decl.type.token));
  return builder_.Image(
      ScalarOf(decl.format),
      {.dim = kind == Keyword::kStorageImage3d ? ir::ImageDim::k3d : ir::ImageDim::k2d,
       .arrayed = kind == Keyword::kStorageImage2dArray,
       .storage = true,
       .format = decl.format});
}

}  // namespace kiln::rpl
