// SPDX-License-Identifier: MIT
// Through the library, which looks at the processor once; a file of its own, because the inlined
// form of checksum.cc renames everything.
#include "compiler/base/hash/wide_checksum.h"

#include <cstring>
#include <memory>

#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln {

namespace {

// The same function in parts. The state is large and aligned, so it is the library's to make.
XXH128_hash_t LongChecksum(ByteView bytes) {
  struct Free {
    void operator()(XXH3_state_t* state) const { (void)XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, Free> state(XXH3_createState());
  // Memory that is gone cannot be answered with a sum, which callers take for that of the bytes.
  KILN_CHECK(state != nullptr);
  (void)XXH3_128bits_reset(state.get());
  InParts(bytes.size(), [&](size_t offset, size_t size) {
    (void)XXH3_128bits_update(state.get(), bytes.data() + offset, size);
  });
  return XXH3_128bits_digest(state.get());
}

}  // namespace

// Up to one part the one-shot function is used, which is faster than a state; beyond it the work
// must be able to stop between the parts. XXH3 gives the same sum either way.
Hash128 WideChecksum(ByteView bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, bytes.size() <= kPartBytes
                                           ? XXH3_128bits(bytes.data(), bytes.size())
                                           : LongChecksum(bytes));
  Hash128 result;
  static_assert(sizeof(canonical.digest) == sizeof(result.bytes));
  std::memcpy(result.bytes.data(), canonical.digest, sizeof(canonical.digest));
  return result;
}

}  // namespace kiln
