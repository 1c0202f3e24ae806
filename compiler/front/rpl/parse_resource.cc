// SPDX-License-Identifier: MIT
// Declarations with fields, and what a set holds: buffers, samplers, images, storage images; and
// workgroup memory. See spec/rpl 2.1, 14 (grammar)
#include <algorithm>
#include <array>

#include "compiler/base/closest_name.h"
#include "compiler/front/rpl/parser.h"

namespace kiln::rpl {
namespace {

struct FormatRow {
  std::string_view text;
  ir::ImageFormat format;
};
constexpr auto kStorageFormats = std::to_array<FormatRow>({
#define KILN_STORAGE_FORMAT(name, enumerator, item) {name, ir::ImageFormat::k##enumerator},
#include "compiler/front/rpl/formats.def"
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
  const size_t before = found_.size();
  FailHere(Code::kRpl1145, {{"set", TextOfToken(set_word)}});
  if (found_.size() > before && found_.back().code == Code::kRpl1145) {
    ClosestName closest(TextAt(Peek().span()));
    for (InbuiltType image = InbuiltType::kSampler; image <= InbuiltType::kImageDepth2dArray;
         image = static_cast<InbuiltType>(static_cast<uint8_t>(image) + 1)) {
      closest.Offer(TypeName(image));
    }
    closest.Offer(KeywordText(Keyword::kUniformBuffer));
    closest.Offer(KeywordText(Keyword::kReadOnlyStorageBuffer));
    closest.Offer(KeywordText(Keyword::kReadWriteStorageBuffer));
    std::move(found_.back())
        .Note(
            NoteKind::kAccepted,
            {{"accepted", "uniform_buffer, read_only_storage_buffer, sampler or image_color_2d"}});
    Suggest(found_.back(), closest.best());
  }
  return false;
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
  const ConstructName what{"storage image"};
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
    const size_t before = found_.size();
    FailHere(Code::kRpl8107);
    if (found_.size() > before && found_.back().code == Code::kRpl8107) {
      ClosestName closest(text);
      for (const FormatRow& known : kStorageFormats) {
        closest.Offer(known.text);
      }
      Suggest(found_.back(), closest.best());
    }
    return false;
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
