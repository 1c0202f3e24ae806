// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cache/pack/reader.h"
#include "runtime/c/context.h"

// An open pack.
struct kiln_pack : kiln::c::Object {
  std::shared_ptr<const kiln::pack::Pack> pack;
  std::vector<std::string> programs;  // their names
};
