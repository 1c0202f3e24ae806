// SPDX-License-Identifier: MIT
// The two files of a pair of keys that signs packs.
#pragma once

#include <string>

#include "cache/pack/signing/signing_key.h"
#include "compiler/base/result.h"

namespace kiln::cli {

// `secret` may be read by its owner only and is never replaced; `open` may be there. After an error
// there is no new secret: it would be in the way of the next attempt, and nobody has its other
// half. Errors: FileError.
Result<void> WriteKeyPair(const std::string& secret, const std::string& open,
                          const pack::SigningKey& key);

}  // namespace kiln::cli
