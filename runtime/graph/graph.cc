// SPDX-License-Identifier: MIT
#include "runtime/graph/graph.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "runtime/graph/complete_access.h"
#include "runtime/graph/formats.h"
#include "runtime/graph/short_name.h"

namespace kiln::graph {
namespace {

constexpr uint32_t kSerialBits = 23;
constexpr uint32_t kSerialMask = (1U << kSerialBits) - 1;
constexpr size_t kMaxErrors = 32;

bool SameDescription(const ChainRow& a, const ChainRow& b) {
  return a.kind == b.kind && a.size == b.size && a.type == b.type && a.format == b.format &&
         a.extent.width == b.extent.width && a.extent.height == b.extent.height &&
         a.extent.depth == b.extent.depth && a.mips == b.mips && a.layers == b.layers &&
         a.samples == b.samples && a.flags == b.flags;
}

// What nobody writes on purpose.
VkClearValue PoisonOf(const ChainRow& chain) {
  constexpr uint32_t kPoison = 0xDEADBEEF;
  VkClearValue value = {};
  if (chain.texture() && (AspectsOf(chain) & VK_IMAGE_ASPECT_COLOR_BIT) == 0) {
    value.depthStencil = {.depth = 0.8125F, .stencil = 0xEF};  // depth has no NaN
    return value;
  }
  for (size_t i = 0; i < 4; ++i) {
    if (chain.texture() && !IsIntegerFormat(chain.format)) {
      value.color.float32[i] = std::numeric_limits<float>::quiet_NaN();
    } else {
      value.color.uint32[i] = kPoison;
    }
  }
  return value;
}

bool IsAttachment(Accesses accesses) {
  return (accesses & (VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT |
                      VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT)) != 0;
}

// So that sums over a frame do not overflow.
constexpr uint64_t kMaxBytes = uint64_t{1} << 42;

bool IsTooLarge(const ChainRow& chain) {
  if (!chain.texture() || chain.size != 0) {
    return chain.size > kMaxBytes;
  }
  // Sixteen bytes are the largest texel; all levels have less than twice the bytes of the first.
  const double texels = double{1} * chain.extent.width * chain.extent.height * chain.extent.depth;
  return texels * chain.layers * chain.samples * 16 > static_cast<double>(kMaxBytes);
}

}  // namespace

Graph::Graph(uint8_t identity) : identity_(uint32_t{identity} << kSerialBits) {
  rows_.frame = identity_;
}

void Graph::BeginFrame() {
  std::swap(rows_, previous_);
  std::swap(next_usage_, previous_next_usage_);
  rows_.frame = identity_ | ((previous_.frame + 1) & kSerialMask);
  rows_.passes.clear();
  rows_.accesses.clear();
  rows_.versions.clear();
  rows_.chains.clear();
  rows_.semaphore_uses.clear();
  rows_.presents.clear();
  rows_.semaphores.clear();
  rows_.semaphore_timeline.clear();
  rows_.bindings.clear();
  rows_.clears.clear();
  rows_.pass_names.clear();
  rows_.version_names.clear();
  rows_.semaphore_names.clear();
  rows_.pass_wheres.clear();
  rows_.callbacks.clear();
  rows_.text.clear();
  next_usage_.clear();
  revived_.assign(previous_.versions.size(), kNone);
  captured_.clear();
  errors_.clear();
}

void Graph::NameSemaphore(VkSemaphore semaphore, std::string_view name) {
  if (std::find(named_semaphores_.begin(), named_semaphores_.end(), semaphore) !=
      named_semaphores_.end()) {
    return;
  }
  named_semaphores_.push_back(semaphore);
  semaphore_names_.emplace_back(name);
}

void Graph::AddError(GraphError error) {
  if (errors_.size() < kMaxErrors) {
    errors_.push_back(std::move(error));
  }
}

NameRef Graph::KeepName(std::string_view name) {
  const NameRef ref = {static_cast<uint32_t>(rows_.text.size()),
                       static_cast<uint32_t>(name.size())};
  rows_.text.insert(rows_.text.end(), name.begin(), name.end());
  return ref;
}

void Graph::Fail(std::string_view code, std::string detail, uint32_t pass, uint32_t version,
                 Where where) {
  GraphError error{
      .code = std::string(code), .message = {}, .passes = {}, .resources = {}, .where = where};
  error.message = fmt::format("{}:", code);
  if (version < rows_.versions.size()) {
    error.resources.emplace_back(rows_.VersionName(version));
    error.message += fmt::format(" version '{}'", rows_.VersionName(version));
  }
  if (pass < rows_.passes.size()) {
    error.passes.emplace_back(rows_.PassName(pass));
    error.message += fmt::format("{} pass '{}'", version < rows_.versions.size() ? " in" : "",
                                 rows_.PassName(pass));
  }
  error.message += " " + detail;
  AddError(std::move(error));
}

// A host pass that uses what the device makes is first of all too early.
void Graph::FailAccess(std::string_view code, std::string detail, uint32_t pass, uint32_t version,
                       Where where) {
  const uint32_t def = rows_.versions[version].def;
  if (code == "MEMORY_KIND" && rows_.passes[pass].kind == PassKind::kHost && def != kNone &&
      rows_.passes[def].kind != PassKind::kHost) {
    Fail("HOST_AFTER_DEVICE",
         fmt::format("is made by device pass '{}', which host passes cannot follow",
                     rows_.PassName(def)),
         pass, version, where);
    return;
  }
  Fail(code, std::move(detail), pass, version, where);
}

uint32_t Graph::UsePass(PassId pass, Where where) {
  return pass.frame == rows_.frame && pass.index < rows_.passes.size() ? pass.index
                                                                       : FailPass(pass, where);
}

uint32_t Graph::FailPass(PassId pass, Where where) {
  if (pass.index == kPoisoned) {
    return kNone;
  }
  const bool before = pass.frame == previous_.frame && pass.index < previous_.passes.size();
  Fail(before ? "EXPIRED_HANDLE" : "UNKNOWN_HANDLE",
       before
           ? fmt::format("the handle of pass '{}' is of an earlier frame",
                         previous_.PassName(pass.index))
           : fmt::format("no pass has handle {} of frame {}", pass.index, pass.frame & kSerialMask),
       kNone, kNone, where);
  return kNone;
}

// The version in this frame that stands for one that the last frame kept.
uint32_t Graph::Revive(uint32_t previous) {
  if (revived_[previous] != kNone) {
    return revived_[previous];
  }
  ChainRow chain = previous_.chains[previous_.versions[previous].chain];
  chain.object = Object::kHistory;
  chain.previous = previous;
  chain.usage = 0;
  const uint32_t version = AddChain(chain, {}, previous_.VersionName(previous));
  revived_[previous] = version;
  return version;
}

uint32_t Graph::FindVersion(const Handle& handle) const {
  if (handle.frame == rows_.frame && handle.index < rows_.versions.size()) {
    return handle.index;
  }
  const bool last = handle.frame == previous_.frame && handle.index < revived_.size();
  return last ? revived_[handle.index] : kNone;
}

uint32_t Graph::UseVersion(const Handle& handle, uint32_t pass, Where where) {
  const bool own = handle.frame == rows_.frame && handle.index < rows_.versions.size() &&
                   rows_.chains[rows_.versions[handle.index].chain].kind == handle.kind;
  return own ? handle.index : ReviveVersion(handle, pass, where);
}

uint32_t Graph::ReviveVersion(const Handle& handle, uint32_t pass, Where where) {
  if (handle.index == kPoisoned) {
    return kNone;
  }
  const auto is_kind = [&](const Declarations& rows) {
    return handle.index < rows.versions.size() &&
           rows.chains[rows.versions[handle.index].chain].kind == handle.kind;
  };
  const uint32_t age = (rows_.frame - handle.frame) & kSerialMask;
  const bool known = handle.index != kNone && (handle.frame & ~kSerialMask) == identity_;
  if (known && age == 1 && is_kind(previous_)) {
    if (previous_.versions[handle.index].temporal != 0) {
      return Revive(handle.index);
    }
    Fail("EXPIRED_HANDLE",
         fmt::format("uses '{}' of frame {}, which was not kept for the next frame",
                     previous_.VersionName(handle.index), handle.frame & kSerialMask),
         pass, kNone, where);
    return kNone;
  }
  if (known && age > 1 && age < kSerialMask / 2) {
    Fail(handle.temporal ? "EXPIRED_TEMPORAL_HANDLE" : "EXPIRED_HANDLE",
         fmt::format("uses handle {} of frame {}", handle.index, handle.frame & kSerialMask), pass,
         kNone, where);
    return kNone;
  }
  Fail("UNKNOWN_HANDLE",
       handle.index == kNone
           ? std::string("uses a null handle")
           : fmt::format("uses handle {} of frame {}, which this graph did not give out",
                         handle.index, handle.frame & kSerialMask),
       pass, kNone, where);
  return kNone;
}

uint32_t Graph::AddChain(const ChainRow& chain, const ChainBinding& binding,
                         std::string_view name) {
  const auto index = static_cast<uint32_t>(rows_.chains.size());
  rows_.chains.push_back(chain);
  rows_.bindings.push_back(binding);
  rows_.chains.back().first_version = static_cast<uint32_t>(rows_.versions.size());
  return AddVersion(name, index, kNone);
}

uint32_t Graph::AddVersion(std::string_view name, uint32_t chain, uint32_t def) {
  rows_.versions.push_back({.chain = chain,
                            .def = def,
                            .kill = kNone,
                            .temporal = 0,
                            .output = 0,
                            .exported = 0,
                            .padding = 0});
  rows_.version_names.push_back(KeepName(name));
  next_usage_.push_back(0);
  return static_cast<uint32_t>(rows_.versions.size() - 1);
}

uint32_t Graph::AddPass(const PassDesc& desc, Origin origin, Where where) {
  if (rows_.passes.size() >= kMaxPasses) {
    Fail("PASS_LIMIT", fmt::format("a frame has at most {} passes", kMaxPasses), kNone, kNone,
         where);
    return kPoisoned;
  }
  rows_.passes.push_back({.kind = desc.kind,
                          .queue = desc.queue,
                          .side_effect = desc.side_effect ? uint8_t{1} : uint8_t{0},
                          .origin = origin});
  rows_.pass_names.push_back(KeepName(desc.name));
  rows_.pass_wheres.push_back(where);
  rows_.callbacks.emplace_back();
  return static_cast<uint32_t>(rows_.passes.size() - 1);
}

PassId Graph::CreatePass(const PassDesc& desc, Where where) {
  return {.index = AddPass(desc, Origin::kUser, where), .frame = rows_.frame};
}

void Graph::AddAccess(const CompletedAccess& access, const AccessEnds& ends,
                      const VkClearValue& clear) {
  if (rows_.accesses.size() >= kMaxAccesses) {
    if (rows_.accesses.size() == kMaxAccesses && errors_.empty()) {
      Fail("RESOURCE_LIMIT", fmt::format("a frame has at most {} accesses", kMaxAccesses),
           ends.pass, kNone, {});
    }
    return;
  }
  ChainRow& chain = rows_.chains[rows_.versions[ends.version].chain];
  chain.usage |= access.usage;
  chain.ranged |= access.row.whole == 0 ? uint8_t{1} : uint8_t{0};
  AccessRow& row = rows_.accesses.emplace_back(access.row);
  row.pass = ends.pass;
  row.version = ends.version;
  row.result = ends.result;
  rows_.clears.push_back(clear);
}

bool Graph::CheckDescription(const ChainRow& chain, std::string_view name, uint32_t pass,
                             Where where) {
  const bool zero =
      chain.texture()
          ? chain.size == 0 && (chain.extent.width == 0 || chain.extent.height == 0 ||
                                chain.extent.depth == 0 || chain.mips == 0 || chain.layers == 0)
          : chain.size == 0;
  if (zero) {
    Fail("ZERO_SIZE", fmt::format("'{}' has a size of zero", name), pass, kNone, where);
    return false;
  }
  if (chain.texture() && (!InfoOf(chain.format).has_value() ||
                          chain.mips > FullMips(chain.extent) || chain.layers >= kWhole)) {
    Fail("UNSUPPORTED_FORMAT",
         fmt::format("'{}' has format {}, {} levels and {} layers, which no texture has", name,
                     FormatText(chain.format), chain.mips, chain.layers),
         pass, kNone, where);
    return false;
  }
  if (IsTooLarge(chain)) {
    Fail("RESOURCE_LIMIT", fmt::format("'{}' has more than {} bytes", name, kMaxBytes), pass, kNone,
         where);
    return false;
  }
  return true;
}

bool Graph::CheckContents(const Created& create, uint32_t pass, uint32_t version, Where where) {
  const Accesses unstated_by_nature =
      VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
  if (create.contents.kind == ContentKind::kUndefined &&
      (ElementaryAccesses(create.access.accesses) & unstated_by_nature) != 0) {
    Fail("CONTENTS_UNSTATED",
         "is created by storage or transfer writes and says neither cleared nor all written", pass,
         version, where);
    return false;
  }
  return true;
}

void Graph::MarkTemporal(uint32_t version, const Keep& keep, Where where) {
  if (!keep.next_frame) {
    return;
  }
  VersionRow& row = rows_.versions[version];
  ChainRow& chain = rows_.chains[row.chain];
  if (chain.object == Object::kImported || chain.memory != MemoryKind::kDevice) {
    Fail("TEMPORAL_KIND",
         "is imported or lies in host memory and cannot be kept for the next frame", row.def,
         version, where);
    return;
  }
  row.temporal = 1;
  if (chain.object == Object::kTransient) {
    chain.object = Object::kTemporal;
  }
  if (chain.texture()) {
    chain.usage |= keep.next_usage;
    next_usage_[version] = keep.next_usage;
  }
}

uint32_t Graph::Create(PassId pass_id, const Created& create, Where where) {
  const uint32_t pass = UsePass(pass_id, where);
  if (pass == kNone || !CheckDescription(create.chain, create.name, pass, where)) {
    return kPoisoned;
  }
  const Accesses accesses = ElementaryAccesses(create.access.accesses);
  if (create.contents.kind == ContentKind::kClear && !IsAttachment(accesses) &&
      rows_.passes[pass].kind != PassKind::kHost) {
    return CreateFilled(pass, create, "clear ", where);
  }
  if (poison_ && WantsPoison(create, pass)) {
    Created poisoned = create;
    poisoned.contents.value = PoisonOf(create.chain);
    return CreateFilled(pass, poisoned, "poison ", where);
  }
  CompletedAccess access = accesses_.Complete(
      {.pass = rows_.passes[pass].kind, .op = Op::kCreate, .access = create.access}, create.chain);
  const uint32_t version = AddChain(create.chain, {}, create.name);
  rows_.versions[version].def = pass;
  if (!access.error.empty()) {
    Fail(access.error, std::move(access.detail), pass, version, where);
    return kPoisoned;
  }
  if (!CheckContents(create, pass, version, where)) {
    return kPoisoned;
  }
  access.row.contents = create.contents.kind;
  AddAccess(access, {pass, version, version}, create.contents.value);
  MarkTemporal(version, create.keep, where);
  return version;
}

bool Graph::WantsPoison(const Created& create, uint32_t pass) const {
  const bool attachment = IsAttachment(ElementaryAccesses(create.access.accesses));
  const bool stated = create.contents.kind == ContentKind::kAllWritten ||
                      (create.contents.kind == ContentKind::kUndefined && attachment);
  const std::optional<FormatInfo> info = InfoOf(create.chain.format);
  const bool blocks = create.chain.texture() && info.has_value() && info->block != 1;
  return stated && !blocks && create.chain.memory == MemoryKind::kDevice &&
         rows_.passes[pass].kind != PassKind::kHost && rows_.passes[pass].origin == Origin::kUser;
}

uint32_t Graph::CreateFilled(uint32_t pass, const Created& create, std::string_view word,
                             Where where) {
  const ShortName name(word, create.name, "");
  const uint32_t clear =
      AddPass({.name = name.text(), .kind = PassKind::kTransfer}, Origin::kClear, where);
  if (clear == kPoisoned) {
    return kPoisoned;
  }
  Created cleared = create;
  cleared.name = name.text();
  cleared.access = {.stages = VK_PIPELINE_STAGE_2_CLEAR_BIT,
                    .accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT};
  cleared.contents.kind = ContentKind::kAllWritten;
  cleared.keep = {};
  const uint32_t old = Create({clear, rows_.frame}, cleared, where);
  if (old == kPoisoned) {
    return kPoisoned;
  }
  rows_.clears.back() = create.contents.value;
  return Write({pass, rows_.frame},
               {.name = create.name,
                .old = {old, rows_.frame, false, create.chain.kind},
                .access = create.access,
                .discard = false,
                .keep = create.keep},
               where);
}

void Graph::Read(PassId pass_id, const Handle& handle, const Access& declared, Where where) {
  const uint32_t pass = UsePass(pass_id, where);
  const uint32_t version = pass == kNone ? kNone : UseVersion(handle, pass, where);
  if (version == kNone) {
    return;
  }
  const ChainRow& chain = rows_.chains[rows_.versions[version].chain];
  CompletedAccess access = accesses_.Complete(
      {.pass = rows_.passes[pass].kind, .op = Op::kRead, .access = declared}, chain);
  if (!access.error.empty()) {
    FailAccess(access.error, std::move(access.detail), pass, version, where);
    return;
  }
  if (chain.object == Object::kImported && chain.texture() &&
      chain.state_layout == VK_IMAGE_LAYOUT_UNDEFINED && rows_.versions[version].def == kNone) {
    Fail("IMPORT_UNDEFINED", "is read, but its import left it undefined", pass, version, where);
    return;
  }
  if (chain.object == Object::kHistory && chain.texture() && chain.previous != kNone &&
      (access.usage & ~previous_next_usage_[chain.previous]) != 0) {
    Fail("TEMPORAL_USAGE", "is used as its frame did not announce in next_usage", pass, version,
         where);
    return;
  }
  AddAccess(access, {pass, version, kNone}, {});
}

uint32_t Graph::Write(PassId pass_id, const Written& write, Where where) {
  const uint32_t pass = UsePass(pass_id, where);
  const uint32_t old = pass == kNone ? kNone : UseVersion(write.old, pass, where);
  if (old == kNone) {
    return kPoisoned;
  }
  const VersionRow row = rows_.versions[old];
  const ChainRow chain = rows_.chains[row.chain];
  if (row.temporal != 0 || chain.object == Object::kHistory) {
    Fail("WRITE_AFTER_TEMPORAL", "is kept for or from another frame and can only be read", pass,
         old, where);
    return kPoisoned;
  }
  if (row.kill != kNone) {
    const std::string other(rows_.PassName(row.kill));
    if (row.exported != 0) {
      Fail("EXPORT_NOT_LAST", "is written after its export", pass, old, where);
      return kPoisoned;
    }
    Fail("DOUBLE_WRITE", fmt::format("has a second writer beside pass '{}'", other), pass, old,
         where);
    if (!errors_.empty()) {
      errors_.back().passes.insert(errors_.back().passes.begin(), other);
    }
    return kPoisoned;
  }
  CompletedAccess access = accesses_.Complete(
      {.pass = rows_.passes[pass].kind, .op = Op::kWrite, .access = write.access}, chain);
  if (!access.error.empty()) {
    FailAccess(access.error, std::move(access.detail), pass, old, where);
    return kPoisoned;
  }
  if (chain.object == Object::kImported && chain.texture() && row.def == kNone &&
      chain.state_layout == VK_IMAGE_LAYOUT_UNDEFINED && !write.discard) {
    Fail("IMPORT_UNDEFINED", "is written without discard, but its import left it undefined", pass,
         old, where);
    return kPoisoned;
  }
  access.row.discard = write.discard ? 1 : 0;
  const uint32_t result = AddVersion(write.name, row.chain, pass);
  rows_.versions[old].kill = pass;
  AddAccess(access, {pass, old, result}, {});
  MarkTemporal(result, write.keep, where);
  return result;
}

uint32_t Graph::Import(const Imported& import, Where where) {
  for (uint32_t chain = 0; chain < rows_.chains.size(); ++chain) {
    const ChainBinding& other = rows_.bindings[chain];
    const bool same_image =
        import.binding.image != VK_NULL_HANDLE && other.image == import.binding.image;
    const bool same_buffer = import.binding.buffer != VK_NULL_HANDLE &&
                             other.buffer == import.binding.buffer &&
                             other.offset < import.binding.offset + import.chain.size &&
                             import.binding.offset < other.offset + rows_.chains[chain].size;
    if (rows_.chains[chain].object == Object::kImported && (same_image || same_buffer)) {
      Fail("IMPORTED_TWICE", fmt::format("is imported again as '{}'", import.name), kNone,
           rows_.chains[chain].first_version, where);
      return kPoisoned;
    }
  }
  if (!CheckDescription(import.chain, import.name, kNone, where)) {
    return kPoisoned;
  }
  ChainRow chain = import.chain;
  chain.state_stages = ElementaryStages(import.state.stages);
  chain.state_accesses = ElementaryAccesses(import.state.accesses);
  chain.state_layout = import.state.layout;
  if (import.acquire != nullptr) {
    SemaphoreUse use = *import.acquire;
    const uint32_t ordinal = Ordinal(use, kNone, where);
    chain.acquire = static_cast<uint32_t>(rows_.semaphore_uses.size());
    rows_.semaphore_uses.push_back({.pass = kNone,
                                    .semaphore = ordinal,
                                    .value = use.timeline ? use.value : 0,
                                    .stages = ElementaryStages(use.stages),
                                    .wait = true});
  }
  return AddChain(chain, import.binding, import.name);
}

uint32_t Graph::History(std::string_view name, const ChainRow& desc, const ChainBinding& binding,
                        const Handle& previous) {
  ChainRow chain = desc;
  const bool last_frame = previous.frame == previous_.frame && previous.index < kPoisoned &&
                          previous.index < previous_.versions.size();
  if (last_frame && previous_.versions[previous.index].temporal != 0 &&
      SameDescription(previous_.chains[previous_.versions[previous.index].chain], chain)) {
    if (revived_[previous.index] != kNone) {
      return revived_[previous.index];
    }
    chain.previous = previous.index;
  }
  chain.usage |= chain.texture() ? VkImageUsageFlags{VK_IMAGE_USAGE_TRANSFER_DST_BIT} : 0U;
  const uint32_t version = AddChain(chain, binding, name);
  if (chain.previous != kNone) {
    revived_[chain.previous] = version;
  }
  return version;
}

void Graph::Export(const Handle& handle, const Access& final_state, Where where) {
  const uint32_t version = UseVersion(handle, kNone, where);
  if (version == kNone) {
    return;
  }
  if (rows_.versions[version].kill != kNone) {
    Fail("EXPORT_NOT_LAST", "is exported but is not the last of its chain",
         rows_.versions[version].kill, version, where);
    return;
  }
  const ShortName name("export ", rows_.VersionName(version), "");
  const uint32_t pass =
      AddPass({.name = name.text(), .kind = PassKind::kTransition}, Origin::kExport, where);
  if (pass == kPoisoned) {
    return;
  }
  const size_t before = rows_.accesses.size();
  Read({pass, rows_.frame}, {version, rows_.frame, false, handle.kind}, final_state, where);
  if (rows_.accesses.size() > before) {
    rows_.versions[version].kill = pass;
    rows_.versions[version].exported = 1;
    rows_.versions[version].output = 1;
  }
}

void Graph::Output(const Handle& handle, Where where) {
  const uint32_t version = UseVersion(handle, kNone, where);
  if (version != kNone) {
    rows_.versions[version].output = 1;
  }
}

void* Graph::AddCallback(PassId pass_id, size_t size, CallbackFunction call, Where where) {
  const uint32_t pass = UsePass(pass_id, where);
  if (pass == kNone) {
    return nullptr;
  }
  if (rows_.passes[pass].kind == PassKind::kTransition) {
    Fail("CALLBACK_ON_TRANSITION", "has a callback, but a transition has no commands", pass, kNone,
         where);
    return nullptr;
  }
  CallbackRow& row = rows_.callbacks[pass];
  if (row.call != nullptr) {
    Fail("CALLBACK_TWICE", "has two callbacks", pass, kNone, where);
    return nullptr;
  }
  row.call = call;
  row.offset = static_cast<uint32_t>(captured_.size());
  captured_.resize(captured_.size() + (size + sizeof(CapturedBytes) - 1) / sizeof(CapturedBytes));
  return captured_.data() + row.offset;
}

}  // namespace kiln::graph
