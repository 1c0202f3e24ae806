// SPDX-License-Identifier: MIT
// What metadata says about modules of WGSL, as values -> the bytes of its message. See
// spec/wgsl 3.15.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/ir/specialised.h"

namespace kiln::metadata {

struct WgslRecord {
  struct Entry {
    ir::Stage stage = ir::Stage::kVertex;
    std::string_view name;
  };
  struct Name {
    std::string_view name, source;
  };
  struct Binding {
    std::string_view source;
    uint32_t element = 0, group = 0, binding = 0;
    std::string_view kind, type;
  };
  std::vector<Entry> entries;
  std::vector<Name> names;
  std::vector<Binding> bindings;
  std::vector<std::string_view> features;
  bool derivative_uniformity_off = false;
};

Bytes EncodeWgsl(const WgslRecord& record);

}  // namespace kiln::metadata
