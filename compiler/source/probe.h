// SPDX-License-Identifier: MIT
// A path that an include asked for. What a module was made of is its root and what its probes
// found: one that found nothing counts as well, since a file there would have been taken.
#pragma once

#include <string>

#include "compiler/base/digest.h"

namespace kiln {

struct Probe {
  std::string path;  // logical
  bool present = false;
  Digest digest;  // if present

  friend bool operator==(const Probe&, const Probe&) = default;
};

}  // namespace kiln
