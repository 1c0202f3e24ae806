// SPDX-License-Identifier: MIT
// Programs as the sections `binding` and `rpl` of a case file write them -> programs of the engine.
// See spec/layout 17.
#pragma once

#include <string>

#include "compiler/base/result.h"
#include "compiler/layout/bytes.h"
#include "compiler/layout/cases/case_types.h"
#include "compiler/layout/program.h"
#include "compiler/layout/program_layout.h"
#include "compiler/layout/rpl_order.h"

namespace kiln::layout {

// Both views texts of the case, which must outlive them.
// Units and imports, policy first_fit.
class CaseProgram {
 public:
  // Errors: kInvalidArgument if it is not a case.
  Result<void> Read(const Json& item);

  ProgramLayout LayOutFor(Platform platform);
  Program& program() { return program_; }
  const Types& types() const { return types_; }
  ByteLayouts& bytes() { return bytes_; }

 private:
  Result<void> ReadUnits(const Json& item, const std::string& key, bool imported);
  Result<Parameter> ReadParameter(const Json& written);

  Types types_;
  CaseTypes written_{types_};
  ByteLayouts bytes_{types_};
  Program program_;
};

// Modules, policy rpl.
class CaseModules {
 public:
  // Errors: kInvalidArgument if it is not a case.
  Result<void> Read(const Json& item);

  ProgramLayout LayOutFor(Platform platform);
  Program& program() { return program_; }
  ByteLayouts& bytes() { return bytes_; }

 private:
  Result<void> ReadDecl(const Json& decl, Unit& unit);
  Result<void> ReadContainer(const Json& decl, Unit& unit);
  Result<Parameter> ReadParameter(const Json& decl, RplGroup group);
  Result<TypeId> ReadContent(const Json& decl);

  Types types_{Spelling::kRpl};
  CaseTypes written_{types_};
  ByteLayouts bytes_{types_};
  Program program_;
};

}  // namespace kiln::layout
