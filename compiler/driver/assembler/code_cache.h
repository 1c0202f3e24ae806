// SPDX-License-Identifier: MIT
// Everything that emission of one program and target keeps: specialised types, code objects, and by
// content what is lowered and which modules are known. It can go on with another link of the same
// declarations, so that after an edit of one function only that function is lowered again, and
// after an edit of a setting nothing. One thread. See spec/architecture 10.2 to 10.4
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/base/flat_map.h"
#include "compiler/driver/assembler/function_numbers.h"
#include "compiler/driver/assembler/module_cache.h"
#include "compiler/driver/assembler/unit_content.h"
#include "compiler/emit/spirv/assemble.h"
#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/ir_types.h"
#include "compiler/layout/layout.h"
#include "compiler/resolve/program.h"

namespace kiln::driver {

class CodeCache {
 public:
  CodeCache(const resolve::Program& program, const target::Target& target);
  CodeCache(const CodeCache&) = delete;
  CodeCache& operator=(const CodeCache&) = delete;

  ir::Pool& pool() { return pool_; }
  layout::TypeLayouts& types() { return types_; }
  spirv::CodeObjectTable& table() { return table_; }
  const spirv::CodeObjectTable& table() const { return table_; }

  // Whether declarations and members of `next` have the same numbers and kinds.
  bool CanServe(const resolve::Program& next) const;
  // Goes on with `next`: specialised units and functions of the program before are forgotten.
  // Requires: CanServe, and nobody uses what was assembled before.
  void Serve(const resolve::Program& next);

  // Lowers what is new of a variant, as spirv::Prepare does, but nothing of equal content twice. In
  // two steps, because most variants have a known interface.
  void PrepareInterface(std::span<const ir::SpecialisedDecl* const> interface);
  // Gives the entry points whose code is larger than a module may be, as spirv::Prepare does.
  // Requires: the interface of the variant was prepared.
  std::vector<uint32_t> PrepareFunctions(const ir::SpecialisedProgram& variant);

  // Names the words of a module: equal ids are equal words. `interface`: content of the interface
  // with its layout. Requires: the variant was prepared.
  Hash128 ModuleId(const ir::SpecialisedProgram& variant, spirv::EntryChoice choice,
                   const Hash128& interface);
  ModuleCache& modules() { return modules_; }

  UnitContent& content() { return content_; }

  // Since the program is served: the function of every region that was lowered, in order.
  std::span<const std::string> lowered() const { return lowered_; }
  size_t bytes_used() const;

 private:
  // A declaration as far as ids and code objects rest on it.
  struct DeclShape {
    ir::DeclKind kind = ir::DeclKind::kStruct;
    uint16_t flags = 0;
    uint32_t first_member = 0, member_count = 0;
    std::string name;
    friend bool operator==(const DeclShape&, const DeclShape&) = default;
  };
  struct AddressHash {
    uint64_t operator()(const void* address) const {
      return Mix64(reinterpret_cast<uintptr_t>(address));
    }
  };

  static std::vector<DeclShape> ShapesOf(const resolve::Program& program);
  void PrepareDecl(const ir::SpecialisedDecl& decl);
  void PrepareRegion(const ir::SpecialisedRegion& region);
  void AddFunctions(const ir::EntryRef& entry);
  const Hash128& ContentOf(const ir::FunctionRef& function);

  std::vector<DeclShape> shapes_;
  FunctionNumbers numbers_;
  RetiredNumbers retired_locals_, retired_regions_;
  UnitContent content_;
  uint32_t served_ = 1;  // programs

  ir::Pool pool_;
  layout::TypeLayouts types_;
  spirv::CodeObjectTable table_;
  FlatMap<Hash128, spirv::CodeObjectId> objects_;  // of regions, by content
  ModuleCache modules_;                            // by content: by ModuleId

  // Of the program that is served.
  FlatMap<const ir::SpecialisedRegion*, Hash128, AddressHash> contents_;
  std::vector<std::optional<Hash128>> functions_;  // by number: content
  std::vector<std::string> lowered_;
  // Memory that is kept.
  std::vector<Hash128> ids_;
};

}  // namespace kiln::driver
