// SPDX-License-Identifier: MIT
// Checks every table of a generic module but the instructions: the first half of VerifyIds
// (verify.h).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/verify/image_rows.h"

namespace kiln::ir {

class TableVerifier {
 public:
  // `rows` takes the error and must outlive the verifier.
  explicit TableVerifier(ImageRows& rows) : rows_(rows), module_(rows.module()) {}

  void Run();

 private:
  void VerifyStrings();
  void VerifyTypes();
  void VerifyType(uint32_t row);
  void VerifyConsts();
  void VerifyCexprs();
  void VerifyCexpr(uint32_t row);
  bool VerifyLiteral(const Cexpr& cexpr) const;
  void VerifyOptions();
  void VerifyDecls();
  void VerifyDecl(uint32_t row);
  bool IsFunctionAbove(uint32_t row, uint32_t id) const;
  DeclId StructIn(TypeId id) const;
  void UseType(uint32_t row, TypeId id);
  bool IsAttributeWord(AttributeWord word, uint32_t value) const;
  void VerifyAttributes();
  bool VerifyDeclType(const Decl& decl) const;
  void VerifyMembers(const Decl& decl);
  void VerifyMember(const Decl& decl, uint32_t row);
  void VerifyLocals();
  void VerifySpans();

  ImageRows& rows_;
  const ModuleView& module_;
  std::vector<uint32_t> cexpr_nesting_;   // by row
  std::vector<bool> cexpr_is_typed_;      // by row: holds a composite
  std::vector<uint32_t> struct_nesting_;  // by declaration: of the structs that it holds
};

}  // namespace kiln::ir
