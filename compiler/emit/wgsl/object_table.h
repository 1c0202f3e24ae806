// SPDX-License-Identifier: MIT
// Text objects of one program: of regions by address, of functions by number. What is remembered
// never changes what comes out: an object follows from a region and the facts in its key. One
// thread. See spec/wgsl 3.2; spec/architecture 10.4.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/language_limits.h"
#include "compiler/emit/wgsl/decl_names.h"
#include "compiler/emit/wgsl/function_object.h"
#include "compiler/emit/wgsl/lower.h"
#include "compiler/emit/wgsl/region_facts.h"
#include "compiler/emit/wgsl/text_object.h"
#include "compiler/emit/wgsl/types.h"

namespace kiln::wgsl {

// One region: what it says, and its text for each set of facts that it was lowered with.
struct RegionObject {
  RegionFacts facts;
  bool is_body = true;
  std::deque<std::pair<std::vector<AtomicDecl>, TextObject>> texts;  // stable addresses
};

class ObjectTable {
 public:
  // `pool` must outlive it; `most_bytes` that a module may have.
  explicit ObjectTable(const ir::Pool& pool, uint32_t most_bytes = LanguageLimits{}.spirv_bytes)
      : types_(pool), most_bytes_(most_bytes) {}
  ObjectTable(const ObjectTable&) = delete;
  ObjectTable& operator=(const ObjectTable&) = delete;

  uint32_t most_bytes() const { return most_bytes_; }
  Types& types() { return types_; }
  const DeclNames& names() const { return names_; }

  // Adds what is new of a variant; no region that is there or that Bind has named is looked at.
  void Prepare(const ir::SpecialisedProgram& variant);
  void AddDecl(const ir::SpecialisedDecl& decl) { names_.Add(types_.pool(), decl); }

  // For callers that know which regions are equal.
  bool Has(const ir::SpecialisedRegion& region) const { return regions_.Contains(&region); }
  RegionObject& AddRegion(const ir::SpecialisedRegion& region, bool is_body = true);
  void Bind(const ir::SpecialisedRegion& region, RegionObject& object) {
    regions_.Insert(&region, &object);
  }

  // Valid as long as the table. Requires: the variant was prepared.
  const FunctionFacts& FactsOf(const ir::FunctionRef& function);
  // The least number of bytes that the function has in a module, as long as that has room for them.
  // `atomics`: of the variant.
  uint64_t LeastBytes(const ir::FunctionRef& function, std::span<const AtomicDecl> atomics);
  // Requires: a module has room for it.
  const FunctionObject& ObjectOf(const ir::FunctionRef& function,
                                 std::span<const AtomicDecl> atomics);

  size_t bytes_used() const { return bytes_used_; }
  size_t texts_made() const { return texts_made_; }

 private:
  struct AddressHash {
    uint64_t operator()(const void* address) const {
      return Mix64(reinterpret_cast<uintptr_t>(address));
    }
  };
  struct Function {
    FunctionFacts facts;
    std::deque<std::pair<std::vector<AtomicDecl>, FunctionObject>> objects;
  };

  const TextObject& TextOf(const ir::SpecialisedRegion& region,
                           std::span<const AtomicDecl> atomics);
  std::vector<const RegionFacts*> RegionsOf(const ir::FunctionRef& function) const;

  Types types_;
  const uint32_t most_bytes_;
  DeclNames names_;
  std::deque<RegionObject> objects_;
  FlatMap<const ir::SpecialisedRegion*, RegionObject*, AddressHash> regions_;
  std::vector<std::unique_ptr<Function>> functions_;  // by number
  size_t bytes_used_ = 0;
  size_t texts_made_ = 0;
};

}  // namespace kiln::wgsl
