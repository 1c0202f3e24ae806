// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/variant_checks.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/ir/builtins.h"
#include "compiler/layout/rpl_adapter.h"

namespace kiln::wgsl {
namespace {

// Limits of the language itself: WGSL asks a compiler to accept no more parameters of a function
// and members of a struct (spec/wgsl 3.15).
constexpr uint32_t kMaxParameters = 255;
constexpr uint32_t kMaxMembers = 1023;

// What devices need not have more of, by name and in the order of the table.
enum class Limit : uint8_t {
#define KILN_WGSL_LIMIT(name, limit, what) k##name,
#include "compiler/emit/wgsl/limits.def"
};
struct LimitRow {
  uint64_t limit;
  std::string_view what;
};
constexpr LimitRow kLimits[] = {
#define KILN_WGSL_LIMIT(name, limit, what) {limit, what},
#include "compiler/emit/wgsl/limits.def"
};
using Counts = std::array<uint64_t, std::size(kLimits)>;

Location Where(const ir::Origin& origin) {
  return {.module = origin.module, .span_number = origin.span.value};
}

// Bytes of a value in workgroup memory, saturating.
uint64_t BytesOf(const ir::Pool& pool, ir::TypeId type) {
  constexpr uint64_t kMany = uint64_t{1} << 40;
  const ir::Type t = pool[type];
  if (t.kind == ir::TypeKind::kArray) {
    const ir::TypeId item{t.element};
    // Three components take the room of four in an array.
    const bool three = pool[item].kind == ir::TypeKind::kVector && pool[item].rows == 3;
    return std::min(kMany, (three ? 16 : BytesOf(pool, item)) * t.extent);
  }
  if (t.kind == ir::TypeKind::kStruct) {
    uint64_t bytes = 0;
    for (const ir::ShapeMember& member : pool.Members(type)) {
      CheckStop();
      // Each member is rounded up to 16 bytes, which is no less than any alignment: the sum may be
      // too large, never too small.
      bytes = std::min(kMany, bytes + (BytesOf(pool, member.type) + 15) / 16 * 16);
    }
    return bytes;
  }
  const uint64_t scalar = t.scalar == ir::Scalar::kF16 ? 2 : 4;
  // A column counts as four components, which is the most that any takes.
  return scalar * (t.kind == ir::TypeKind::kMatrix ? uint64_t{4} * t.columns : t.rows);
}

// Finds everything that is wrong with a variant for WGSL, in an order that does not depend on how
// it was compiled: functions by entry point, then declarations, then limits.
class Checks {
 public:
  explicit Checks(const CheckInputs& in) : in_(in), pool_(in.table.types().pool()) {}

  std::vector<Diagnostic> Run() {
    Functions();
    Samplers();
    Images();
    for (size_t i = 0; i < in_.needs.size(); ++i) {
      Limits(in_.facts.entries[i], in_.needs[i]);
      Unproven(in_.facts.entries[i]);
    }
    return std::move(found_);
  }

 private:
  uint64_t& Count(Counts& counts, Limit limit) { return counts[static_cast<size_t>(limit)]; }
  std::string Name(ir::StringId name) const { return std::string(pool_.Text(name)); }

  void Functions() {
    for (const LiveEntry& entry : in_.facts.entries) {
      for (const LiveFunction& function : entry.functions) {
        // Findings are kept with the text and are told for each variant that has it.
        const FunctionObject& object = in_.table.ObjectOf(*function.ref, in_.facts.atomics);
        found_.insert(found_.end(), object.findings.begin(), object.findings.end());
        const ir::SpecialisedDecl& signature = *function.ref->signature;
        TooMany("arguments of '" + Name(signature.name) + "'", signature.members.size(),
                kMaxParameters, signature.origin);
      }
    }
    for (const ir::SpecialisedDecl* decl : in_.variant.interface) {
      if (decl->kind == ir::DeclKind::kBuffer || decl->kind == ir::DeclKind::kPushConstant) {
        TooMany("fields of '" + Name(decl->name) + "'", decl->members.size(), kMaxMembers,
                decl->origin);
      }
    }
    for (const ir::SpecialisedDecl* decl : in_.variant.structs) {
      TooMany("fields of '" + Name(decl->name) + "'", decl->members.size(), kMaxMembers,
              decl->origin);
    }
  }

  void TooMany(const std::string& what, size_t count, uint32_t limit, const ir::Origin& where) {
    if (count > limit) {
      found_.push_back(Make(Code::kWgsl8203, Where(where)).With("what", what).With("limit", limit));
    }
  }

  // WGSL has two types of samplers, and a variable has one (spec/wgsl 3.9).
  void Samplers() {
    for (const SamplerFact& sampler : in_.facts.samplers) {
      const ir::SpecialisedDecl& decl = DeclOf(sampler.decl);
      if (sampler.use == SamplerUse::kBoth) {
        // The place of a comparison says more than the declaration; it is not known if a callee
        // compares.
        const Location where = sampler.compares.known() ? sampler.compares : Where(decl.origin);
        found_.push_back(Make(Code::kWgsl8302, where).With("name", Name(decl.name)));
      }
    }
  }

  // Linear; asked for faults only.
  const ir::SpecialisedDecl& DeclOf(ir::DeclId id) const {
    const auto found = std::ranges::find_if(
        in_.variant.interface, [&](const ir::SpecialisedDecl* decl) { return decl->decl == id; });
    KILN_CHECK(found != in_.variant.interface.end(), "declaration {} is not live", id.value);
    return **found;
  }

  bool IsUsed(ir::DeclId decl) const {
    return std::ranges::any_of(
        in_.needs, [&](const ModuleNeeds& needs) { return needs.Find(decl) != nullptr; });
  }

  // Only three formats can be read and written in one shader.
  void Images() {
    for (const ir::SpecialisedDecl* decl : in_.variant.interface) {
      if (decl->kind != ir::DeclKind::kImage || pool_[decl->type].kind != ir::TypeKind::kImage ||
          !IsUsed(decl->decl)) {
        continue;
      }
      const ir::ImageTraits traits = ir::UnpackImage(pool_[decl->type].extent);
      const bool both = traits.format == ir::ImageFormat::kR32Float ||
                        traits.format == ir::ImageFormat::kR32Uint ||
                        traits.format == ir::ImageFormat::kR32Sint;
      if (traits.storage && decl->access() == ir::ImageAccess::kReadWrite && !both) {
        found_.push_back(Make(Code::kWgsl8305, Where(decl->origin))
                             .With("name", Name(decl->name))
                             .With("access", "read_write"));
      }
    }
  }

  void CountResource(const ir::SpecialisedDecl& decl, size_t elements, Counts& counts) {
    if (decl.kind == ir::DeclKind::kSampler) {
      Count(counts, Limit::kSamplers) += 1;
    } else if (decl.kind == ir::DeclKind::kImage) {
      const bool storage = pool_[decl.type].kind == ir::TypeKind::kImage &&
                           ir::UnpackImage(pool_[decl.type].extent).storage;
      Count(counts, storage ? Limit::kStorageTextures : Limit::kSampledTextures) += elements;
    } else if (decl.kind == ir::DeclKind::kWorkgroup) {
      Count(counts, Limit::kWorkgroupBytes) += BytesOf(pool_, decl.type);
    } else if (decl.kind == ir::DeclKind::kPushConstant ||
               decl.buffer() == ir::BufferKind::kUniform) {
      Count(counts, Limit::kUniformBuffers) += 1;
    } else {
      Count(counts, Limit::kStorageBuffers) += 1;
    }
  }

  // A matrix takes a location for each of its columns.
  void CountFields(const ir::SpecialisedDecl& decl, const ModuleNeeds& needs, Counts& counts) {
    for (const ir::SpecialisedMember& member : decl.members) {
      const bool in = needs.Uses(member.member, ir::Direction::kIn);
      const bool out = needs.Uses(member.member, ir::Direction::kOut);
      const Limit limit = decl.container() == ir::ContainerKind::kState ? Limit::kInterStage
                          : decl.container() == ir::ContainerKind::kColorOutput
                              ? Limit::kColorOutputs
                              : Limit::kVertexAttributes;
      if (in || out) {
        Count(counts, limit) += pool_[member.type].columns;
      }
    }
  }

  // Told at the entry point: no single declaration is the one too many.
  void Limits(const LiveEntry& entry, const ModuleNeeds& needs) {
    Counts counts{};
    for (const ir::SpecialisedDecl* decl : in_.variant.interface) {
      if (decl->kind == ir::DeclKind::kContainer) {
        CountFields(*decl, needs, counts);
      } else if (const ModuleNeeds::Elements* used = needs.Find(decl->decl)) {
        CountResource(*decl, used->elements.size(), counts);
      }
    }
    if (entry.ref->stage == ir::Stage::kCompute) {
      const std::array<uint32_t, 3> size = layout::WorkgroupSize(in_.variant);
      Count(counts, Limit::kInvocations) = uint64_t{size[0]} * size[1] * size[2];
    }
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > kLimits[i].limit) {
        found_.push_back(Make(Code::kWgsl8206, Where(entry.functions.back().ref->signature->origin))
                             .With("found", counts[i])
                             .With("what", kLimits[i].what)
                             .With("limit", kLimits[i].limit));
      }
    }
  }

  // A warning: the module is written all the same, with the check turned off.
  void Unproven(const LiveEntry& entry) {
    if (entry.unproven.has_value()) {
      found_.push_back(Make(Code::kWgsl8401, entry.unproven->where)
                           .With("op", ir::FactsOf(entry.unproven->builtin).name)
                           .With("text", "a branch, loop or return before it"));
    }
  }

  const CheckInputs& in_;
  const ir::Pool& pool_;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> CheckVariant(const CheckInputs& inputs) { return Checks(inputs).Run(); }

}  // namespace kiln::wgsl
