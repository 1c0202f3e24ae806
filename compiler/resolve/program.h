// SPDX-License-Identifier: MIT
// A program: the modules of a pipeline linked by name. Immutable after Link, shared by all threads.
//
// DeclId, MemberId, LocalId, SegmentId, OptionId and CexprId are program-wide here: a module's row
// plus the module's base. NameId numbers the distinct names of all modules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/string_pool.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/closed.h"
#include "compiler/ir/module.h"

namespace kiln::resolve {

using NameId = Id<struct NameTag>;

// First program-wide number of each table of one module.
struct Bases {
  uint32_t decl = 0, member = 0, local = 0, segment = 0, option = 0, cexpr = 0;
};

class Program {
 public:
  ir::PipelineType pipeline() const { return pipeline_; }
  std::span<const ir::ModuleView> modules() const { return modules_; }
  const ir::ModuleView& module(uint32_t ordinal) const { return modules_[ordinal]; }
  const Bases& bases(uint32_t ordinal) const { return bases_[ordinal]; }

  uint32_t ModuleOf(ir::DeclId id) const;  // O(log modules), as all of these
  uint32_t ModuleOf(ir::MemberId id) const;
  uint32_t ModuleOf(ir::LocalId id) const;
  uint32_t ModuleOf(ir::SegmentId id) const;
  uint32_t ModuleOf(ir::OptionId id) const;
  uint32_t ModuleOf(ir::CexprId id) const;

  const ir::Decl& Get(ir::DeclId id) const;
  const ir::Member& Get(ir::MemberId id) const;
  const ir::Local& Get(ir::LocalId id) const;
  const ir::Segment& Get(ir::SegmentId id) const;  // rows still hold module-local ids
  const ir::Option& Get(ir::OptionId id) const;

  uint32_t option_count() const { return option_count_; }

  NameId Name(uint32_t module, ir::StringId text) const { return names_of_[module][text.value]; }
  NameId FindName(std::string_view text) const {
    return names_.Find(text);
  }  // invalid if nobody mentions it
  std::string_view Text(NameId id) const { return names_[id]; }

  // Declarations of that name in program order: candidates per name. Options have at most one.
  std::span<const ir::DeclId> Functions(NameId name) const;
  std::span<const ir::DeclId> Structs(NameId name) const;
  std::span<const ir::DeclId> Constants(NameId name) const;
  std::span<const ir::DeclId> Globals(
      NameId name) const;  // containers, buffers, push constants, samplers, images, workgroup
  ir::OptionId Option(NameId name) const;  // invalid if none

  // Static facts. A function is stage-sensitive if it samples with implicit LOD, directly or
  // through any call (all conditions taken as unknown); rpl.md 6.4.
  bool StageSensitive(ir::DeclId function) const;

 private:
  friend class Linker;  // program.cc

  ir::PipelineType pipeline_ = ir::PipelineType::kGraphicsClassic;
  std::vector<ir::ModuleView> modules_;  // borrowed: whoever owns the program owns the images
  std::vector<Bases> bases_;
  StringPool<NameId> names_;
  std::vector<std::vector<NameId>> names_of_;
  uint32_t option_count_ = 0;
  struct Candidates {
    std::vector<ir::DeclId> functions, structs, constants, globals;
    ir::OptionId option;
  };
  std::vector<Candidates> candidates_;  // by NameId
  std::vector<bool> stage_sensitive_;   // by DeclId
};

// Links modules in order. Views must outlive the program and have passed VerifyIds.
// Diagnostics: RPL2002 (RPL2001 and RPL2009 are the driver's, which knows files and parse errors).
Diagnosed<Program> Link(std::span<const ir::ModuleView> modules, ir::PipelineType pipeline);

}  // namespace kiln::resolve
