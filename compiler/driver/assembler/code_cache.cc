// SPDX-License-Identifier: MIT
#include "compiler/driver/assembler/code_cache.h"

#include "compiler/base/check.h"
#include "compiler/base/hash/checksum.h"
#include "compiler/emit/spirv/lower.h"
#include "compiler/emit/spirv/lower_decl.h"
#include "compiler/emit/spirv/prepare_functions.h"

namespace kiln::driver {
namespace {

// What was lowered for earlier programs is never given up, so now and then one begins anew.
constexpr uint32_t kMaxServed = 64;

}  // namespace

CodeCache::CodeCache(const resolve::Program& program, const target::Target& target)
    : shapes_(ShapesOf(program)),
      numbers_(program),
      content_(numbers_),
      types_(pool_),
      table_(pool_, target, program.limits().spirv_bytes) {}

// What must be equal for lowered code to be right for another program: kinds, flags, names and the
// numbers of members, in order. Types are not among it, because code objects name types by content.
std::vector<CodeCache::DeclShape> CodeCache::ShapesOf(const resolve::Program& program) {
  std::vector<DeclShape> shapes;
  shapes.reserve(program.decl_count());
  for (uint32_t i = 0; i < program.decl_count(); ++i) {
    const ir::DeclId id{i};
    const ir::Decl& decl = program.Get(id);
    shapes.push_back({.kind = decl.kind,
                      .flags = decl.flags,
                      .first_member = program.FirstMember(id).value,
                      .member_count = decl.member_count,
                      .name = std::string(program.Text(program.NameOf(id)))});
  }
  return shapes;
}

// Lowered code names declarations by number. Sources with the same declarations in the same order
// give them the same numbers, whatever stands in the bodies, so the code of the old ones is right
// for the new.
bool CodeCache::CanServe(const resolve::Program& next) const {
  // Lines are part of the words with full debug information, and of no content id.
  // Text objects of WGSL are known by the regions of one link.
  // What does not fit into a module of the one was lowered to the end for no other.
  return served_ < kMaxServed && next.limits().spirv_bytes / 4 == table_.most_words() &&
         table_.target().form == target::Form::kSpirv &&
         table_.target().debug != target::Debug::kFull && next.decl_count() == shapes_.size() &&
         ShapesOf(next) == shapes_;
}

// Locals and regions are numbered through the whole program and shift with every edit. Each of the
// old ones that exists in the new program by its function and place gets its new number, and those
// that do not are given numbers that nobody has.
void CodeCache::Serve(const resolve::Program& next) {
  FunctionNumbers numbers(next);
  table_.Relink(
      [&](uint32_t local) {
        return retired_locals_.Renumber(local, numbers_.locals, numbers.locals);
      },
      [&](uint32_t region) {
        return retired_regions_.Renumber(region, numbers_.regions, numbers.regions);
      });
  numbers_ = std::move(numbers);
  // Keys are addresses of units of the old program. What is kept is found by content: code objects
  // and digests of modules.
  contents_.Clear();
  functions_.clear();
  lowered_.clear();
  modules_.Serve();
  ++served_;
}

void CodeCache::PrepareInterface(std::span<const ir::SpecialisedDecl* const> interface) {
  for (const ir::SpecialisedDecl* decl : interface) {
    PrepareDecl(*decl);
  }
}

void CodeCache::PrepareDecl(const ir::SpecialisedDecl& decl) {
  if (table_.Find(&decl) == nullptr) {
    spirv::LowerDecl(decl, table_);
  }
}

std::vector<uint32_t> CodeCache::PrepareFunctions(const ir::SpecialisedProgram& variant) {
  return spirv::PrepareFunctions(
      variant, table_, [this](const ir::SpecialisedDecl& decl) { PrepareDecl(decl); },
      [this](const ir::SpecialisedRegion& region) { PrepareRegion(region); });
}

// The content of a region is computed once for its address. Equal content means equal words,
// whatever program or variant it came from, so its code object is bound and nothing is lowered.
void CodeCache::PrepareRegion(const ir::SpecialisedRegion& region) {
  if (contents_.Contains(&region)) {
    return;
  }
  Hash128 content = content_.Of(region);
  if (table_.lines() != nullptr) {  // the words tell where it stands
    Hasher hasher;
    hasher.Update(std::as_bytes(std::span(content.bytes)));
    hasher.Update(std::as_bytes(std::span(region.spans)));
    hasher.Update(std::as_bytes(std::span(&region.module, 1)));
    content = hasher.Finish().id;
  }
  contents_.Insert(&region, content);
  const spirv::CodeObjectId* known = objects_.Find(content);
  if (known != nullptr) {
    table_.Bind(region, *known);
    return;
  }
  const spirv::CodeObjectId object = spirv::Lower(region, table_.target(), table_);
  table_.Bind(region, object);
  objects_.Insert(content, object);
  lowered_.push_back(shapes_[region.function.value].name);
}

const Hash128& CodeCache::ContentOf(const ir::FunctionRef& function) {
  if (function.number >= functions_.size()) {
    functions_.resize(function.number + size_t{1});
  }
  std::optional<Hash128>& known = functions_[function.number];
  if (!known.has_value()) {
    std::vector<Hash128> regions;
    for (const ir::RegionRef& ref : function.regions) {
      const Hash128* content = contents_.Find(ref.specialised);
      KILN_CHECK(content != nullptr, "a region was not prepared");
      regions.push_back(*content);
    }
    known = content_.Of(function, regions);
  }
  return *known;
}

void CodeCache::AddFunctions(const ir::EntryRef& entry) {
  Hash128 stage;  // between the lists
  stage.bytes[0] = static_cast<uint8_t>(entry.stage);
  ids_.push_back(stage);
  for (const ir::FunctionRef* function : entry.functions) {
    ids_.push_back(ContentOf(*function));
  }
}

// All that a module depends on, in a fixed order. The vertex stage declares the outputs that the
// fragment stage reads, so its module depends on both.
Hash128 CodeCache::ModuleId(const ir::SpecialisedProgram& variant, spirv::EntryChoice choice,
                            const Hash128& interface) {
  ids_.assign(1, interface);
  for (uint32_t i = 0; i < variant.entries.size(); ++i) {
    const ir::EntryRef& entry = variant.entries[i];
    // What the fragment stage reads is declared by the vertex stage.
    const bool declares = entry.stage == ir::Stage::kFragment &&
                          variant.entries[choice.index].stage == ir::Stage::kVertex;
    if (choice.combined || i == choice.index || declares) {
      AddFunctions(entry);
    }
  }
  // A hash with a key of this process: these ids never leave it (ProcessHash), so it may be a fast
  // one.
  return ProcessHash(std::as_bytes(std::span(ids_)));
}

size_t CodeCache::bytes_used() const {
  return table_.store().bytes_used() + shapes_.size() * sizeof(DeclShape) +
         objects_.size() * (2 * sizeof(Hash128) + sizeof(spirv::CodeObjectId)) +
         modules_.bytes_used();
}

}  // namespace kiln::driver
