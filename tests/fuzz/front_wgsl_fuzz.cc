// SPDX-License-Identifier: MIT
// libFuzzer: any bytes through the front end of WGSL. A module that comes out has ids that hold;
// what is wrong has places inside the text; trees print.
#include <cstddef>
#include <cstdint>
#include <string>

#include "compiler/base/check.h"
#include "compiler/front/wgsl/module/front.h"
#include "compiler/ir/verify/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const kiln::SourceFile source("fuzz.wgsl",
                                std::string(reinterpret_cast<const char*>(data), size));
  const kiln::Diagnosed<kiln::ir::Module> module = kiln::wgsl::front::Parse(source, {}, 0);
  KILN_CHECK(module.ok() != kiln::HasErrors(module.diagnostics));
  for (const kiln::Diagnostic& d : module.diagnostics) {
    KILN_CHECK(d.primary.bytes.begin <= d.primary.bytes.end && d.primary.bytes.end <= size);
    KILN_CHECK(!kiln::Message(d).empty());
  }
  if (module.ok()) {
    const kiln::Result<void> verdict = kiln::ir::VerifyIds(module.value->view());
    KILN_CHECK(verdict.ok(), "{}", verdict.ok() ? "" : verdict.error().context);
  }
  kiln::wgsl::front::DumpTokens(source, 0);
  kiln::wgsl::front::DumpAst(source, 0);
  return 0;
}
