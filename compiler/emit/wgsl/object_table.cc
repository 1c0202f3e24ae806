// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/object_table.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/typed/typed_checks.h"

namespace kiln::wgsl {
namespace {

// The facts among `atomics` that touch what is mentioned.
template <class Mentions>
std::vector<AtomicDecl> Touching(std::span<const AtomicDecl> atomics, const Mentions& mentions) {
  std::vector<AtomicDecl> touching;
  // Mentions are plain ids of a function or rows of a region.
  for (const AtomicDecl& atomic : atomics) {
    if (std::ranges::any_of(mentions, [&](const auto& row) {
          if constexpr (requires { row.decl; }) {
            return row.decl == atomic.decl;
          } else {
            return row == atomic.decl;
          }
        })) {
      touching.push_back(atomic);
    }
  }
  return touching;
}

}  // namespace

// Objects lie in a list that does not move them, since the map holds pointers.
RegionObject& ObjectTable::AddRegion(const ir::SpecialisedRegion& region, bool is_body) {
  RegionObject& object = objects_.emplace_back();
  object.is_body = is_body;
  object.facts = wgsl::FactsOf(region, types_);
  regions_.Insert(&region, &object);
  return object;
}

// The facts of all regions come before any text, because text depends on the facts of other
// functions: an atomic anywhere makes loads of that memory atomic everywhere.
void ObjectTable::Prepare(const ir::SpecialisedProgram& variant) {
  types_.typed = names_.typed = IsTyped(variant);
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    AddDecl(*decl);
  }
  for (const ir::EntryRef& entry : variant.entries) {
    for (const ir::FunctionRef* function : entry.functions) {
      for (const ir::RegionRef& ref : function->regions) {
        CheckStop();
        // Regions are shared by versions and entry points, and each is looked at once.
        if (!Has(*ref.specialised)) {
          AddRegion(*ref.specialised, &ref == &function->regions.front());
        }
      }
    }
  }
}

std::vector<const RegionFacts*> ObjectTable::RegionsOf(const ir::FunctionRef& function) const {
  // In the order of the function's regions, which the makers of text rely on.
  std::vector<const RegionFacts*> regions;
  regions.reserve(function.regions.size());
  for (const ir::RegionRef& ref : function.regions) {
    RegionObject* const* object = regions_.Find(ref.specialised);
    KILN_CHECK(object != nullptr, "a region was not prepared");
    regions.push_back(&(*object)->facts);
  }
  return regions;
}

// A number is a version of a function, so its facts are found once, whatever variant asks.
const FunctionFacts& ObjectTable::FactsOf(const ir::FunctionRef& function) {
  if (function.number >= functions_.size()) {
    functions_.resize(function.number + size_t{1});
  }
  // Kept behind a pointer, because the list grows while facts are in use.
  std::unique_ptr<Function>& known = functions_[function.number];
  if (known == nullptr) {
    auto made = std::make_unique<Function>();
    made->facts = wgsl::FactsOf(function, RegionsOf(function));
    known = std::move(made);
  }
  return known->facts;
}

// The text of a region depends on nothing outside of it but what is atomic in the declarations it
// mentions. That is the key; most regions have one text, so it is searched and not hashed.
const TextObject& ObjectTable::TextOf(const ir::SpecialisedRegion& region,
                                      std::span<const AtomicDecl> atomics) {
  RegionObject& object = **regions_.Find(&region);
  std::vector<AtomicDecl> key = Touching(atomics, region.mentions);
  for (const auto& [facts, text] : object.texts) {
    if (facts == key) {
      return text;
    }
  }
  CheckStop();
  const LoweringInputs inputs{.names = names_,
                              .types = types_,
                              .atomics = key,
                              .is_body = object.is_body,
                              .most_bytes = most_bytes_};
  TextObject text = Lower(region, inputs);
  ChargeMemory(text.code.text.size() + text.code.marks.size() * sizeof(Relocation));
  // Counted for statistics and for the memory that a table may take.
  ++texts_made_;
  bytes_used_ += text.code.text.size() + text.code.marks.size() * sizeof(Relocation);
  return object.texts.emplace_back(std::move(key), std::move(text)).second;
}

// Counted while regions are lowered: few lines of source may ask for gigabytes of text.
uint64_t ObjectTable::LeastBytes(const ir::FunctionRef& function,
                                 std::span<const AtomicDecl> atomics) {
  const std::vector<AtomicDecl> key = Touching(atomics, FactsOf(function).mentions);
  uint64_t bytes = 0;
  for (const ir::RegionRef& ref : function.regions) {
    bytes += TextOf(*ref.specialised, key).bytes;
    if (bytes > most_bytes_) {
      break;
    }
  }
  return bytes;
}

const FunctionObject& ObjectTable::ObjectOf(const ir::FunctionRef& function,
                                            std::span<const AtomicDecl> atomics) {
  const FunctionFacts& facts = FactsOf(function);
  // FactsOf made sure that the row is there.
  Function& known = *functions_[function.number];
  std::vector<AtomicDecl> key = Touching(atomics, facts.mentions);
  for (const auto& [with, object] : known.objects) {
    if (with == key) {
      return object;
    }
  }
  std::vector<const TextObject*> texts;
  texts.reserve(function.regions.size());
  for (const ir::RegionRef& ref : function.regions) {
    // A region mentions no more than its function does, so the key of the function holds all that
    // its regions ask about.
    texts.push_back(&TextOf(*ref.specialised, key));
  }
  FunctionObject made = MakeFunction(function, texts, RegionsOf(function), types_);
  ChargeMemory(made.body.text.size() + made.body.marks.size() * sizeof(Relocation));
  bytes_used_ += made.body.text.size() + made.body.marks.size() * sizeof(Relocation);
  return known.objects.emplace_back(std::move(key), std::move(made)).second;
}

}  // namespace kiln::wgsl
