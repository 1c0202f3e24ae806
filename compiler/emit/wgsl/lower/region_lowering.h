// SPDX-License-Identifier: MIT
// The lowering of one region in progress: what all functions that lower its parts share. It holds
// the instructions that are read, the text that is written, and what values are called; free
// functions, a file for each topic (lower_*), take it as their first argument. Private to this
// folder.
//
// A value that is used once, in the block that computes it, stays text until its user takes it.
// Text that reads memory waits no longer than until something may write: Flush gives it a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/emit/wgsl/lower.h"
#include "compiler/emit/wgsl/lower/typed_region.h"
#include "compiler/ir/builtins.h"

namespace kiln::wgsl {

// How tightly text binds: operands that bind less are parenthesised.
enum class Binding : uint8_t { kPrimary, kUnary, kBinary };

struct Expr {
  std::string text;
  Binding binding = Binding::kPrimary;
  bool constant = false;  // WGSL computes it when a module is made, and refuses it if that fails
  bool reads = false;     // memory that somebody may write
  uint32_t depth = 0;     // of what was put together without a name
};

// Text as an operand of an operator or before '.' and '['; as an argument.
std::string OperandText(const Expr& value);
std::string ArgumentText(const Expr& value);

class RegionLowering {
 public:
  RegionLowering(const ir::SpecialisedRegion& region, const LoweringInputs& inputs);
  RegionLowering(const RegionLowering&) = delete;
  RegionLowering& operator=(const RegionLowering&) = delete;

  // --- what is read
  const ir::SpecialisedRegion& source() const { return source_; }
  const ir::Pool& pool() const { return types_.pool(); }
  Types& types() const { return types_; }
  const DeclNames& names() const { return names_; }
  const ir::Inst& InstOf(ir::InstId id) const { return source_.insts[id.value]; }
  const ir::Type& TypeOf(ir::InstId id) const { return pool()[InstOf(id).type]; }
  bool IsPlace(ir::InstId id) const;
  bool IsHandle(ir::TypeId type) const;
  uint32_t uses(ir::InstId id) const { return values_[id.value].uses; }
  std::span<const uint32_t> AtomicLeavesOf(ir::DeclId decl) const;

  // --- what is written
  // The text of a type; also says that the module needs its structs.
  std::string Type(ir::TypeId type);
  std::string VectorType(ir::Scalar scalar, uint32_t rows);
  void Line(std::string_view text);
  // No module has room for the lines that were written. Then nothing more is, and nobody puts them
  // into a module (Assembler::Begin).
  bool IsFull() const { return object_.bytes > most_bytes_; }
  // A line that is there under a condition.
  void LineIf(MarkKind when, uint32_t id, std::string_view text);
  // Where another region goes.
  void InsertionPoint(ir::RegionId region);
  void Open(std::string_view text) {
    Line(text);
    ++indent;
  }
  void Close(std::string_view text = "}") {
    --indent;
    Line(text);
  }
  std::string NewName();
  // A variable without a name in the source. What it begins with: nothing, or a value.
  std::string NewVariable(const std::string& type, std::string_view value = {});
  // `var` in front of the text. Requires: of typed modules.
  void Declare(const std::string& name, const std::string& type);
  // `let` of a new name.
  Expr Named(const std::string& type, const Expr& value);
  // A variable that holds the value, for operands that WGSL must not compute.
  Expr Hidden(ir::TypeId type, const Expr& value);
  void Report(Code code, ir::InstId where, std::vector<Argument> arguments);
  Needs& needs() { return object_.needs; }
  void Mention(const VariableUse& variable);
  // Lines in front of everything. Requires: of typed modules.
  void PutInFront(std::string_view lines) { declared_.insert(0, lines); }
  void SetInterface(std::vector<std::string> io) { object_.io = std::move(io); }
  TextObject Finish();

  // --- values
  // Says what instruction `id` computes: it becomes text for its user, or gets a name.
  void Define(ir::InstId id, Expr value);
  // A name in any case: for what must be evaluated here.
  void DefineHere(ir::InstId id, const Expr& value);
  // Of a variable that stands for the instruction.
  void SetText(ir::InstId id, std::string name) {
    values_[id.value].expr = {.text = std::move(name)};
  }
  // The value of an operand.
  Expr Take(ir::InstId id);
  // Whether the text of a value reads memory that somebody may write.
  bool Reads(ir::InstId id) const { return values_[id.value].expr.reads; }
  // Whether the only user of a coordinate takes its parts instead: nobody asks for it as a whole.
  bool IsTakenApart(ir::InstId id) const { return values_[id.value].taken_apart; }
  void SetTakenApart(ir::InstId id) { values_[id.value].taken_apart = true; }
  // Whether it is used once, in the block that computes it.
  bool IsUsedOnce(ir::InstId id) const {
    return values_[id.value].uses == 1 && values_[id.value].local;
  }
  // An exchange that WGSL's own, which may fail, stands for: who asks for it compares as it does.
  bool IsWeak(ir::InstId id) const { return values_[id.value].weak; }
  // What an instruction shows instead of its whole: a part, which its user knows about.
  void ShowAs(ir::InstId id, ir::TypeId type) { values_[id.value].shown = type; }
  bool IsShownAsPart(ir::InstId id) const { return values_[id.value].shown.valid(); }
  uint32_t ShownRows(ir::InstId id) const { return pool()[values_[id.value].shown].rows; }
  // Names everything that waits and reads what may change.
  void Flush();

  // A nested block, whose text is kept apart until it is known what belongs in front of it.
  struct NestedBlock {
    std::string text;
    Expr yielded{};
    bool ends = false;
  };
  // Requires: the blocks of one instruction are captured before any of them is written.
  NestedBlock Capture(ir::BlockId block);
  void Write(const NestedBlock& captured) { text_ += captured.text; }

  // Names of locals. Those of other regions are marks.
  void SetNames(std::vector<LocalName> names) { object_.names = std::move(names); }
  std::string LocalText(ir::LocalId local) const;

  bool typed() const { return types_.typed; }
  bool is_body() const { return is_body_; }
  // Of typed modules: what this region decides about its locals and interface (typed_region.h).
  TypedRegion typed_region;

  uint32_t indent = 1;
  uint32_t loops = 0;  // of this region, around the current place
  Expr yielded;        // by the last block
  bool ends = false;   // control does not go on behind the current place

 private:
  struct Value {
    Expr expr{};
    uint32_t uses = 0;
    uint32_t block = 0xffffffffu;  // that computes it
    bool local = true;             // all uses are in that block, and evaluate it once
    bool waits = false;
    bool taken_apart = false;
    bool weak = false;
    ir::TypeId shown{};  // of the part that stands for it
  };

  void Append(std::string_view line);
  void CountUses();
  void FoldStructs();
  void MarkWeak(const ir::Inst& construct);
  void DropUnused();
  void TakeApart(ir::InstId image, ir::InstId coordinate);
  void TakeCoordinateApart(const ir::ImageInst& inst);
  void CountStep(ir::InstId access, ir::InstId step);

  const ir::SpecialisedRegion& source_;
  Types& types_;
  const DeclNames& names_;
  std::span<const AtomicDecl> atomics_;
  const uint64_t most_bytes_;
  const bool is_body_;
  TextObject object_;
  std::string text_;
  std::string declared_;             // variables of typed modules: they stand in front of the text
  std::vector<Value> values_;        // by InstId
  std::vector<ir::InstId> waiting_;  // in order
  uint32_t next_name_ = 1;
};

}  // namespace kiln::wgsl
