// SPDX-License-Identifier: MIT
// What a compile hands out: bytes with the name under which they are asked for and their identity.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"

namespace kiln::artifact {

// "vertex", "fragment", "compute", "program" (combined module) or "metadata". Bytes are shared,
// since many variants have the same product.
struct Product {
  std::string name;
  Digest digest;
  std::shared_ptr<const Bytes> bytes;
};

inline Product MakeProduct(std::string name, Bytes bytes) {
  const Digest digest = DigestOf(bytes);
  return {std::move(name), digest, std::make_shared<const Bytes>(std::move(bytes))};
}

}  // namespace kiln::artifact
