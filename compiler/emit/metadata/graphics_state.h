// SPDX-License-Identifier: MIT
// The state of a graphics pipeline as metadata says it: settings with their defaults, colour
// outputs, blend constants and fixed state. See spec/rpl 9.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/emit/metadata/records.h"
#include "compiler/emit/metadata/wire.h"
#include "compiler/ir/specialised.h"

namespace kiln::metadata {

bool IsColorOutput(const ir::SpecialisedDecl& decl);

// Settings, colour outputs, blend constants and fixed state of a graphics pipeline, in two parts
// because other fields stand between them.
class GraphicsState {
 public:
  explicit GraphicsState(const RecordContext& context);
  void WriteSettings(WireWriter& out) const;
  void WriteOutputs(WireWriter& out) const;  // colour outputs, blend constants, fixed state

 private:
  struct Final {  // the value of one setting
    uint32_t bits = 0;
    std::string_view text{};
  };
  void WriteOutput(const ir::SpecialisedMember& field, WireWriter& out) const;
  void WriteFixedState(WireWriter& out) const;

  const RecordContext& context_;
  std::vector<Final> pipeline_;              // by ir::Setting
  std::vector<std::vector<Final>> outputs_;  // by location, then ir::Setting
};

}  // namespace kiln::metadata
