// SPDX-License-Identifier: MIT
// First two steps of assembling: what is live, and which number it has.
#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/assemble.h"

namespace kiln::spirv {

void Assembler::Unite(std::span<const uint64_t> more, Bits& bits) const {
  for (size_t i = 0; i < more.size(); ++i) {
    bits[i] |= more[i];
  }
}

void Assembler::Collect(const ir::ClosedVariant& variant, EntryChoice choice,
                        const layout::Layout& layout) {
  key_.clear();
  functions_.clear();
  entry_count_ = 0;
  needs_ = target::BitOf(target::Need::kShader);
  word_bound_ = 0;
  has_flows_ = false;
  numbers_.resize(store_.symbol_count());
  live_.assign((store_.global_count() + 63) / 64, 0);
  BindInterface(variant);
  if (choice.combined) {
    for (const ir::EntryRef& ref : variant.entries) {
      CollectEntry(ref);
    }
  } else {
    KILN_CHECK(choice.index < variant.entries.size(), "entry {}", choice.index);
    CollectEntry(variant.entries[choice.index]);
  }
  DeclareVaryings(variant);
  for (uint32_t i = 0; i < entry_count_; ++i) {
    CollectVariables(entries_[i], layout);
    if (entries_[i].ref->stage == ir::Stage::kCompute) {
      for (const std::string_view axis : kWorkgroupSizes) {
        key_.push_back(WorkgroupSize(variant, axis));
      }
    }
  }
}

void Assembler::CollectEntry(const ir::EntryRef& ref) {
  if (entry_count_ == entries_.size()) {
    entries_.emplace_back();
  }
  Entry& entry = entries_[entry_count_++];
  entry.ref = &ref;
  entry.first_function = static_cast<uint32_t>(functions_.size());
  entry.live.assign(live_.size(), 0);
  key_.push_back(static_cast<uint32_t>(ref.functions.size()));
  for (const ir::FunctionRef* function : ref.functions) {
    const FunctionImage& image = images_.Use(*function);
    key_.push_back(image.number);
    if (entry_count_ > 1 && IsShared(image)) {
      Unite(image.globals, entry.live);
    } else {
      AddFunction(image, entry.live);
    }
  }
  entry.function_count = static_cast<uint32_t>(functions_.size()) - entry.first_function;
}

// A function that depends on its stage has a version for each; others are written once.
bool Assembler::IsShared(const FunctionImage& image) const {
  return !image.ref->stage_sensitive && std::ranges::any_of(functions_, [&](const Function& known) {
    return known.image->version.function == image.version.function;
  });
}

void Assembler::AddFunction(const FunctionImage& image, Bits& live) {
  functions_.push_back({.image = &image});
  word_bound_ += image.word_count + kFunctionTail;
  Unite(image.globals, live);
  needs_ |= image.needs;
  has_flows_ |= image.has_flows;
}

// What the fragment stage reads must be declared by the vertex stage, written or not.
void Assembler::DeclareVaryings(const ir::ClosedVariant& variant) {
  const auto is = [](ir::Stage stage) {
    return [stage](const ir::EntryRef& ref) { return ref.stage == stage; };
  };
  const auto fragment = std::ranges::find_if(variant.entries, is(ir::Stage::kFragment));
  if (fragment == variant.entries.end()) {
    return;
  }
  for (uint32_t i = 0; i < entry_count_; ++i) {
    if (entries_[i].ref->stage != ir::Stage::kVertex) {
      continue;
    }
    scratch_.assign(live_.size(), 0);
    for (const ir::FunctionRef* function : fragment->functions) {
      Unite(images_.Of(*function).globals, scratch_);
    }
    for (const PieceStore::Varying& varying : store_.varyings()) {
      if (Test(scratch_, varying.in)) {
        Set(entries_[i].live, varying.out);
      }
    }
  }
}

// Which version of its variables each declaration has in this variant. Most variants in a row have
// the same interface.
void Assembler::BindInterface(const ir::ClosedVariant& variant) {
  if (versions_.size() == store_.global_count() && interface_ == variant.interface) {
    return;
  }
  versions_.assign(store_.global_count(), PieceId{});
  interface_ = variant.interface;
  for (const ir::ClosedDecl* decl : variant.interface) {
    const DeclVersion* version = table_.Find(decl);
    KILN_CHECK(version != nullptr, "declaration {} was not lowered", decl->decl);
    for (const VariableVersion& variable : table_.Variables(*version)) {
      versions_[variable.variable.value] = variable.piece;
    }
  }
}

void Assembler::AddToKey(const Piece& variable, const layout::Layout& layout) {
  for (const Slot& slot : store_.Slots(variable)) {
    key_.push_back(NumberOf(slot, layout));
  }
}

// Adds what the variables of an entry need, and the entry to the module.
void Assembler::CollectVariables(Entry& entry, const layout::Layout& layout) {
  for (const PieceStore::Ordered& row : store_.order().subspan(store_.first_variable())) {
    if (Test(entry.live, row.global)) {
      const PieceId piece = PieceOf(row);
      KILN_CHECK(piece.valid(), "a mentioned variable is not live");
      Unite(store_.Globals(store_[piece]), entry.live);
      key_.push_back(piece.value);
      AddToKey(store_[piece], layout);
    }
  }
  for (size_t i = 0; i < live_.size(); ++i) {
    live_[i] |= entry.live[i];
  }
}

void Assembler::Number() {
  const std::span<const PieceStore::Ordered> order = store_.order();
  if (runs_.size() < 3 * order.size()) {
    runs_.resize(3 * order.size());
  }
  Run* const globals = runs_.data();
  Run* const named = globals + order.size();
  Run* const decorated = named + order.size();
  Run* next = globals;
  Run* next_named = named;
  Run* next_decorated = decorated;
  uint32_t* const numbers = numbers_.data();
  const uint64_t* const live = live_.data();
  uint32_t id = 1;
  first_declaration_ = 0;
  for (const PieceStore::Ordered& row : order) {
    if ((live[row.global.value / 64] >> (row.global.value % 64) & 1u) == 0) {
      continue;
    }
    const Piece& piece = store_[PieceOf(row)];
    const Run run{&piece, id};
    first_declaration_ += row.is_import ? 1 : 0;
    numbers[row.symbol.value] = id++;
    *next++ = run;
    *next_named = run;
    next_named += piece.part(Part::kDebug).words.empty() ? 0 : 1;
    *next_decorated = run;
    next_decorated += piece.part(Part::kAnnotations).words.empty() ? 0 : 1;
    word_bound_ += piece.word_count;
    needs_ |= piece.needs;
  }
  next_id_ = id;
  globals_ = {globals, next};
  named_ = {named, next_named};
  decorated_ = {decorated, next_decorated};
  for (Function& function : functions_) {
    function.base = next_id_;
    next_id_ += function.image->own_ids;
  }
  for (uint32_t i = 0; i < entry_count_; ++i) {
    KILN_CHECK(entries_[i].function_count > 0, "an entry function serves one entry");
    entries_[i].main = functions_[entries_[i].first_function].base;
  }
}

// --- non-uniform images --------------------------------------------------------------------------

bool Assembler::PropagateFrom(const Piece& piece) {
  bool changed = false;
  for (const Flow& flow : store_.Flows(piece)) {
    if (flow.source.valid() && non_uniform_[flow.source.value] == 0) {
      continue;
    }
    for (const Function& function : functions_) {
      const DeclVersion& version = function.image->version;
      if (version.function == flow.callee) {
        uint8_t& flag = non_uniform_[table_.Parameters(version)[flow.argument].value];
        changed |= flag == 0;
        flag = 1;
      }
    }
  }
  return changed;
}

// Parameters that are non-uniform for some caller. Few functions hand images on, and chains of them
// are short, so this repeats until nothing changes.
void Assembler::PropagateNonUniform() {
  non_uniform_.assign(numbers_.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Function& function : functions_) {
      for (const PieceId run : function.image->runs) {
        changed |= PropagateFrom(store_[run]);
      }
    }
  }
}

}  // namespace kiln::spirv
