// SPDX-License-Identifier: MIT
// Open, VerifyIds and Print on hostile bytes. An input is a seed and patches of the image of the
// random module with that seed, (position u32, word u32) each; so damage gets past the header.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/ir/text/print_generic.h"
#include "compiler/ir/verify/verify.h"
#include "tests/support/random_module.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const kiln::ByteView input(reinterpret_cast<const std::byte*>(data), size);
  if (size < sizeof(uint32_t)) {
    return 0;
  }
  const uint32_t seed = kiln::ReadLittle<uint32_t>(input) % 64;
  const kiln::ir::Module module = kiln::ir::MakeRandomModule(seed, {.typed = seed % 2 != 0});
  std::vector<std::byte> image(module.image().begin(), module.image().end());
  for (size_t at = 4; at + 8 <= size; at += 8) {
    const size_t position = kiln::ReadLittle<uint32_t>(input, at) % (image.size() / 4) * 4;
    const auto word = kiln::ReadLittle<uint32_t>(input, at + 4);
    std::memcpy(image.data() + position, &word, sizeof(word));
  }
  const kiln::Result<kiln::ir::ModuleView> opened = kiln::ir::ModuleView::Open(image, {});
  if (opened.ok() && kiln::ir::VerifyIds(*opened).ok()) {
    kiln::ir::Print(*opened);
  }
  return 0;
}
