// SPDX-License-Identifier: MIT
// libFuzzer: any bytes through preprocessor and parser of HLSL; the first byte chooses the dialect.
// A tree without errors keeps its promises and prints; what is wrong has places inside the text.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "compiler/base/check.h"
#include "compiler/front/hlsl/preprocess/preprocess.h"
#include "compiler/front/hlsl/syntax/dump.h"
#include "compiler/front/hlsl/syntax/parse.h"
#include "compiler/front/hlsl/syntax/tree_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace hlsl = kiln::hlsl;
  hlsl::Settings settings;
  settings.version = size > 0 && data[0] % 2 != 0 ? hlsl::Version::k2018 : hlsl::Version::k2021;
  const kiln::SourceFile source("fuzz.hlsl",
                                std::string(reinterpret_cast<const char*>(data), size));
  const hlsl::PreprocessResult read = hlsl::Preprocess(source, {}, settings, 0);
  const std::array<std::string_view, 1> texts{source.text};
  const hlsl::syntax::ParseResult parsed =
      hlsl::syntax::Parse(read.stream, texts, settings.version, {}, read.diagnostics);
  for (const kiln::Diagnostic& d : parsed.diagnostics) {
    KILN_CHECK(d.primary.bytes.begin <= d.primary.bytes.end && d.primary.bytes.end <= size + 1);
    KILN_CHECK(!kiln::Message(d).empty());
  }
  if (!kiln::HasErrors(parsed.diagnostics)) {
    KILN_CHECK(hlsl::syntax::CheckTree(read.stream, parsed.ast).empty());
    hlsl::syntax::DumpAst(read.stream, parsed.ast);
  }
  return 0;
}
