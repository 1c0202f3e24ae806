// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/copy_words.h"

namespace kiln::spirv {
namespace {

void CopyPlain(uint32_t* out, const uint32_t* words, const uint32_t* own, uint32_t count,
               uint32_t base) {
  CopyFew(out, words, own, count, base);
}

// The loop is the hot one of assembling: a module is little else than copied words. A build for the
// oldest x86-64 would use vectors of four, so the wide version is compiled beside it and chosen at
// run time. It rounds up to whole vectors, which is why every arena and every output has kCopySlack
// words behind it.
#if defined(__x86_64__)
using Eight [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = uint32_t;

[[gnu::target("avx2")]] void CopyWide(uint32_t* out, const uint32_t* words, const uint32_t* own,
                                      uint32_t count, uint32_t base) {
  const Eight bases = {base, base, base, base, base, base, base, base};
  for (uint32_t i = 0; i < count; i += 8) {
    *reinterpret_cast<Eight*>(out + i) = *reinterpret_cast<const Eight*>(words + i) +
                                         (*reinterpret_cast<const Eight*>(own + i) & bases);
  }
}
#endif

}  // namespace

CopyWords LongCopy() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) {
    return CopyWide;
  }
#endif
  return CopyPlain;
}

}  // namespace kiln::spirv
