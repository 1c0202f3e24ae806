// SPDX-License-Identifier: MIT
// Declarations with fields, and what a set holds: buffers, samplers, images, storage images; and
// workgroup memory. Spec: rpl §2.1, §14 (grammar)
#include <algorithm>
#include <array>

#include "compiler/front/rpl/parser.h"

namespace kiln::rpl {
namespace {

struct FormatRow {
  std::string_view text;
  ir::ImageFormat format;
};
constexpr auto kStorageFormats = std::to_array<FormatRow>({
    {"rgba32_float", ir::ImageFormat::kRgba32Float},
    {"rgba16_float", ir::ImageFormat::kRgba16Float},
    {"r32_float", ir::ImageFormat::kR32Float},
    {"rgba8_unorm", ir::ImageFormat::kRgba8Unorm},
    {"rgba8_snorm", ir::ImageFormat::kRgba8Snorm},
    {"rgba32_sint", ir::ImageFormat::kRgba32Sint},
    {"rgba16_sint", ir::ImageFormat::kRgba16Sint},
    {"rgba8_sint", ir::ImageFormat::kRgba8Sint},
    {"r32_sint", ir::ImageFormat::kR32Sint},
    {"rgba32_uint", ir::ImageFormat::kRgba32Uint},
    {"rgba16_uint", ir::ImageFormat::kRgba16Uint},
    {"rgba8_uint", ir::ImageFormat::kRgba8Uint},
    {"r32_uint", ir::ImageFormat::kR32Uint},
});

bool IsImage(InbuiltType type) {
  return type >= InbuiltType::kImageColor2d && type <= InbuiltType::kImageDepth2dArray;
}

}  // namespace

bool Parser::FieldBlock(Decl& decl, DeclForm form, std::string_view kind) {
  decl.form = form;
  Advance();
  if (!ExpectName(&decl.name)) {
    return false;
  }
  SetOwner({kind, decl.name});
  CheckDeclaredName(decl.name);
  const Token& name = lexed_.tokens[decl.name];
  if (form == DeclForm::kStruct && name.kind == TokenKind::kIdentifier) {
    const Word& word = lexed_.symbols[name.value].word;
    if (word.type != InbuiltType::kNone && word.type_version <= ast_.version) {
      Report(Code::kRpl1108, name.span(), {{"name", TextOfToken(decl.name)}});
    }
  }
  // Without '{' the fields are what was meant, unless there are none.
  if (!Expect(TokenKind::kOpenBrace, owner_) &&
      (Kind() != TokenKind::kIdentifier || AtDeclaration())) {
    return false;
  }
  return Fields(decl, kind);
}

bool Parser::Resource(Decl& decl, ir::ResourceSet set) {
  decl.set = set;
  const uint32_t set_word = Advance();
  switch (KeywordAt()) {
    case Keyword::kUniformBuffer:
      decl.buffer = ir::BufferKind::kUniform;
      return FieldBlock(decl, DeclForm::kBuffer, "buffer");
    case Keyword::kReadOnlyStorageBuffer:
      decl.buffer = ir::BufferKind::kReadOnlyStorage;
      return FieldBlock(decl, DeclForm::kBuffer, "buffer");
    case Keyword::kReadWriteStorageBuffer:
      NeedVersion2(pos_);
      decl.buffer = ir::BufferKind::kReadWriteStorage;
      return FieldBlock(decl, DeclForm::kBuffer, "buffer");
    case Keyword::kStorageImage2d:
    case Keyword::kStorageImage3d:
    case Keyword::kStorageImage2dArray:
      return StorageImage(decl);
    default:  // an inbuilt type, or nothing
      break;
  }
  const InbuiltType type = Kind() == TokenKind::kIdentifier ? WordAt().type : InbuiltType::kNone;
  if (type == InbuiltType::kSampler) {
    return Sampler(decl);
  }
  if (IsImage(type)) {
    return Image(decl);
  }
  return FailHere(Code::kRpl1145, {{"set", TextOfToken(set_word)}});
}

bool Parser::Sampler(Decl& decl) {
  decl.form = DeclForm::kSampler;
  decl.type.token = Advance();
  const uint32_t sizes = Kind() == TokenKind::kOpenBracket ? pos_ : kNone;
  if (!Sizes(&decl.type.sizes) || !ExpectName(&decl.name)) {
    return false;
  }
  SetOwner({"sampler", decl.name});
  CheckDeclaredName(decl.name);
  const bool behind = Kind() == TokenKind::kOpenBracket;
  if (sizes != kNone || behind) {
    Fail(Code::kRpl1144, SpanOf(behind ? pos_ : sizes), {{"name", TextOfToken(decl.name)}});
    return !behind && ExpectSemicolon(owner_);
  }
  return ExpectSemicolon(owner_);
}

bool Parser::Image(Decl& decl) {
  decl.form = DeclForm::kImage;
  decl.type.token = Advance();
  if (!Sizes(&decl.type.sizes) || !ExpectName(&decl.name)) {
    return false;
  }
  SetOwner({"image", decl.name});
  CheckDeclaredName(decl.name);
  const std::span<const uint32_t> sizes = ast_.List(decl.type.sizes);
  if (sizes.size() > 2) {
    Report(Code::kRpl1143, ast_.exprs[sizes[3]].span, {{"name", TextOfToken(decl.name)}});
  }
  return ExpectSemicolon(owner_);
}

// version 2: image_type 'format' '(' ID ')' access ID ';'
bool Parser::StorageImage(Decl& decl) {
  decl.form = DeclForm::kImage;
  NeedVersion2(pos_);
  decl.type.token = Advance();
  const What what{"storage image"};
  if (KeywordAt() != Keyword::kFormat) {
    return FailHere(Code::kRpl1113, {{"token", "format"}, {"what", "storage image type"}});
  }
  Advance();
  if (!Expect(TokenKind::kOpenParen, {"'format'"})) {
    return false;
  }
  const std::string_view text = TextAt(Peek().span());
  const auto row = std::ranges::find(kStorageFormats, text, &FormatRow::text);
  if (row == kStorageFormats.end()) {
    return FailHere(Code::kRpl8107);
  }
  decl.format = row->format;
  Advance();
  if (!Expect(TokenKind::kCloseParen, {"format"})) {
    return false;
  }
  const Keyword access = KeywordAt();
  if (access != Keyword::kReadOnly && access != Keyword::kWriteOnly &&
      access != Keyword::kReadWrite) {
    return FailHere(Code::kRpl1113,
                    {{"token", "read_only, write_only or read_write"}, {"what", "format"}});
  }
  decl.access = access == Keyword::kReadOnly    ? ir::ImageAccess::kReadOnly
                : access == Keyword::kWriteOnly ? ir::ImageAccess::kWriteOnly
                                                : ir::ImageAccess::kReadWrite;
  Advance();
  if (!ExpectName(&decl.name)) {
    return false;
  }
  SetOwner({what.kind, decl.name});
  CheckDeclaredName(decl.name);
  return ExpectSemicolon(owner_);
}

// version 2: 'workgroup' ID sizes ID ';'
bool Parser::WorkgroupVariable(Decl& decl) {
  decl.form = DeclForm::kWorkgroup;
  NeedVersion2(pos_);
  Advance();
  decl.type.token = Advance();
  if (!Sizes(&decl.type.sizes) || !ExpectName(&decl.name)) {
    return false;
  }
  SetOwner({"workgroup variable", decl.name});
  CheckDeclaredName(decl.name);
  return ExpectSemicolon(owner_);
}

}  // namespace kiln::rpl
