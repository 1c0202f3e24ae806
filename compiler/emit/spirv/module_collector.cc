// SPDX-License-Identifier: MIT
// Every function knows, as bits, which globals it needs with all that those need, so what an entry
// reaches is a union. Variables are looked at last, one by one in canonical order: which version of
// them is live depends on the variant's declarations, and their numbers on its layout. Along the
// way everything that decides the words goes into the key.
#include "compiler/emit/spirv/module_collector.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/layout_numbers.h"

namespace kiln::spirv {
namespace {

constexpr uint32_t kEntryPointWords =
    3;                                 // before its name: the first word, the model, the function
constexpr uint32_t kFunctionTail = 2;  // OpReturn or OpUnreachable, OpFunctionEnd

}  // namespace

void ModuleCollector::Collect(const ir::SpecialisedProgram& variant, EntryChoice choice,
                              const layout::Layout& layout) {
  module_.key.clear();
  module_.functions.clear();
  // Everything of the last module goes, but no memory does.
  module_.entry_count = 0;
  module_.needs = target::BitOf(target::Need::kShader);
  module_.word_bound = 0;
  module_.width = {};
  module_.has_flows = false;
  // Bits for all globals of the store, whether this variant has them or not: so all sets have one
  // size and uniting them is a loop over words.
  module_.live.assign((store_.global_count() + 63) / 64, 0);
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
  // Variables come last, because the union of functions says which are live; and they are taken in
  // canonical order, so that the key has them in one order too.
  for (uint32_t i = 0; i < module_.entry_count; ++i) {
    CollectVariables(module_.entries[i], layout);
    // The size of a workgroup is written into the module but belongs to no function, so it must be
    // in the key.
    if (module_.entries[i].ref->stage == ir::Stage::kCompute) {
      for (const std::string_view axis : kWorkgroupSizes) {
        module_.key.push_back(WorkgroupSize(variant, axis));
      }
    }
  }
}

void ModuleCollector::CollectEntry(const ir::EntryRef& ref) {
  if (module_.entry_count == module_.entries.size()) {
    module_.entries.emplace_back();
  }
  LiveEntry& entry = module_.entries[module_.entry_count++];
  entry.ref = &ref;
  entry.first_function = static_cast<uint32_t>(module_.functions.size());
  entry.live.assign(module_.live.size(), 0);
  module_.key.push_back(static_cast<uint32_t>(ref.functions.size()));
  for (const ir::FunctionRef* function : ref.functions) {
    const FunctionImage& image = images_.Use(*function);
    module_.key.push_back(function->number);
    // A combined module has a function once, though two entries reach it. The later entry still
    // needs its globals, for its interface.
    if (module_.entry_count > 1 && IsShared(image)) {
      Unite(image.globals, entry.live);
    } else {
      AddFunction(image, entry.live);
    }
  }
  entry.function_count = static_cast<uint32_t>(module_.functions.size()) - entry.first_function;
}

// A function that depends on its stage has a version for each; others are written once.
bool ModuleCollector::IsShared(const FunctionImage& image) const {
  return !image.ref->stage_sensitive &&
         std::ranges::any_of(module_.functions, [&](const LiveFunction& known) {
           return known.image->version.function == image.version.function;
         });
}

void ModuleCollector::AddFunction(const FunctionImage& image, GlobalBits& live) {
  module_.functions.push_back({.image = &image});
  module_.word_bound += image.word_count + kFunctionTail;
  Unite(image.globals, live);
  module_.needs |= image.needs;
  module_.has_flows |= image.has_flows;
}

// What the fragment stage reads must be declared by the vertex stage, written or not.
void ModuleCollector::DeclareVaryings(const ir::SpecialisedProgram& variant) {
  const auto is = [](ir::Stage stage) {
    return [stage](const ir::EntryRef& ref) { return ref.stage == stage; };
  };
  const auto fragment = std::ranges::find_if(variant.entries, is(ir::Stage::kFragment));
  if (fragment == variant.entries.end()) {
    return;
  }
  for (uint32_t i = 0; i < module_.entry_count; ++i) {
    if (module_.entries[i].ref->stage != ir::Stage::kVertex) {
      continue;
    }
    // What the fragment entry reaches is computed anew, as it need not be an entry of this module:
    // by default each entry has a module of its own (spec/rpl 11.1).
    scratch_.assign(module_.live.size(), 0);
    for (const ir::FunctionRef* function : fragment->functions) {
      Unite(images_.Of(*function).globals, scratch_);
    }
    for (const CodeObjectStore::Varying& varying : store_.varyings()) {
      if (Test(scratch_, varying.in)) {
        Set(module_.entries[i].live, varying.out);
      }
    }
  }
}

// Which version of its variables each declaration has in this variant. Most variants in a row have
// the same interface.
void ModuleCollector::BindInterface(const ir::SpecialisedProgram& variant) {
  // Comparing the list of declarations, which are pointers, is cheaper than looking each up.
  if (module_.versions.size() == store_.global_count() && interface_ == variant.interface) {
    return;
  }
  module_.versions.assign(store_.global_count(), CodeObjectId{});
  interface_ = variant.interface;
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    const DeclVersion* version = table_.Find(decl);
    KILN_CHECK(version != nullptr, "declaration {} was not lowered", decl->decl);
    for (const VariableVersion& variable : table_.Variables(*version)) {
      module_.versions[variable.variable.value] = variable.object;
    }
  }
}

// Numbers of the layout are written into the words of a variable, so they decide the module as
// well.
void ModuleCollector::AddToKey(const CodeObject& variable, const layout::Layout& layout) {
  for (const LayoutRelocation& slot : store_.Slots(variable)) {
    module_.key.push_back(NumberOf(slot, layout));
  }
}

// Adds what the variables of an entry need, and the entry to the module.
void ModuleCollector::CollectVariables(LiveEntry& entry, const layout::Layout& layout) {
  // From SPIR-V 1.4 on an entry point lists all of its variables, before only what it passes on.
  const bool all = table_.target().spirv_version >= target::SpirvVersion(1, 4);
  uint32_t listed = 0;
  for (const CodeObjectStore::OrderedGlobal& row :
       store_.order().subspan(store_.first_variable())) {
    if (Test(entry.live, row.global)) {
      // A variable that all variants share brings its words along; of the others this variant has
      // one version.
      const CodeObjectId object =
          row.object.valid() ? row.object : module_.versions[row.global.value];
      KILN_CHECK(object.valid(), "a mentioned variable is not live");
      // What the type of the variable needs. New bits lie before the variables in the canonical
      // order, never ahead of this loop.
      Unite(store_.Globals(store_[object]), entry.live);
      module_.key.push_back(object.value);
      AddToKey(store_[object], layout);
      const spv::StorageClass storage = store_.StorageOf(row.global);
      const bool varies =
          storage == spv::StorageClass::Input || storage == spv::StorageClass::Output;
      listed += all || varies ? 1 : 0;
      // A combined module has a variable once, whichever entries reach it.
      module_.width.variables += Test(module_.live, row.global) ? 0 : 1;
    }
  }
  const auto name_words = static_cast<uint32_t>(entry.ref->name.size() / 4 + 1);
  module_.width.entry_words =
      std::max(module_.width.entry_words, kEntryPointWords + name_words + listed);
  for (size_t i = 0; i < module_.live.size(); ++i) {
    module_.live[i] |= entry.live[i];
  }
}

void ModuleCollector::Forget() {
  images_.Forget();
  interface_.clear();
  module_.versions.clear();
}

}  // namespace kiln::spirv
