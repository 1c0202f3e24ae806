// SPDX-License-Identifier: MIT
// The state of a graphics pipeline as metadata says it: settings with their defaults, colour
// outputs, blend constants and fixed state. See spec/rpl 9.
#pragma once

#include <cstdint>
#include <span>
#include <string>
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
  using Settings = std::vector<Final>;  // by ir::Setting
  // What a colour output is besides its settings.
  struct Output {
    std::string name{};
    uint32_t rows = 0;
    ir::Scalar scalar = ir::Scalar::kF32;
    uint32_t location = 0;
    ir::Origin origin{};
    std::span<const ir::StringId> tags{};
  };
  // One location that rows of an interface take.
  struct RowPart {
    const ir::InterfaceRow* row = nullptr;  // null: nobody writes it
    uint32_t item = 0;
  };
  void ListRows();
  uint32_t ItemsOf(ir::TypeId id) const;
  void WriteOutput(const Output& output, const Settings& settings, WireWriter& out) const;
  void WriteField(const ir::SpecialisedMember& field, WireWriter& out) const;
  void WriteRow(uint32_t location, WireWriter& out) const;
  void WriteFixedState(WireWriter& out) const;

  const RecordContext& context_;
  Settings pipeline_;
  std::vector<Settings> outputs_;  // by location
  std::vector<RowPart> rows_;      // by location; of typed modules
};

}  // namespace kiln::metadata
