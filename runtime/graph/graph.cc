// SPDX-License-Identifier: MIT
#include "runtime/graph/graph.h"

#include <utility>

#include <fmt/format.h>

#include "runtime/graph/declare/declare_access.h"
#include "runtime/graph/declare/declare_outside.h"
#include "runtime/graph/declare/declare_semaphores.h"
#include "runtime/graph/declare/short_name.h"
#include "runtime/graph/formats.h"

namespace kiln::graph {
namespace {

// Textures and buffers become rows of one table, so planning has one loop for both. Row members
// that a declaration does not set are zero, which means "none yet" in every column but those that
// are set to kNone below.
ChainRow RowOf(const TextureDesc& desc, Object object) {
  ChainRow row{};
  row.kind = ResourceKind::kTexture;
  row.object = object;
  row.type = desc.type;
  row.format = desc.format;
  row.extent = desc.size;
  row.mips = desc.mips;
  row.layers = desc.layers;
  row.samples = desc.samples;
  row.usage = desc.extra_usage;
  row.flags = desc.flags;
  row.aspects = AspectsOfFormat(desc.format);
  row.previous = kNone;
  row.acquire = kNone;
  return row;
}

ChainRow RowOf(const BufferDesc& desc, Object object) {
  ChainRow row{};
  row.kind = ResourceKind::kBuffer;
  row.object = object;
  row.size = desc.size;
  // A buffer is one level of one layer, so cells need no case for it.
  row.mips = 1;
  row.layers = 1;
  row.samples = 1;
  row.memory = desc.memory;
  row.previous = kNone;
  row.acquire = kNone;
  return row;
}

// Whether a blit can bring one format into the other.
// Blits convert between colour formats; between integers and others they are not allowed.
bool CanBlit(VkFormat from, VkFormat to) {
  const auto is_plain_color = [](VkFormat format) {
    const std::optional<FormatInfo> info = InfoOf(format);
    return info.has_value() && info->aspects == VK_IMAGE_ASPECT_COLOR_BIT && info->block == 1;
  };
  return is_plain_color(from) && is_plain_color(to) && IsIntegerFormat(from) == IsIntegerFormat(to);
}

// Callbacks are copied into an array of 16-byte units, which suits every type that may be captured,
// and no callback is allocated by itself.
struct alignas(16) CapturedBytes {
  std::byte bytes[16];
};

}  // namespace

struct Graph::Parts {
  // The identity of the graph takes the upper bits of every handle, so handles of another graph are
  // known to be foreign.
  explicit Parts(uint8_t identity) : frame(uint32_t{identity} << kSerialBits) {}

  template <class Id>
  Id Make(uint32_t version) const {
    // A handle that was refused has a version that is no row; it says so by its own number and gets
    // no flags.
    const Declarations& rows = frame.rows();
    Id id;
    id.index = version;
    id.frame = rows.frame;
    id.temporal = version < rows.versions.size() ? rows.versions[version].temporal : 0U;
    return id;
  }

  // What is alike for textures and buffers, whose requests have the same fields.
  // Names and requests are views of the caller; what is kept of them is copied below.
  template <class Id, class Request>
  Id Create(PassId pass, const Request& request, Where where) {
    return Make<Id>(accesses.Create(pass,
                                    {.name = request.name,
                                     .chain = RowOf(request.desc, Object::kTransient),
                                     .access = request.access,
                                     .contents = request.contents,
                                     .keep = request.keep},
                                    where));
  }
  template <class Id, class Request>
  Id Write(PassId pass, const Handle& old, const Request& request, Where where) {
    return Make<Id>(accesses.Write(pass,
                                   {.name = request.name,
                                    .old = old,
                                    .access = request.access,
                                    .discard = request.discard,
                                    .keep = request.keep},
                                   where));
  }
  template <class Id, class Request>
  Id Import(const Request& request, const ChainBinding& binding, Where where) {
    return Make<Id>(outside.Import({.name = request.name,
                                    .chain = RowOf(request.desc, Object::kImported),
                                    .state = request.state,
                                    .binding = binding,
                                    .acquire = request.acquire},
                                   where));
  }

  // The order of the members matters: each is made of those before it.
  FrameRows frame;
  HandleTable handles{frame};
  AccessDeclarer accesses{frame, handles};
  SemaphoreDeclarer semaphores{frame, handles};
  OutsideDeclarer outside{frame, handles, accesses, semaphores};
  std::vector<CapturedBytes> captured;
  Instant begun;
};

Graph::Graph(uint8_t identity) : parts_(std::make_unique<Parts>(identity)) {}
Graph::~Graph() = default;

// Nothing is freed here, and arrays keep their size for the next frame.
void Graph::BeginFrame() {
  // Time is taken from here, so what the declarations cost is measured as well.
  parts_->begun = Now();
  parts_->frame.Begin();
  parts_->handles.Begin();
  parts_->captured.clear();
}

void Graph::SetPoison(bool poison) { parts_->accesses.SetPoison(poison); }

void Graph::NameSemaphore(VkSemaphore semaphore, std::string_view name) {
  parts_->semaphores.Name(semaphore, name);
}

void Graph::AddError(GraphError error) { parts_->frame.AddError(std::move(error)); }

const Declarations& Graph::rows() const { return parts_->frame.rows(); }
const Declarations& Graph::previous() const { return parts_->frame.previous(); }
const std::vector<GraphError>& Graph::errors() const { return parts_->frame.errors(); }
Instant Graph::begun() const { return parts_->begun; }

uint32_t Graph::Find(TextureId id) const { return parts_->handles.FindVersion(HandleOf(id)); }
uint32_t Graph::Find(BufferId id) const { return parts_->handles.FindVersion(HandleOf(id)); }

const void* Graph::Captured(uint32_t pass) const {
  return parts_->captured.data() + rows().pass_notes[pass].callback.offset;
}

// The handle carries the frame's serial, so using it in another frame is found by comparing two
// numbers.
PassId Graph::CreatePass(const PassDesc& desc, Where where) {
  return {.index = parts_->frame.AddPass(desc, Origin::kUser, where),
          .frame = parts_->frame.rows().frame};
}

// The returned memory is valid until the next call, because the array may move; the caller
// constructs the callback into it at once.
void* Graph::AddCallback(PassId pass_id, size_t size, CallbackFunction call, Where where) {
  Declarations& rows = parts_->frame.rows();
  // A pass of another frame is reported there and the callback dropped, so a wrong handle never
  // records into the wrong frame.
  const uint32_t pass = parts_->handles.UsePass(pass_id, where);
  if (pass == kNone) {
    return nullptr;
  }
  if (rows.passes[pass].kind == PassKind::kTransition) {
    parts_->frame.Fail("CALLBACK_ON_TRANSITION", "has a callback, but a transition has no commands",
                       pass, kNone, where);
    return nullptr;
  }
  CallbackRow& row = rows.pass_notes[pass].callback;
  if (row.call != nullptr) {
    parts_->frame.Fail("CALLBACK_TWICE", "has two callbacks", pass, kNone, where);
    return nullptr;
  }
  row.call = call;
  // An offset and no pointer, as the array moves when it grows.
  row.offset = static_cast<uint32_t>(parts_->captured.size());
  parts_->captured.resize(parts_->captured.size() +
                          (size + sizeof(CapturedBytes) - 1) / sizeof(CapturedBytes));
  return parts_->captured.data() + row.offset;
}

TextureId Graph::CreateTexture(PassId pass, const TextureCreate& create, Where where) {
  return parts_->Create<TextureId>(pass, create, where);
}

void Graph::ReadTexture(PassId pass, const TextureRead& read, Where where) {
  parts_->accesses.Read(pass, HandleOf(read.texture), read.access, where);
}

TextureId Graph::WriteTexture(PassId pass, const TextureWrite& write, Where where) {
  return parts_->Write<TextureId>(pass, HandleOf(write.texture), write, where);
}

TextureId Graph::ImportTexture(const TextureImport& import, Where where) {
  ChainBinding binding;
  binding.image = import.image;
  binding.view = import.view;
  return parts_->Import<TextureId>(import, binding, where);
}

// The description is checked before a row is made: a wrong one gives a handle that is refused
// wherever it is used.
TextureId Graph::HistoryTexture(const TextureHistory& history, Where where) {
  const ChainRow chain = RowOf(history.desc, Object::kHistory);
  if (!parts_->accesses.CheckDescription(chain, history.name, kNone, where)) {
    return parts_->Make<TextureId>(kPoisoned);
  }
  ChainBinding binding;
  binding.clear = history.initial;
  return parts_->Make<TextureId>(
      parts_->outside.History(history.name, chain, binding, HandleOf(history.previous)));
}

void Graph::ExportTexture(TextureId texture, const Access& final_state, Where where) {
  parts_->outside.Export(HandleOf(texture), final_state, where);
}

BufferId Graph::CreateBuffer(PassId pass, const BufferCreate& create, Where where) {
  return parts_->Create<BufferId>(pass, create, where);
}

void Graph::ReadBuffer(PassId pass, const BufferRead& read, Where where) {
  parts_->accesses.Read(pass, HandleOf(read.buffer), read.access, where);
}

BufferId Graph::WriteBuffer(PassId pass, const BufferWrite& write, Where where) {
  return parts_->Write<BufferId>(pass, HandleOf(write.buffer), write, where);
}

BufferId Graph::ImportBuffer(const BufferImport& import, Where where) {
  ChainBinding binding;
  binding.buffer = import.buffer;
  binding.offset = import.offset;
  return parts_->Import<BufferId>(import, binding, where);
}

BufferId Graph::HistoryBuffer(const BufferHistory& history, Where where) {
  const ChainRow chain = RowOf(history.desc, Object::kHistory);
  if (!parts_->accesses.CheckDescription(chain, history.name, kNone, where)) {
    return parts_->Make<BufferId>(kPoisoned);
  }
  if (history.desc.memory != MemoryKind::kDevice) {
    parts_->frame.Fail("TEMPORAL_KIND",
                       fmt::format("'{}' lies in host memory and has no history", history.name),
                       kNone, kNone, where);
    return parts_->Make<BufferId>(kPoisoned);
  }
  ChainBinding binding;
  // A history buffer is filled with one word, in the place where a texture has its clear value.
  binding.clear.color.uint32[0] = history.initial;
  return parts_->Make<BufferId>(
      parts_->outside.History(history.name, chain, binding, HandleOf(history.previous)));
}

void Graph::ExportBuffer(BufferId buffer, const Access& final_state, Where where) {
  parts_->outside.Export(HandleOf(buffer), final_state, where);
}

void Graph::MarkOutput(TextureId texture, Where where) {
  parts_->outside.Output(HandleOf(texture), where);
}
void Graph::MarkOutput(BufferId buffer, Where where) {
  parts_->outside.Output(HandleOf(buffer), where);
}

void Graph::WaitSemaphore(PassId pass, const SemaphoreUse& use, Where where) {
  parts_->semaphores.Add(pass, use, SemaphoreDeclarer::Direction::kWait, where);
}

void Graph::SignalSemaphore(PassId pass, const SemaphoreUse& use, Where where) {
  parts_->semaphores.Add(pass, use, SemaphoreDeclarer::Direction::kSignal, where);
}

// The image is imported, copied to and brought into the layout of presentation by two passes of the
// graph's own: the copy waits for the image, the last one signals that it may be shown.
void Graph::Present(const Presentation& presentation, Where where) {
  Declarations& rows = parts_->frame.rows();
  const uint32_t source = parts_->handles.UseVersion(HandleOf(presentation.texture), kNone, where);
  if (source == kNone) {
    return;
  }
  // Quadratic, but a frame presents to one or two images.
  for (const PresentRow& other : rows.presents) {
    if (other.swapchain == presentation.swapchain &&
        other.image_index == presentation.image_index) {
      parts_->frame.Fail("PRESENT_TWICE", "is presented to an image that is presented already",
                         kNone, source, where);
      return;
    }
  }
  // Asked here and not when the frame is executed: the message can then name the place of the call.
  const VkFormat format = rows.chains[rows.versions[source].chain].format;
  if (!CanBlit(format, presentation.image.desc.format)) {
    parts_->frame.Fail("PRESENT_FORMAT",
                       fmt::format("has format {}, which cannot be brought to {}",
                                   FormatText(format), FormatText(presentation.image.desc.format)),
                       kNone, source, where);
    return;
  }
  // The caller says how the image was imported; its state is replaced, because what matters is the
  // acquire of the swapchain.
  TextureImport import = presentation.image;
  import.state = {.stages = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT};
  // Whether the image was acquired is told by the semaphore below; without a stage to wait for, the
  // copy could begin too soon.
  import.acquire = nullptr;
  const TextureId image = ImportTexture(import, where);
  const PassId copy = {parts_->frame.AddPass({.name = "present: copy", .kind = PassKind::kTransfer},
                                             Origin::kPresentCopy, where),
                       rows.frame};
  const PassId present = {parts_->frame.AddPass({.name = "present", .kind = PassKind::kTransition},
                                                Origin::kPresent, where),
                          rows.frame};
  ReadTexture(
      copy,
      {.texture = presentation.texture, .access = {.accesses = VK_ACCESS_2_TRANSFER_READ_BIT}},
      where);
  const TextureId copied = WriteTexture(copy,
                                        {.name = ShortName("", import.name, " copied").text(),
                                         .texture = image,
                                         .access = {.accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT},
                                         // The whole image is overwritten, so what the swapchain
                                         // holds need not be kept.
                                         .discard = true,
                                         .keep = {}},
                                        where);
  WaitSemaphore(copy,
                {.semaphore = presentation.acquire, .stages = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT},
                where);
  WriteTexture(present,
               {.name = ShortName("", import.name, " presented").text(),
                .texture = copied,
                .access = {.layout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR},
                .discard = false,
                .keep = {}},
               where);
  SignalSemaphore(present, {.semaphore = presentation.present}, where);
  rows.presents.push_back({.source = source,
                           .target = image.index,
                           .copy_pass = copy.index,
                           .present_pass = present.index,
                           .swapchain = presentation.swapchain,
                           .present = presentation.present,
                           .image_index = presentation.image_index,
                           .filter = presentation.filter});
}

}  // namespace kiln::graph
