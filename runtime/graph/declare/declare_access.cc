// SPDX-License-Identifier: MIT
// Declarations of reads, writes and creations become rows. Errors are recorded and not returned: an
// engine declares a whole frame and asks once whether it was right.
#include "runtime/graph/declare/declare_access.h"

#include <limits>

#include <fmt/format.h>

#include "runtime/graph/declare/short_name.h"
#include "runtime/graph/formats.h"

namespace kiln::graph {
namespace {

// Contents that nobody writes on purpose.
VkClearValue PoisonOf(const ChainRow& chain) {
  constexpr uint32_t kPoison = 0xDEADBEEF;
  VkClearValue value = {};
  if (chain.texture() && (chain.aspects & VK_IMAGE_ASPECT_COLOR_BIT) == 0) {
    value.depthStencil = {.depth = 0.8125F, .stencil = 0xEF};  // depth has no NaN
    return value;
  }
  for (size_t i = 0; i < 4; ++i) {
    // NaN spreads through every computation, so a read of what was never written shows in the
    // picture.
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

// Bounded so that sums over a frame do not overflow.
constexpr uint64_t kMaxBytes = uint64_t{1} << 42;

// In doubles, as the product of six numbers of 32 bits fits nowhere else.
bool IsTooLarge(const ChainRow& chain) {
  if (!chain.texture() || chain.size != 0) {
    return chain.size > kMaxBytes;
  }
  // Sixteen bytes are the largest texel; all levels have less than twice the bytes of the first.
  const double texels = double{1} * chain.extent.width * chain.extent.height * chain.extent.depth;
  return texels * chain.layers * chain.samples * 16 > static_cast<double>(kMaxBytes);
}

}  // namespace

// A host pass that uses what the device makes is first of all too early.
void AccessDeclarer::FailAccess(std::string_view code, std::string_view detail, uint32_t pass,
                                uint32_t version, Where where) {
  const uint32_t def = rows_.versions[version].def;
  if (code == "MEMORY_KIND" && rows_.passes[pass].kind == PassKind::kHost && def != kNone &&
      rows_.passes[def].kind != PassKind::kHost) {
    frame_.Fail("HOST_AFTER_DEVICE",
                fmt::format("is made by device pass '{}', which host passes cannot follow",
                            rows_.PassName(def)),
                pass, version, where);
    return;
  }
  frame_.Fail(code, detail, pass, version, where);
}

// The last step of every declaration: all that is checked has been checked. The limit is checked
// here, so that no path around it exists.
void AccessDeclarer::AddAccess(const CompletedAccess& access, const AccessEnds& ends,
                               const AccessFlags& flags) {
  if (rows_.accesses.size() >= kMaxAccesses) {
    // Said once, and only if nothing else is wrong: a frame with errors is not planned anyway.
    if (rows_.accesses.size() == kMaxAccesses && frame_.errors().empty()) {
      frame_.Fail("RESOURCE_LIMIT", fmt::format("a frame has at most {} accesses", kMaxAccesses),
                  ends.pass, kNone, {});
    }
    return;
  }
  ChainRow& chain = rows_.chains[rows_.versions[ends.version].chain];
  // Collected over all accesses of the chain, for the one image that it becomes.
  chain.usage |= access.usage;
  chain.ranged |= access.row.whole == 0 ? uint8_t{1} : uint8_t{0};
  AccessRow& row = rows_.accesses.emplace_back(access.row);
  row.pass = ends.pass;
  row.version = ends.version;
  row.result = ends.result;
  row.discard = flags.discard;
  row.contents = flags.contents;
}

// Before a row exists: later steps divide by sizes and index by levels.
bool AccessDeclarer::CheckDescription(const ChainRow& chain, std::string_view name, uint32_t pass,
                                      Where where) {
  const bool zero =
      chain.texture()
          ? chain.size == 0 && (chain.extent.width == 0 || chain.extent.height == 0 ||
                                chain.extent.depth == 0 || chain.mips == 0 || chain.layers == 0)
          : chain.size == 0;
  if (zero) {
    frame_.Fail("ZERO_SIZE", fmt::format("'{}' has a size of zero", name), pass, kNone, where);
    return false;
  }
  if (chain.texture() && (chain.aspects == 0 || chain.layers >= kWhole ||
                          (chain.mips > 1 && chain.mips > FullMips(chain.extent)))) {
    frame_.Fail("UNSUPPORTED_FORMAT",
                fmt::format("'{}' has format {}, {} levels and {} layers, which no texture has",
                            name, FormatText(chain.format), chain.mips, chain.layers),
                pass, kNone, where);
    return false;
  }
  if (IsTooLarge(chain)) {
    frame_.Fail("RESOURCE_LIMIT", fmt::format("'{}' has more than {} bytes", name, kMaxBytes), pass,
                kNone, where);
    return false;
  }
  return true;
}

bool AccessDeclarer::CheckContents(const CreateRequest& create, uint32_t pass, uint32_t version,
                                   Where where) {
  // An attachment says by its load operation what becomes of the contents. A storage or transfer
  // write may leave parts out, so its author has to say.
  constexpr Accesses kUnstatedByNature =
      VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
  if (create.contents.kind == ContentKind::kUndefined &&
      (ElementaryAccesses(create.access.accesses) & kUnstatedByNature) != 0) {
    frame_.Fail("CONTENTS_UNSTATED",
                "is created by storage or transfer writes and says neither cleared nor all written",
                pass, version, where);
    return false;
  }
  return true;
}

// A version that is kept becomes an object of its own, which no other resource shares.
void AccessDeclarer::MarkTemporal(uint32_t version, const Keep& keep, Where where) {
  if (!keep.next_frame) {
    return;
  }
  VersionRow& row = rows_.versions[version];
  ChainRow& chain = rows_.chains[row.chain];
  if (chain.object == Object::kImported || chain.memory != MemoryKind::kDevice) {
    frame_.Fail("TEMPORAL_KIND",
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
    rows_.version_notes[version].next_usage = keep.next_usage;
  }
}

uint32_t AccessDeclarer::Create(PassId pass_id, const CreateRequest& create, Where where) {
  const uint32_t pass = handles_.UsePass(pass_id, where);
  if (pass == kNone || !CheckDescription(create.chain, create.name, pass, where)) {
    // A handle that stands for a failure: whoever uses it gets no second message.
    return kPoisoned;
  }
  // Attachments are cleared when they are loaded; everything else needs a pass that clears, before
  // the one that creates.
  if (create.contents.kind == ContentKind::kClear &&
      !IsAttachment(ElementaryAccesses(create.access.accesses)) &&
      rows_.passes[pass].kind != PassKind::kHost) {
    return CreateFilled(pass, create, "clear ", where);
  }
  if (poison_ && WantsPoison(create, pass)) {
    CreateRequest poisoned = create;
    poisoned.contents.value = PoisonOf(create.chain);
    return CreateFilled(pass, poisoned, "poison ", where);
  }
  const CompletedAccess& access = accesses_.Complete(
      {.pass = rows_.passes[pass].kind, .op = Op::kCreate, .access = create.access}, create.chain);
  // The version exists even if its access is wrong, so that the message can name it.
  const uint32_t version = frame_.AddChain(create.chain, {}, create.name);
  rows_.versions[version].def = pass;
  if (!access.error.empty()) {
    frame_.Fail(access.error, access.detail, pass, version, where);
    return kPoisoned;
  }
  if (!CheckContents(create, pass, version, where)) {
    return kPoisoned;
  }
  rows_.bindings.back().clear = create.contents.value;
  AddAccess(access, {pass, version, version}, {.contents = create.contents.kind});
  MarkTemporal(version, create.keep, where);
  return version;
}

// Poison fills what a pass promises to write, to make a broken promise visible. Compressed formats
// cannot be cleared, and host memory is not the graph's to fill.
bool AccessDeclarer::WantsPoison(const CreateRequest& create, uint32_t pass) const {
  const bool attachment = IsAttachment(ElementaryAccesses(create.access.accesses));
  const bool stated = create.contents.kind == ContentKind::kAllWritten ||
                      (create.contents.kind == ContentKind::kUndefined && attachment);
  const std::optional<FormatInfo> info = InfoOf(create.chain.format);
  const bool blocks = create.chain.texture() && info.has_value() && info->block != 1;
  return stated && !blocks && create.chain.memory == MemoryKind::kDevice &&
         rows_.passes[pass].kind != PassKind::kHost && rows_.passes[pass].origin == Origin::kUser;
}

// Declared like any user would: a transfer pass creates, and the pass of the request writes over
// it.
uint32_t AccessDeclarer::CreateFilled(uint32_t pass, const CreateRequest& create,
                                      std::string_view word, Where where) {
  const ShortName name(word, create.name, "");
  const uint32_t clear =
      frame_.AddPass({.name = name.text(), .kind = PassKind::kTransfer}, Origin::kClear, where);
  if (clear == kPoisoned) {
    return kPoisoned;
  }
  CreateRequest cleared = create;
  cleared.name = name.text();
  cleared.access = {.stages = VK_PIPELINE_STAGE_2_CLEAR_BIT,
                    .accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT};
  cleared.contents.kind = ContentKind::kAllWritten;
  cleared.keep = {};
  const uint32_t old = Create({clear, rows_.frame}, cleared, where);
  if (old == kPoisoned) {
    return kPoisoned;
  }
  return Write({pass, rows_.frame},
               {.name = create.name,
                .old = {old, rows_.frame, false, create.chain.kind},
                .access = create.access,
                .discard = false,
                .keep = create.keep},
               where);
}

// Errors are checked from the general to the special: pass, handle, access, then what the resource
// allows.
void AccessDeclarer::Read(PassId pass_id, const Handle& handle, const Access& declared,
                          Where where) {
  const uint32_t pass = handles_.UsePass(pass_id, where);
  const uint32_t version = pass == kNone ? kNone : handles_.UseVersion(handle, pass, where);
  if (version == kNone) {
    return;
  }
  const ChainRow& chain = rows_.chains[rows_.versions[version].chain];
  const CompletedAccess& access = accesses_.Complete(
      {.pass = rows_.passes[pass].kind, .op = Op::kRead, .access = declared}, chain);
  if (!access.error.empty()) {
    FailAccess(access.error, access.detail, pass, version, where);
    return;
  }
  // An import in undefined layout has contents that nobody may read.
  if (chain.object == Object::kImported && chain.texture() &&
      chain.state_layout == VK_IMAGE_LAYOUT_UNDEFINED && rows_.versions[version].def == kNone) {
    frame_.Fail("IMPORT_UNDEFINED",
                "is read, but its import left it undefined; state the layout that it is in", pass,
                version, where);
    return;
  }
  // The image was created in the frame before, with the usage that was announced then.
  if (chain.object == Object::kHistory && chain.texture() && chain.previous != kNone &&
      (access.usage & ~frame_.previous().version_notes[chain.previous].next_usage) != 0) {
    frame_.Fail("TEMPORAL_USAGE", "is used as its frame did not announce in next_usage", pass,
                version, where);
    return;
  }
  AddAccess(access, {pass, version, kNone}, {});
}

// A write ends the life of the old version: it is read no more behind this pass, and a second write
// of it is reported with both passes.
uint32_t AccessDeclarer::Write(PassId pass_id, const WriteRequest& write, Where where) {
  const uint32_t pass = handles_.UsePass(pass_id, where);
  const uint32_t old = pass == kNone ? kNone : handles_.UseVersion(write.old, pass, where);
  if (old == kNone) {
    return kPoisoned;
  }
  // A copy, because AddVersion may move the table.
  const VersionRow row = rows_.versions[old];
  const ChainRow& chain = rows_.chains[row.chain];
  if (row.temporal != 0 || chain.object == Object::kHistory) {
    frame_.Fail("WRITE_AFTER_TEMPORAL", "is kept for or from another frame and can only be read",
                pass, old, where);
    return kPoisoned;
  }
  // A version has one writer, or the order of the two would not be known. Which error is told
  // depends on who the other writer is.
  if (row.kill != kNone) {
    const std::string other(rows_.PassName(row.kill));
    if (row.exported != 0) {
      frame_.Fail("EXPORT_NOT_LAST", "is written after its export", pass, old, where);
      return kPoisoned;
    }
    frame_.Fail("DOUBLE_WRITE", fmt::format("has a second writer beside pass '{}'", other), pass,
                old, where);
    frame_.NameFirstPass(other);
    return kPoisoned;
  }
  const CompletedAccess& access = accesses_.Complete(
      {.pass = rows_.passes[pass].kind, .op = Op::kWrite, .access = write.access}, chain);
  if (!access.error.empty()) {
    FailAccess(access.error, access.detail, pass, old, where);
    return kPoisoned;
  }
  if (chain.object == Object::kImported && chain.texture() && row.def == kNone &&
      chain.state_layout == VK_IMAGE_LAYOUT_UNDEFINED && !write.discard) {
    frame_.Fail(
        "IMPORT_UNDEFINED",
        "is written without discard, but its import left it undefined; discard it, or state the "
        "layout that it is in",
        pass, old, where);
    return kPoisoned;
  }
  const uint32_t result = frame_.AddVersion(write.name, row.chain, pass);
  rows_.versions[old].kill = pass;
  AddAccess(access, {pass, old, result}, {.discard = write.discard ? uint8_t{1} : uint8_t{0}});
  MarkTemporal(result, write.keep, where);
  return result;
}

}  // namespace kiln::graph
