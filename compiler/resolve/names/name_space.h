// SPDX-License-Identifier: MIT
// The one space of global names: what is live must differ, whatever it is. See spec/rpl 8.5.
#pragma once

#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/resolve/program.h"

namespace kiln::resolve {

class NameSpace {
 public:
  // Holds every option of the program.
  NameSpace(const Program& program, std::vector<Diagnostic>& diagnostics);

  // A live declaration, in any order. Reports RPL4020 at the later of two that clash, RPL3024 if
  // both are constants; two functions or structs of one name are reported by who looks them up.
  void Add(ir::DeclId decl);

  // A name of a function's own against the functions and structs added so far (RPL6040).
  void CheckLocal(ir::LocalId id);

 private:
  struct Owner {
    ir::OptionId option;
    ir::DeclId decl;
    bool empty() const { return !option.valid() && !decl.valid(); }
  };
  Location LocationOf(const Owner& owner) const;
  std::string_view KindOf(const Owner& owner) const;
  void Report(NameId name, const Owner& earlier, const Owner& later);

  const Program& program_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<Owner> owners_;  // by NameId
};

}  // namespace kiln::resolve
