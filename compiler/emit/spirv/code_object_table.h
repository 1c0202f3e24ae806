// SPDX-License-Identifier: MIT
// All code objects of one program for one target: what Lower fills and Assemble reads. Specialised
// declarations and regions are known by address, so they must outlive the table; functions by
// their number. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/language_limits.h"
#include "compiler/emit/spirv/code_object_store.h"
#include "compiler/emit/spirv/globals.h"
#include "compiler/emit/spirv/lowering_scratch.h"
#include "compiler/emit/spirv/source_lines.h"
#include "compiler/ir/specialised.h"
#include "compiler/target/target.h"

namespace kiln::spirv {

// One version of a variable: its symbol is the same in all versions of its declaration.
struct VariableVersion {
  GlobalId variable{};
  CodeObjectId object{};
};
// What became of one specialised declaration: variables, or the head of a function.
struct DeclVersion {
  Range<VariableVersion> variables{};
  CodeObjectId head{};
  SymbolId function{};
  Range<SymbolId> parameters{};  // live ones in order
  bool lowered = true;           // false: its declaration was replaced
};

class CodeObjectTable {
 public:
  // `pool` must outlive the table; `target` is copied; `most_bytes` that a module may have.
  CodeObjectTable(const ir::Pool& pool, const target::Target& target,
                  uint32_t most_bytes = LanguageLimits{}.spirv_bytes)
      : pool_(pool),
        target_(target),
        most_words_(most_bytes / sizeof(uint32_t)),
        globals_(pool, target_, store_) {}
  CodeObjectTable(const CodeObjectTable&) = delete;
  CodeObjectTable& operator=(const CodeObjectTable&) = delete;

  const ir::Pool& pool() const { return pool_; }
  const target::Target& target() const { return target_; }
  // A region with more words fits into no module, and is not lowered to its end.
  uint32_t most_words() const { return most_words_; }
  CodeObjectStore& store() { return store_; }
  const CodeObjectStore& store() const { return store_; }
  Globals& globals() { return globals_; }

  // Begins another variant in the memory of the last one: forgets all regions, and declarations
  // that were `replaced` by others at their addresses. Types, constants and the other declarations
  // stay; functions are numbered anew.
  void Forget(std::span<const ir::SpecialisedDecl* const> replaced);

  LoweringScratch& scratch() { return scratch_; }

  // Cleared writers whose memory is used again: one for declarations, one for regions.
  CodeObjectWriter& DeclWriter() { return Cleared(decl_writer_); }
  CodeObjectWriter& RegionWriter() { return Cleared(region_writer_); }

  // For full debug information: asked while regions are lowered. Without it there are names only.
  void UseSources(const SourceLines* lines) { lines_ = lines; }
  const SourceLines* lines() const {
    return target_.debug == target::Debug::kFull ? lines_ : nullptr;
  }

  // --- written by lowering -----------------------------------------------------------------------
  void Bind(const ir::SpecialisedRegion& region, CodeObjectId object) {
    regions_.Insert(&region, object);
  }
  void Bind(const ir::SpecialisedDecl& decl, std::span<const VariableVersion> variables);
  void Bind(const ir::SpecialisedDecl& decl, CodeObjectId head, SymbolId function,
            std::span<const SymbolId> parameters);

  // The least number of words that this version of a function has in a module; zero: its regions
  // were not all lowered. Prepare looks at the regions of the others no more. Valid until the next
  // call.
  uint64_t& PreparedWords(const ir::FunctionRef& function) {
    if (function.number >= prepared_.size()) {
      prepared_.resize(function.number + size_t{1});
    }
    return prepared_[function.number];
  }

  // Goes on with the specialised units of another link of the same declarations: which unit has
  // which code object is forgotten, the code objects stay and name locals and regions by the
  // numbers given here.
  using Renumber = std::function<uint32_t(uint32_t)>;
  void Relink(const Renumber& local, const Renumber& region);

  // Where a declaration's variables live; the same in all its versions.
  struct DeclClass {
    ir::DeclKind kind = ir::DeclKind::kStruct;
    spv::StorageClass storage = spv::StorageClass::Max;  // containers: Max, direction decides
    TypeForm form = TypeForm::kPlain;                    // of what lies inside
    bool writable = false;
    TypeForm whole = TypeForm::kPlain;  // of a buffer itself
  };
  void Classify(ir::DeclId decl, const DeclClass& decl_class);
  // Requires: some version of it was lowered.
  const DeclClass& ClassOf(ir::DeclId decl) const;

  // --- read by assembling ------------------------------------------------------------------------
  // Invalid: not lowered.
  CodeObjectId Find(const ir::SpecialisedRegion* region) const {
    const CodeObjectId* found = regions_.Find(region);
    return found == nullptr ? CodeObjectId{} : *found;
  }
  // Null: not lowered.
  const DeclVersion* Find(const ir::SpecialisedDecl* decl) const {
    const DeclVersion* const found = decls_.Find(decl);
    return found != nullptr && found->lowered ? found : nullptr;
  }
  std::span<const VariableVersion> Variables(const DeclVersion& version) const {
    return std::span(variables_).subspan(version.variables.first, version.variables.count);
  }
  std::span<const SymbolId> Parameters(const DeclVersion& version) const {
    return std::span(parameters_).subspan(version.parameters.first, version.parameters.count);
  }

 private:
  struct AddressHash {
    uint64_t operator()(const void* address) const {
      return Mix64(reinterpret_cast<uintptr_t>(address));
    }
  };

  static CodeObjectWriter& Cleared(CodeObjectWriter& writer) {
    writer.Clear();
    return writer;
  }

  const ir::Pool& pool_;
  target::Target target_;
  const uint32_t most_words_;
  CodeObjectStore store_;
  CodeObjectWriter decl_writer_, region_writer_;
  Globals globals_;
  const SourceLines* lines_ = nullptr;  // owned by the caller
  FlatMap<const ir::SpecialisedRegion*, CodeObjectId, AddressHash> regions_;
  FlatMap<const ir::SpecialisedDecl*, DeclVersion, AddressHash> decls_;
  std::vector<uint64_t> prepared_;  // by number of the function
  std::vector<VariableVersion> variables_;
  std::vector<SymbolId> parameters_;
  std::vector<DeclClass> classes_;  // by DeclId
  LoweringScratch scratch_;
  // What Forget goes back to, if nothing was added since that stays.
  struct Checkpoint {
    size_t count = 0;  // of globals and declarations
    CodeObjectStore::Mark store{};
    size_t variables = 0, parameters = 0;
  };
  Checkpoint kept_;
};

}  // namespace kiln::spirv
