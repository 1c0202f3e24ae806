// SPDX-License-Identifier: MIT
#include "compiler/driver/wgsl_code.h"

#include <span>

#include "compiler/base/check.h"
#include "compiler/emit/metadata/wgsl_record.h"
#include "compiler/emit/wgsl/typed/typed_checks.h"

namespace kiln::driver {
namespace {

// The hash chooses a place; keys are compared.
uint64_t HashOf(const std::vector<uint32_t>& key) {
  uint64_t hash = key.size();
  for (const uint32_t part : key) {
    hash = Mix64(hash ^ part);
  }
  return hash;
}

// The record of spec/wgsl 3.15 as bytes.
Bytes Encoded(const wgsl::VariantDescription& description) {
  metadata::WgslRecord record;
  for (const wgsl::EntryRow& entry : description.entries) {
    record.entries.push_back({entry.stage, entry.name});
  }
  for (const wgsl::NameRow& name : description.names) {
    record.names.push_back({name.name, name.source});
  }
  for (const wgsl::BindingRow& row : description.bindings) {
    // In the order of the description, which is that of the declarations.
    record.bindings.push_back(
        {row.source, row.element, row.group, row.binding, row.kind, row.type});
  }
  record.features.assign(description.features.begin(), description.features.end());
  record.derivative_uniformity_off = description.derivative_uniformity_off;
  return metadata::EncodeWgsl(record);
}

}  // namespace

// Variants that agree in their key have one result, so most of thousands of variants cost a
// look-up.
const WgslVariant& WgslCode::Build(const ir::SpecialisedProgram& variant,
                                   const layout::Layout& layout, bool combined,
                                   std::optional<uint32_t> interface) {
  // Everything that the variant as a whole depends on: its interface, and which versions of which
  // functions each entry point has.
  Key key{interface.value_or(0)};
  for (const ir::EntryRef& entry : variant.entries) {
    key.push_back(static_cast<uint32_t>(entry.functions.size()));
    for (const ir::FunctionRef* function : entry.functions) {
      key.push_back(function->number);
    }
  }
  const uint32_t row = variant_index_.FindOrAdd(
      HashOf(key), [&](uint32_t i) { return variants_[i].key == key; },
      [&] {
        // What throws leaves no row: the index adds it when this has returned.
        WgslVariant made;
        Make(variant, layout, combined, interface.value_or(0), made);
        variants_.push_back({.key = key, .variant = std::move(made)});
        return static_cast<uint32_t>(variants_.size() - 1);
      });
  return variants_[row].variant;
}

// What decides the text of a module besides the program: its functions, what the next stage reads,
// and what the functions of all stages say about samplers and memory.
WgslCode::Key WgslCode::ModuleKey(std::optional<uint32_t> entry, uint32_t interface) const {
  const wgsl::VariantFacts& facts = assembler_.facts();
  Key key{interface, entry.value_or(ir::kNoRow)};
  for (uint32_t i = 0; i < facts.entries.size(); ++i) {
    const bool own = !entry.has_value() || *entry == i;
    if (own) {
      for (const wgsl::LiveFunction& function : facts.entries[i].functions) {
        key.push_back(function.ref->number);
      }
    } else {
      // Of other stages only their inputs count: a vertex entry point hands over what the fragment
      // stage reads.
      for (const ir::MemberId member : assembler_.needs()[i].inputs) {
        key.push_back(member.value);
      }
    }
    // Lists are closed by a number that no item has, so that two keys cannot be equal by accident.
    key.push_back(ir::kNoRow);
  }
  for (const wgsl::SamplerFact& sampler : facts.samplers) {
    key.push_back(sampler.decl.value);
    key.push_back(static_cast<uint32_t>(sampler.use));
  }
  for (const wgsl::AtomicDecl& atomic : facts.atomics) {
    key.push_back(atomic.decl.value);
    key.insert(key.end(), atomic.leaves.begin(), atomic.leaves.end());
    key.push_back(ir::kNoRow);
  }
  return key;
}

// Two indices: variants by what decides them, and texts by what decides these, since variants
// share texts. A text is only written if no variant before had it.
void WgslCode::Make(const ir::SpecialisedProgram& variant, const layout::Layout& layout,
                    bool combined, uint32_t interface, WgslVariant& made) {
  if (wgsl::IsTyped(variant)) {
    made.diagnostics = wgsl::CheckTyped(variant);
    if (!made.diagnostics.empty()) {
      made.ok = false;
      return;
    }
  }
  table_.Prepare(variant);
  made.diagnostics = assembler_.Begin(variant, layout);
  made.oversized.assign(assembler_.oversized().begin(), assembler_.oversized().end());
  made.ok = !HasErrors(made.diagnostics) && made.oversized.empty();
  if (!made.ok || variant.entries.empty()) {
    return;
  }
  made.metadata = Encoded(assembler_.Description());
  const auto count = static_cast<uint32_t>(combined ? 1 : variant.entries.size());
  for (uint32_t i = 0; i < count; ++i) {
    // One module for all entry points if the target asks for that (spec/wgsl 1.1).
    const std::optional<uint32_t> entry = combined ? std::nullopt : std::optional(i);
    Key key = ModuleKey(entry, interface);
    made.modules.push_back(module_index_.FindOrAdd(
        HashOf(key), [&](uint32_t known) { return module_keys_[known] == key; },
        [&] {
          texts_.push_back(assembler_.Write(entry));
          text_bytes_ += texts_.back().size();
          module_keys_.push_back(key);
          return static_cast<uint32_t>(texts_.size() - 1);
        }));
  }
}

}  // namespace kiln::driver
