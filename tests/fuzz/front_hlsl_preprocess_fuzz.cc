// SPDX-License-Identifier: MIT
// libFuzzer: any bytes through the preprocessor of HLSL. A NUL byte ends a file: the first is the
// root, the others are a.h, b.h ... in the same folder. Tokens and messages have places in the
// files, the parser's tokens are of the parser's kinds, and what is made is bounded.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/front/hlsl/preprocess/preprocess.h"

namespace {

constexpr size_t kMostFiles = 8;

bool IsParserKind(kiln::hlsl::TokenKind kind) {
  using enum kiln::hlsl::TokenKind;
  return kind == kIdentifier || kind == kInteger || kind == kFloat || kind == kString ||
         (kind >= kiln::hlsl::kFirstKeyword && kind != kHash && kind != kHashHash);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  kiln::SourceSet files;
  for (size_t i = 0; i < kMostFiles && (i == 0 || !rest.empty()); ++i) {
    const std::string path =
        i == 0 ? "root.hlsl" : std::string(1, static_cast<char>('a' + i - 1)) + ".h";
    files.Add({path, std::string(rest.substr(0, rest.find('\0')))});
    rest.remove_prefix(std::min(rest.size(), rest.find('\0') == std::string_view::npos
                                                 ? rest.size()
                                                 : rest.find('\0') + 1));
  }
  kiln::hlsl::Settings settings;
  settings.include_roots = {""};
  const kiln::hlsl::PreprocessResult read =
      kiln::hlsl::Preprocess(*files.Find("root.hlsl"), files, settings, 0);
  const kiln::hlsl::TokenStream& stream = read.stream;
  const uint32_t end = stream.files.back().first + stream.files.back().size;
  KILN_CHECK(stream.tokens.back().kind == kiln::hlsl::TokenKind::kEnd);
  KILN_CHECK(stream.tokens.size() <= size + (1u << 17) + 4096);
  for (const kiln::hlsl::Token& token : stream.tokens) {
    KILN_CHECK(&token == &stream.tokens.back() || IsParserKind(token.kind));
    KILN_CHECK(stream.origins.WrittenAt(token.origin).end <= end);
    KILN_CHECK(token.symbol < stream.symbols.size());
  }
  for (const kiln::Diagnostic& d : read.diagnostics) {
    KILN_CHECK(d.primary.bytes.begin <= d.primary.bytes.end && d.primary.bytes.end <= end + 1);
    KILN_CHECK(!kiln::Message(d).empty());
    for (const kiln::Label& label : d.labels) {
      KILN_CHECK(!kiln::LabelText(label).empty() && label.where.bytes.end <= end);
    }
  }
  return 0;
}
