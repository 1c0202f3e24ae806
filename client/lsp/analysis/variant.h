// SPDX-License-Identifier: MIT
// One variant of a program, specialised: what its conditions come to, which types its expressions
// have, where its blocks and their fields lie. What of it cannot be told because the variant has
// errors is left out, not guessed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/lsp/analysis/program.h"
#include "compiler/driver/direct_builder.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/ir_types.h"
#include "compiler/layout/layout.h"
#include "compiler/resolve/values/options.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::lsp {

// One field of a block or container as this variant has it. Sizes in bytes.
struct FieldPlace {
  ir::MemberId member{};
  std::string type;
  std::optional<uint64_t> offset;  // in its block
  uint64_t size = 0;
  uint64_t padding = 0;              // behind it, to the next field
  std::optional<uint32_t> location;  // of attributes, state and outputs
};

// A live block, container or resource.
struct BlockPlace {
  std::string type;   // of resources
  std::string rules;  // "std140"; empty: no block
  std::optional<uint32_t> set;
  std::optional<uint32_t> binding;
  uint64_t size = 0;
  std::vector<FieldPlace> fields;
};

class Variant {
 public:
  // Requires: program->linked, and settings that fit it.
  Variant(std::shared_ptr<const LinkedSources> program,
          const std::vector<resolve::OptionSetting>& settings);

  const LinkedSources& program() const { return *program_; }
  const resolve::OptionValues& values() const { return values_; }
  // Whether it has no error.
  bool good() const { return good_; }

  // A condition of a module; nothing if it fails.
  std::optional<bool> Holds(uint32_t module, ir::CexprId condition);
  // "12", "true", "\"pcf\""; nothing if it fails.
  std::optional<std::string> ConstantText(ir::DeclId constant);

  // Of a block, container, struct or resource; nothing if it is not live or wrong.
  std::optional<BlockPlace> PlaceOf(ir::DeclId decl);
  // The type of the smallest expression that covers the bytes and begins with them, "f3".
  std::optional<std::string> TypeAt(uint32_t module, Span bytes) const;

 private:
  struct TypedSpan {
    uint32_t module;
    Span bytes;
    ir::TypeId type;
  };

  void ReadTypes();
  void PlaceFields(const ir::SpecialisedDecl& decl, BlockPlace& place);

  const std::shared_ptr<const LinkedSources> program_;
  ir::Pool pool_;
  driver::DirectUnits units_;
  resolve::OptionValues values_;
  resolve::VariantEvaluator evaluator_;
  layout::TypeLayouts types_;
  ir::SpecialisedProgram variant_;
  std::optional<layout::Layout> layout_;
  bool good_ = false;
  std::vector<TypedSpan> typed_;  // sorted by module and place
};

}  // namespace kiln::lsp
