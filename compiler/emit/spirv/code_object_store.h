// SPDX-License-Identifier: MIT
// The memory of a code object table: arenas that code objects point into, symbols, and the one
// canonical order of everything of module scope. Append-only; nothing in an output depends on the
// order of adding.
//
// Canonical order: imports of instructions; source files; types and constants by (depth, opcode,
// operands, names and decorations), where an operand counts by its own place in this order;
// specialisation constants; variables of the stage; variables by declaration, member and direction;
// variables that hold constants.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/table.h"
#include "compiler/emit/spirv/code_object.h"
#include "compiler/emit/spirv/code_object_writer.h"
#include "compiler/emit/spirv/copy_words.h"
#include "compiler/ir/insts.h"

namespace kiln::spirv {

enum class SymbolKind : uint8_t {
  kInstructionSet,    // interned by content
  kSourceFile,        // by content
  kType,              // by content; constants too
  kSpecConstant,      // by content
  kStageVariable,     // StageVariable
  kVariable,          // DeclId, MemberId or none, Direction
  kConstantVariable,  // by content
  kFunction,          // DeclId
  kLocal,             // LocalId, LocalRole
};
// What of a local is meant: a loop exit stands for two labels.
enum class LocalRole : uint8_t { kName, kBreak = kName, kContinue };

struct Symbol {
  SymbolKind kind = SymbolKind::kType;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

// Nobody's symbol; its number is zero.
inline constexpr SymbolId kNoSymbol{0};

class CodeObjectStore {
 public:
  CodeObjectStore();
  SymbolId Function(ir::DeclId function);
  SymbolId Local(ir::LocalId local, LocalRole role = LocalRole::kName);
  // Known from then on as a global without a code object: which version lives is the variant's
  // business.
  SymbolId Variable(ir::DeclId decl, ir::MemberId member, ir::Direction direction,
                    spv::StorageClass storage);
  // `writer` makes the variable's code object if it is new.
  template <class Write>
  SymbolId StageVariable(ir::StageVariable variable, spv::StorageClass storage, Write write) {
    const SymbolId id = Intern({SymbolKind::kStageVariable, static_cast<uint32_t>(variable), 0, 0});
    if (!global_of_[id.value].valid()) {
      CodeObjectWriter writer;
      write(writer);
      AddGlobal(id, {.object = Add(writer), .storage = storage});
    }
    return id;
  }
  // The global with these words: a type, a constant or an instruction set.
  SymbolId InternGlobal(const CodeObjectWriter& writer, SymbolKind kind = SymbolKind::kType,
                        spv::StorageClass storage = spv::StorageClass::Max);

  CodeObjectId Add(const CodeObjectWriter& writer);

  // Gives locals and regions other numbers, different ones for different ones.
  void Relink(const std::function<uint32_t(uint32_t)>& local,
              const std::function<uint32_t(uint32_t)>& region);

  const CodeObject& operator[](CodeObjectId id) const { return objects_[id.value]; }
  // Of its parts, which every module has that has the code object.
  uint32_t PartWords(CodeObjectId id) const;
  const Symbol& operator[](SymbolId id) const { return symbols_[id]; }
  GlobalId GlobalOf(SymbolId id) const { return global_of_[id.value]; }  // invalid: none
  uint32_t symbol_count() const { return symbols_.size(); }
  uint32_t global_count() const { return globals_.size(); }
  uint32_t object_count() const { return static_cast<uint32_t>(objects_.size()); }

  // One global, in canonical order.
  struct OrderedGlobal {
    GlobalId global{};
    SymbolId symbol{};
    CodeObjectId object{};   // invalid: a variable with a version for each form of its declaration
    bool is_import = false;  // of instructions
  };
  std::span<const OrderedGlobal> order() const {
    Settle();
    return order_;
  }
  // Place of the first variable in the order.
  uint32_t first_variable() const {
    Settle();
    return first_variable_;
  }
  GlobalId FindStageVariable(ir::StageVariable variable) const;  // invalid: never mentioned
  spv::StorageClass StorageOf(GlobalId id) const { return globals_[id].storage; }
  // A vertex output and the fragment input of the same field of a state container.
  struct Varying {
    GlobalId in, out;
  };
  std::span<const Varying> varyings() const { return varyings_; }
  // Both variables of a state field are known: they are one interface.
  void AddVarying(GlobalId in, GlobalId out);

  // Where the rows of code objects end. Going back there forgets the code objects that were added
  // since, which must not be those of globals.
  struct Mark {
    size_t objects = 0, imports = 0, reserved = 0, bits = 0, slots = 0, insertion_points = 0,
           flows = 0;
    size_t conditionals = 0;
    uint32_t words = 0;
  };
  Mark End() const;
  void GoBack(const Mark& mark);

  const uint32_t* words() const { return words_.data(); }
  // Beside each word: all ones if it is an own id, else zero.
  const uint32_t* own_masks() const { return own_masks_.data(); }
  const SymbolRelocation* imports() const { return imports_.data(); }
  std::span<const uint32_t> WordsOf(const Section& s) const { return Slice(words_, s.words); }
  bool IsOwn(const Section& s, uint32_t position) const {
    return own_masks_[s.words.first + position] != 0;
  }
  std::span<const SymbolRelocation> ImportsOf(const Section& s) const {
    return Slice(imports_, s.imports);
  }
  std::span<const SymbolId> Reserved(const CodeObject& p) const {
    return Slice(reserved_, p.reserved);
  }
  std::span<const uint64_t> Globals(const CodeObject& p) const { return Slice(bits_, p.globals); }
  std::span<const LayoutRelocation> Slots(const CodeObject& p) const {
    return Slice(slots_, p.slots);
  }
  std::span<const InsertionPoint> InsertionPoints(const CodeObject& p) const {
    return Slice(insertion_points_, p.insertion_points);
  }
  std::span<const Flow> Flows(const CodeObject& p) const { return Slice(flows_, p.flows); }
  std::span<const Conditional> Conditionals(const CodeObject& p) const {
    return Slice(conditionals_, p.conditionals);
  }
  size_t bytes_used() const;

 private:
  struct Global {
    SymbolId symbol{};
    CodeObjectId object{};
    uint32_t depth = 0;
    spv::StorageClass storage = spv::StorageClass::Max;
  };

  template <class T>
  static std::span<const T> Slice(const std::vector<T>& rows, Range<T> range) {
    return std::span(rows).subspan(range.first, range.count);
  }
  template <class T>
  static Range<T> Append(std::vector<T>& rows, std::span<const T> more);

  SymbolId Intern(const Symbol& symbol);
  void AddGlobal(SymbolId symbol, Global global);
  void Settle() const;
  void Place(std::span<GlobalId> group, std::span<const OrderedGlobal>& old,
             std::vector<OrderedGlobal>& order) const;
  std::pair<SymbolKind, uint32_t> GroupOf(GlobalId id) const;
  void PutInOrder(const OrderedGlobal& row, std::vector<OrderedGlobal>& order) const;
  Section Append(const Words& words);
  CodeObjectId AddWords(const CodeObjectWriter& writer);
  Range<uint64_t> NeedsOf(const CodeObject& object);
  void Need(std::span<const SymbolRelocation> imports);
  bool Equal(CodeObjectId object, const CodeObjectWriter& writer) const;
  std::strong_ordering Compare(GlobalId a, GlobalId b) const;
  std::strong_ordering CompareShapes(const Global& a, const Global& b) const;
  std::strong_ordering CompareOperands(const Section& a, const Section& b) const;

  Table<SymbolId, Symbol> symbols_;
  std::vector<GlobalId> global_of_;         // by SymbolId
  std::vector<SymbolId> local_symbols_;     // by LocalId and role; kNoSymbol: none yet
  std::vector<SymbolId> function_symbols_;  // by DeclId; the same
  InternIndex symbol_index_;
  Table<GlobalId, Global> globals_;
  InternIndex shape_index_;  // over globals_
  // The order is made when it is asked for, of all that came since the last time at once.
  mutable std::vector<OrderedGlobal> order_;
  mutable std::vector<GlobalId> added_;  // not in order_ yet
  mutable std::vector<uint32_t> ranks_;  // by GlobalId: place in order_
  mutable uint32_t first_variable_ = 0;
  std::vector<Varying> varyings_;
  FlatMap<GlobalId, GlobalId> varying_of_;  // of the input, the output

  std::vector<CodeObject> objects_;  // by CodeObjectId
  std::vector<uint32_t> words_;      // word_count_ of them, and slack
  std::vector<uint32_t> own_masks_;  // parallel to words_
  uint32_t word_count_ = 0;
  std::vector<SymbolRelocation> imports_;
  std::vector<SymbolId> reserved_;
  std::vector<uint64_t> bits_;
  std::vector<LayoutRelocation> slots_;
  std::vector<InsertionPoint> insertion_points_;
  std::vector<Flow> flows_;
  std::vector<Conditional> conditionals_;
  std::vector<uint64_t> scratch_bits_;    // of NeedsOf
  std::vector<GlobalId> scratch_needed_;  // of those, not looked into yet
};

}  // namespace kiln::spirv
