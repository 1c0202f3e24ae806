// SPDX-License-Identifier: MIT
// libFuzzer: any bytes through lexer, parser and lowering. What parses must verify; what does not
// must say why, with places inside the text.
#include <cstddef>
#include <cstdint>
#include <string>

#include "compiler/base/check.h"
#include "compiler/front/rpl/front.h"
#include "compiler/ir/verify/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const kiln::SourceFile source("fuzz.rpl", std::string(reinterpret_cast<const char*>(data), size));
  const kiln::Diagnosed<kiln::ir::Module> module = kiln::rpl::Parse(source, {}, 0);
  KILN_CHECK(module.ok() != kiln::HasErrors(module.diagnostics));
  for (const kiln::Diagnostic& d : module.diagnostics) {
    KILN_CHECK(d.primary.bytes.begin <= d.primary.bytes.end && d.primary.bytes.end <= size + 1);
    KILN_CHECK(!kiln::Message(d).empty());
  }
  if (module.ok()) {
    KILN_CHECK(kiln::ir::VerifyIds(module.value->view()).ok());
  }
  return 0;
}
