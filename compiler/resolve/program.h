// SPDX-License-Identifier: MIT
// A program: the modules of a pipeline linked by name. Immutable after Link, shared by all threads.
//
// DeclId, MemberId, LocalId, RegionId, OptionId and CexprId are program-wide here: a module's row
// plus the module's base. NameId numbers the distinct names of all modules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/language_limits.h"
#include "compiler/base/string_pool.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/module.h"
#include "compiler/ir/specialised.h"

namespace kiln::resolve {

using NameId = Id<struct NameTag>;

// First program-wide number of each table of one module.
struct Bases {
  uint32_t decl = 0, member = 0, local = 0, region = 0, option = 0, cexpr = 0;
};

// [begin, end) of rows of one module; empty if begin >= end.
struct InstRange {
  uint32_t begin = 0xffffffffu;
  uint32_t end = 0;
  uint32_t size() const { return begin < end ? end - begin : 0; }
};

// The members of an owner before one of them, those of them that are counted already.
struct MembersBefore {
  uint32_t counted = 0;                   // members that need no look
  uint32_t plain = 0;                     // fields without condition among them
  std::span<const uint32_t> conditional;  // positions of the other fields among them
};

class Program {
 public:
  ir::PipelineType pipeline() const { return pipeline_; }
  const LanguageLimits& limits() const { return limits_; }
  std::span<const ir::ModuleView> modules() const { return modules_; }
  const ir::ModuleView& module(uint32_t ordinal) const { return modules_[ordinal]; }
  const Bases& bases(uint32_t ordinal) const { return bases_[ordinal]; }

  uint32_t ModuleOf(ir::DeclId id) const;  // O(log modules), as all of these
  uint32_t ModuleOf(ir::MemberId id) const;
  uint32_t ModuleOf(ir::LocalId id) const;
  uint32_t ModuleOf(ir::RegionId id) const;
  uint32_t ModuleOf(ir::OptionId id) const;
  uint32_t ModuleOf(ir::CexprId id) const;

  const ir::Decl& Get(ir::DeclId id) const;
  const ir::Member& Get(ir::MemberId id) const;
  const ir::Local& Get(ir::LocalId id) const;
  const ir::Region& Get(ir::RegionId id) const;  // rows still hold module-local ids
  const ir::Option& Get(ir::OptionId id) const;

  uint32_t option_count() const { return option_count_; }
  uint32_t region_count() const { return region_count_; }
  uint32_t name_count() const { return names_.size(); }
  uint32_t decl_count() const { return decl_count_; }
  uint32_t member_count() const { return static_cast<uint32_t>(owners_.size()); }
  // Roughly the memory of its tables; the modules are somebody else's.
  uint64_t bytes_used() const { return bytes_used_; }
  uint32_t cexpr_count() const { return static_cast<uint32_t>(cexprs_.size()); }

  // Program-wide numbers of rows of one module; an invalid id stays invalid.
  ir::CexprId Wide(uint32_t module, ir::CexprId row) const {
    return ir::CexprId{bases_[module].cexpr + row.value};
  }
  ir::RegionId Wide(uint32_t module, ir::RegionId row) const {
    return row.valid() ? ir::RegionId{bases_[module].region + row.value} : row;
  }
  ir::LocalId Wide(uint32_t module, ir::LocalId row) const {
    return row.valid() ? ir::LocalId{bases_[module].local + row.value} : row;
  }

  // A compile-time expression in program-wide terms: operands are program-wide ids, names and
  // texts (kName, string kLiteral, kInvalid) are NameIds; the operands of kSelect are a, b, zero.
  const ir::Cexpr& Row(ir::CexprId id) const { return cexprs_[id.value]; }
  // Nodes of the expression tree, which is the length of its run of spans.
  uint32_t TreeSize(ir::CexprId id) const { return tree_sizes_[id.value]; }
  // Whether a good expression may still deserve a warning (old spellings, impossible enum values).
  bool MayRemark(ir::CexprId id) const { return may_remark_[id.value]; }
  // False for a text that an enum option never has.
  bool MayHaveValue(ir::OptionId id, NameId text) const;
  // Whether every constant that `constant` mentions is declared before it, under any condition.
  bool Ordered(ir::DeclId constant) const;

  // Resources that several typed modules declare under one name are one declaration: the first. Any
  // other declaration is its own.
  ir::DeclId FirstOf(ir::DeclId id) const {
    const ir::DeclId* const first = first_of_.Find(id.value);
    return first == nullptr ? id : *first;
  }
  // Whether variables of this module have values that functions compute.
  bool Initialises(uint32_t module) const { return initialises_[module]; }
  // Those that are not the first, in program order.
  std::span<const ir::DeclId> repeated() const { return repeated_; }

  NameId NameOf(ir::DeclId id) const { return decl_names_[id.value]; }
  NameId NameOf(ir::OptionId id) const { return option_names_[id.value]; }
  ir::DeclId OwnerOf(ir::MemberId id) const { return owners_[id.value]; }
  // The first member of that name, under whatever condition; invalid if none.
  ir::MemberId FindMember(ir::DeclId owner, NameId name) const;
  // What stands before that first member, known for owners of many members; else nothing.
  MembersBefore Before(ir::DeclId owner, NameId name) const;
  // Program-wide number of the first member.
  ir::MemberId FirstMember(ir::DeclId id) const;
  Location At(uint32_t module, ir::SpanId span) const {
    return {.module = module, .span_number = span.value, .bytes = modules_[module].SpanOf(span)};
  }
  Location NameLocation(ir::DeclId id) const;  // of the name where it is declared
  Location NameLocation(ir::MemberId id) const;
  Location NameLocation(ir::OptionId id) const;
  // Span rows of declarations and members; all invalid if the module has none.
  ir::DeclSpans SpansOf(ir::DeclId id) const;
  ir::MemberSpans SpansOf(ir::MemberId id) const;

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
  ir::OptionId Option(NameId name) const;                // invalid if none
  ir::OptionId FindOption(std::string_view name) const;  // the same by its text, soon
  std::span<const uint32_t> option_defaults() const { return option_defaults_; }  // by OptionId
  // Whether two may have that name, whatever they are and under any condition: declarations, or a
  // declaration and something local to a function.
  bool IsAmbiguous(NameId name) const { return ambiguous_[name.value]; }

  std::span<const ir::OptionId> options_by_name() const { return options_by_name_; }
  // Options whose values chose the modules themselves (macros that a source asked for): whatever is
  // built of the program rests on them, though no expression mentions them. Ascending.
  std::span<const ir::OptionId> choices() const { return choices_; }
  // Requires: nobody shares the program yet.
  void SetChoices(std::vector<ir::OptionId> choices) { choices_ = std::move(choices); }
  // In program order; the interface in binding order (spec/rpl 8.1 step 3), settings left out.
  std::span<const ir::DeclId> constants() const { return constants_; }
  std::span<const ir::DeclId> settings() const { return settings_; }
  std::span<const ir::DeclId> interface() const { return interface_; }

  // Static facts. A function is stage-sensitive if it samples with implicit LOD, directly or
  // through any call (all conditions taken as unknown); spec/rpl 6.4.
  bool StageSensitive(ir::DeclId function) const;
  // A constant of a written type other than a scalar (spec/rpl 14.5).
  bool IsComposite(ir::DeclId constant) const;
  // Of a specialised option: its number among them.
  uint32_t SpecIdOf(ir::OptionId option) const;
  // A local variable that is declared without a value; a function that declares one.
  bool DeclaredBare(ir::LocalId local) const { return bare_locals_[local.value]; }
  bool HasBareLocals(ir::DeclId function) const { return has_bare_locals_[function.value]; }
  // Rows of the module's instructions between which all of a function's lie, aliases included.
  InstRange InstsOf(ir::DeclId function) const { return inst_ranges_[function.value]; }

 private:
  friend class Linker;  // program.cc

  ir::PipelineType pipeline_ = ir::PipelineType::kGraphicsClassic;
  LanguageLimits limits_;
  std::vector<ir::ModuleView> modules_;  // borrowed: whoever owns the program owns the images
  std::vector<Bases> bases_;
  StringPool<NameId> names_;
  std::vector<std::vector<NameId>> names_of_;
  uint32_t option_count_ = 0;
  uint64_t bytes_used_ = 0;
  struct Candidates {
    std::vector<ir::DeclId> functions, structs, constants, globals;
    ir::OptionId option;
  };
  std::vector<Candidates> candidates_;  // by NameId
  std::vector<bool> ambiguous_;         // by NameId
  std::vector<bool> stage_sensitive_;   // by DeclId
  std::vector<InstRange> inst_ranges_;  // by DeclId
  std::vector<bool> bare_locals_;       // by LocalId
  std::vector<bool> has_bare_locals_;   // by DeclId
  uint32_t decl_count_ = 0;
  uint32_t region_count_ = 0;
  std::vector<NameId> option_names_;  // by OptionId
  std::vector<NameId> decl_names_;    // by DeclId
  std::vector<ir::DeclId> owners_;    // by MemberId
  struct LongRow {
    ir::MemberId member;  // the first of that name
    uint32_t plain = 0;   // fields without condition before it
    uint32_t begin = 0;   // rows of conditional_fields_ before it
    uint32_t end = 0;
  };
  FlatMap<uint64_t, LongRow> long_lists_;     // by owner << 32 | name
  std::vector<uint32_t> conditional_fields_;  // positions in their owner, of owners of many members
  std::vector<ir::Cexpr> cexprs_;             // by CexprId
  std::vector<uint32_t> tree_sizes_;          // by CexprId
  std::vector<uint32_t> last_constant_;       // by CexprId: 1 + the last constant it may mean, or 0
  std::vector<bool> may_remark_;              // by CexprId
  std::vector<ir::OptionId> options_by_name_;
  std::vector<ir::OptionId> choices_;
  std::vector<uint32_t> option_defaults_;  // by OptionId
  std::vector<uint32_t> spec_ids_;         // by OptionId
  InternIndex option_index_;               // of options, by their names
  std::vector<ir::DeclId> constants_, settings_, interface_;
  FlatMap<uint32_t, ir::DeclId> first_of_;  // by DeclId
  std::vector<ir::DeclId> repeated_;
  std::vector<bool> initialises_;  // by module
};

// Links modules in order. Views must outlive the program and have passed VerifyIds. `names` are the
// modules' names for messages; without them they are called by their position, from 1.
// Diagnostics: RPL2002, RPL2010, LIM1001 for values of an enum (RPL2001 and RPL2009 are the
// driver's, which knows files and parse errors).
Diagnosed<Program> Link(std::span<const ir::ModuleView> modules, ir::PipelineType pipeline,
                        std::span<const std::string> names = {}, const LanguageLimits& limits = {});

}  // namespace kiln::resolve
