// SPDX-License-Identifier: MIT
// Through the library, which looks at the processor once; a file of its own, because the inlined
// form of checksum.cc renames everything.
#include "compiler/base/wide_checksum.h"

#include <cstring>

#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

namespace kiln {

Hash128 WideChecksum(ByteView bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  Hash128 result;
  static_assert(sizeof(canonical.digest) == sizeof(result.bytes));
  std::memcpy(result.bytes.data(), canonical.digest, sizeof(canonical.digest));
  return result;
}

}  // namespace kiln
