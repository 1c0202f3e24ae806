// SPDX-License-Identifier: MIT
#include "compiler/driver/fingerprint.h"

#include <algorithm>
#include <fingerprint_values.h>

#include "compiler/base/check.h"

namespace kiln::driver {
namespace {

// The bytes are written into a header by the build: fingerprints are of sources, flags and
// libraries, and not of this binary's file.
Hash128 FromBytes(const uint8_t (&bytes)[16]) {
  Hash128 hash;
  std::copy(std::begin(bytes), std::end(bytes), hash.bytes.begin());
  return hash;
}

}  // namespace

Hash128 FrontFingerprint(ir::Language language) {
  switch (language) {
    case ir::Language::kRpl:
      return FromBytes(kFingerprintFrontRpl);
    case ir::Language::kHlsl:
      return FromBytes(kFingerprintFrontHlsl);
    case ir::Language::kWgsl:
      return FromBytes(kFingerprintFrontWgsl);
    case ir::Language::kSpirv:
      break;
  }
  KILN_UNREACHABLE();  // LanguageOf names no language without a front end
}

bool IsPrivateFront(ir::Language language) {
  return (language == ir::Language::kRpl && kPrivateFrontRpl) ||
         (language == ir::Language::kHlsl && kPrivateFrontHlsl) ||
         (language == ir::Language::kWgsl && kPrivateFrontWgsl);
}

bool IsPrivateBack() { return kPrivateBackSpirv; }

Hash128 BackFingerprint() { return FromBytes(kFingerprintBackSpirv); }

}  // namespace kiln::driver
