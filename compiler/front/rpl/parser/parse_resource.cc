// SPDX-License-Identifier: MIT
// Behind the word of a set the next word decides: buffers have fields, everything else is a type
// and a name. See spec/rpl 2.1, 14 (grammar)
#include "compiler/front/rpl/parser/parse_resource.h"

#include <algorithm>
#include <array>

#include "compiler/base/text/closest_name.h"
#include "compiler/front/rpl/parser/lookahead.h"

namespace kiln::rpl {
namespace {

// Formats of storage images, with their names in the source (compiler/front/rpl/formats.def).
struct FormatRow {
  std::string_view text;
  ir::ImageFormat format;
};
constexpr auto kStorageFormats = std::to_array<FormatRow>({
#define KILN_STORAGE_FORMAT(name, enumerator, item) {name, ir::ImageFormat::k##enumerator},
#include "compiler/front/rpl/formats.def"
});

// The enumerators of images are neighbours.
bool IsImage(InbuiltType type) {
  return type >= InbuiltType::kImageColor2d && type <= InbuiltType::kImageDepth2dArray;
}

}  // namespace

// ID '{' fields, for all declarations that have fields.
bool ResourceParser::FieldBlock(Decl& decl, DeclForm form, std::string_view kind) {
  decl.form = form;
  at_.Advance();
  if (!errors_.ExpectName(&decl.name)) {
    return false;
  }
  errors_.SetOwner({kind, decl.name});
  errors_.CheckDeclaredName(decl.name);
  const Token& name = at_.lexed().tokens[decl.name];
  // Only structs make types, so only they can hide an inbuilt one, and only one that this version
  // has.
  if (form == DeclForm::kStruct && name.kind == TokenKind::kIdentifier) {
    const Word& word = at_.lexed().symbols[name.value].word;
    if (word.type != InbuiltType::kNone && word.type_version <= ast_.version) {
      errors_.Report(Code::kRpl1108, name.span(), {{"name", at_.TextOfToken(decl.name)}});
    }
  }
  // Without '{' the fields are what was meant, unless there are none.
  if (!errors_.Expect(TokenKind::kOpenBrace, errors_.owner()) &&
      (at_.Kind() != TokenKind::kIdentifier || AtDeclaration(at_))) {
    return false;
  }
  return fields_.Fields(decl, kind);
}

// SET ( buffer | storage_image | sampler | image )
bool ResourceParser::Resource(Decl& decl, ir::ResourceSet set) {
  decl.set = set;
  const uint32_t set_word = at_.Advance();
  switch (at_.KeywordAt()) {
    case Keyword::kUniformBuffer:
      decl.buffer = ir::BufferKind::kUniform;
      return FieldBlock(decl, DeclForm::kBuffer, "buffer");
    case Keyword::kReadOnlyStorageBuffer:
      decl.buffer = ir::BufferKind::kReadOnlyStorage;
      return FieldBlock(decl, DeclForm::kBuffer, "buffer");
    case Keyword::kReadWriteStorageBuffer:
      errors_.NeedVersion2(at_.pos());
      decl.buffer = ir::BufferKind::kReadWriteStorage;
      return FieldBlock(decl, DeclForm::kBuffer, "buffer");
    case Keyword::kStorageImage2d:
    case Keyword::kStorageImage3d:
    case Keyword::kStorageImage2dArray:
      return StorageImage(decl);
    default:  // an inbuilt type, or nothing
      break;
  }
  const InbuiltType type =
      at_.Kind() == TokenKind::kIdentifier ? at_.WordAt().type : InbuiltType::kNone;
  if (type == InbuiltType::kSampler) {
    return Sampler(decl);
  }
  if (IsImage(type)) {
    return Image(decl);
  }
  // What stands behind the set is none of the kinds. The nearest of all words that could stand here
  // is proposed.
  const size_t before = errors_.found().size();
  errors_.FailHere(Code::kRpl1145, {{"set", at_.TextOfToken(set_word)}});
  if (errors_.found().size() > before && errors_.found().back().code == Code::kRpl1145) {
    ClosestName closest(at_.TextAt(at_.Peek().span()));
    // The inbuilt types stand together in the enumeration: the sampler, then all images.
    for (InbuiltType image = InbuiltType::kSampler; image <= InbuiltType::kImageDepth2dArray;
         image = static_cast<InbuiltType>(static_cast<uint8_t>(image) + 1)) {
      closest.Offer(TypeName(image));
    }
    closest.Offer(KeywordText(Keyword::kUniformBuffer));
    closest.Offer(KeywordText(Keyword::kReadOnlyStorageBuffer));
    closest.Offer(KeywordText(Keyword::kReadWriteStorageBuffer));
    std::move(errors_.found().back())
        .Note(
            NoteKind::kAccepted,
            {{"accepted", "uniform_buffer, read_only_storage_buffer, sampler or image_color_2d"}});
    errors_.Suggest(errors_.found().back(), closest.best());
  }
  return false;
}

// An array of samplers does not exist, but its sizes may stand behind the type or behind the name;
// both are read, so that the message is about the array.
bool ResourceParser::Sampler(Decl& decl) {
  decl.form = DeclForm::kSampler;
  decl.type.token = at_.Advance();
  const uint32_t sizes = at_.Kind() == TokenKind::kOpenBracket ? at_.pos() : kNone;
  if (!expressions_.Sizes(&decl.type.sizes) || !errors_.ExpectName(&decl.name)) {
    return false;
  }
  errors_.SetOwner({"sampler", decl.name});
  errors_.CheckDeclaredName(decl.name);
  const bool behind = at_.Kind() == TokenKind::kOpenBracket;
  if (sizes != kNone || behind) {
    errors_.Fail(Code::kRpl1144, at_.SpanOf(behind ? at_.pos() : sizes),
                 {{"name", at_.TextOfToken(decl.name)}});
    return !behind && errors_.ExpectSemicolon(errors_.owner());
  }
  return errors_.ExpectSemicolon(errors_.owner());
}

// One dimension of an array at most: a descriptor has no more.
bool ResourceParser::Image(Decl& decl) {
  decl.form = DeclForm::kImage;
  decl.type.token = at_.Advance();
  if (!expressions_.Sizes(&decl.type.sizes) || !errors_.ExpectName(&decl.name)) {
    return false;
  }
  errors_.SetOwner({"image", decl.name});
  errors_.CheckDeclaredName(decl.name);
  // Each size is two items, so more than two means a second dimension; items 2 and 3 are its range,
  // and its root has the span.
  const std::span<const uint32_t> sizes = ast_.List(decl.type.sizes);
  if (sizes.size() > 2) {
    errors_.Report(Code::kRpl1143, ast_.exprs[sizes[3]].span,
                   {{"name", at_.TextOfToken(decl.name)}});
  }
  return errors_.ExpectSemicolon(errors_.owner());
}

// version 2: image_type 'format' '(' ID ')' access ID ';'
bool ResourceParser::StorageImage(Decl& decl) {
  decl.form = DeclForm::kImage;
  errors_.NeedVersion2(at_.pos());
  decl.type.token = at_.Advance();
  const ConstructName what{"storage image"};
  if (at_.KeywordAt() != Keyword::kFormat) {
    return errors_.FailHere(Code::kRpl1113, {{"token", "format"}, {"what", "storage image type"}});
  }
  at_.Advance();
  if (!errors_.Expect(TokenKind::kOpenParen, {"'format'"})) {
    return false;
  }
  const std::string_view text = at_.TextAt(at_.Peek().span());
  const auto row = std::ranges::find(kStorageFormats, text, &FormatRow::text);
  if (row == kStorageFormats.end()) {
    const size_t before = errors_.found().size();
    errors_.FailHere(Code::kRpl8107);
    if (errors_.found().size() > before && errors_.found().back().code == Code::kRpl8107) {
      ClosestName closest(text);
      for (const FormatRow& known : kStorageFormats) {
        closest.Offer(known.text);
      }
      errors_.Suggest(errors_.found().back(), closest.best());
    }
    return false;
  }
  decl.format = row->format;
  at_.Advance();
  if (!errors_.Expect(TokenKind::kCloseParen, {"format"})) {
    return false;
  }
  const Keyword access = at_.KeywordAt();
  if (access != Keyword::kReadOnly && access != Keyword::kWriteOnly &&
      access != Keyword::kReadWrite) {
    return errors_.FailHere(Code::kRpl1113,
                            {{"token", "read_only, write_only or read_write"}, {"what", "format"}});
  }
  decl.access = access == Keyword::kReadOnly    ? ir::ImageAccess::kReadOnly
                : access == Keyword::kWriteOnly ? ir::ImageAccess::kWriteOnly
                                                : ir::ImageAccess::kReadWrite;
  at_.Advance();
  if (!errors_.ExpectName(&decl.name)) {
    return false;
  }
  errors_.SetOwner({what.kind, decl.name});
  errors_.CheckDeclaredName(decl.name);
  return errors_.ExpectSemicolon(errors_.owner());
}

// version 2: 'workgroup' ID sizes ID ';'
bool ResourceParser::WorkgroupVariable(Decl& decl) {
  decl.form = DeclForm::kWorkgroup;
  errors_.NeedVersion2(at_.pos());
  at_.Advance();
  decl.type.token = at_.Advance();
  if (!expressions_.Sizes(&decl.type.sizes) || !errors_.ExpectName(&decl.name)) {
    return false;
  }
  errors_.SetOwner({"workgroup variable", decl.name});
  errors_.CheckDeclaredName(decl.name);
  return errors_.ExpectSemicolon(errors_.owner());
}

}  // namespace kiln::rpl
