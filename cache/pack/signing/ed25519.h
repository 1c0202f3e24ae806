// SPDX-License-Identifier: MIT
// Whether an Ed25519 signature is one of a key over a message, with nothing but integers: a shipped
// game checks its packs without a library of cryptography. Keys are made and used for signing by
// signing_key.h only. See spec/cache 10.7. Source: RFC 8032 §5.1.7, without the cofactor.
#pragma once

#include <array>
#include <cstdint>

#include "compiler/base/bytes.h"

namespace kiln::pack {

// False for every other message, key or signature, and for keys and signatures that are not in
// their one canonical form. Takes as long as its input says: nothing here is secret.
bool IsEd25519Signature(const std::array<uint8_t, 32>& key, ByteView message,
                        const std::array<uint8_t, 64>& signature);

}  // namespace kiln::pack
