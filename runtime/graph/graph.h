// SPDX-License-Identifier: MIT
// One frame's declarations: passes, and what they read, write and create. A write yields a new
// handle; a handle stands for fixed contents. Wrong declarations are recorded and returned by the
// planner, all at once; the handle of a failed one may be used and says nothing further.
//   graph.BeginFrame();
//   PassId pass = graph.CreatePass({"sky", PassKind::kGraphics});
//   TextureId sky = graph.CreateTexture(pass, {.name = "sky", .desc = …, .access = …});
// See spec/graph 3, 4
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/time_series.h"
#include "runtime/graph/types.h"

namespace kiln::runtime {
class Device;
}

namespace kiln::graph {

class Resources;
class CommandBuffer;

// Keeps its memory from frame to frame. One thread. Graphs whose handles may meet have different
// identities, so that each knows the other's handles as foreign.
class Graph {
 public:
  explicit Graph(uint8_t identity = 0);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void BeginFrame();
  // From the next frame on, memory is filled with NaN or 0xDEADBEEF before every create that does
  // not clear it, so that reading what nobody wrote shows. Memory of hosts and block formats stay.
  void SetPoison(bool poison);
  // Keeps `name` for messages; without it semaphores are called by their number.
  void NameSemaphore(VkSemaphore semaphore, std::string_view name);

  PassId CreatePass(const PassDesc& desc, Where where = Where::Here());

  TextureId CreateTexture(PassId pass, const TextureCreate& create, Where where = Where::Here());
  void ReadTexture(PassId pass, const TextureRead& read, Where where = Where::Here());
  TextureId WriteTexture(PassId pass, const TextureWrite& write, Where where = Where::Here());
  TextureId ImportTexture(const TextureImport& import, Where where = Where::Here());
  // Last frame's contents of `previous`, or `initial` if there are none of this description.
  TextureId HistoryTexture(const TextureHistory& history, Where where = Where::Here());
  // After all uses the version is brought into the state, and kept until the frame has ended.
  void ExportTexture(TextureId texture, const Access& final_state, Where where = Where::Here());

  BufferId CreateBuffer(PassId pass, const BufferCreate& create, Where where = Where::Here());
  void ReadBuffer(PassId pass, const BufferRead& read, Where where = Where::Here());
  BufferId WriteBuffer(PassId pass, const BufferWrite& write, Where where = Where::Here());
  BufferId ImportBuffer(const BufferImport& import, Where where = Where::Here());
  BufferId HistoryBuffer(const BufferHistory& history, Where where = Where::Here());
  void ExportBuffer(BufferId buffer, const Access& final_state, Where where = Where::Here());

  // Contents that are wanted after the frame as the last pass leaves them.
  void MarkOutput(TextureId texture, Where where = Where::Here());
  void MarkOutput(BufferId buffer, Where where = Where::Here());

  void WaitSemaphore(PassId pass, const SemaphoreUse& use, Where where = Where::Here());
  void SignalSemaphore(PassId pass, const SemaphoreUse& use, Where where = Where::Here());

  // void (runtime::Device&, const Resources&, CommandBuffer&): records the commands of the pass.
  // Copied; at most 256 bytes, trivial.
  template <class F>
  void SetCallback(PassId pass, F&& callback, Where where = Where::Here()) {
    using Function = std::remove_cvref_t<F>;
    static_assert(
        std::is_trivially_copyable_v<Function> && std::is_trivially_destructible_v<Function>,
        "a callback captures plain values");
    static_assert(sizeof(Function) <= 256 && alignof(Function) <= 16);
    void* memory = AddCallback(
        pass, sizeof(Function),
        [](const void* captured, void* device, const void* resources, void* commands) {
          (*static_cast<const Function*>(captured))(*static_cast<runtime::Device*>(device),
                                                    *static_cast<const Resources*>(resources),
                                                    *static_cast<CommandBuffer*>(commands));
        },
        where);
    if (memory != nullptr) {
      ::new (memory) Function(callback);
    }
  }

  void Present(const Presentation& presentation, Where where = Where::Here());

  const Declarations& rows() const;
  // The version in this frame that the handle stands for; kNone if there is none.
  uint32_t Find(TextureId id) const;
  uint32_t Find(BufferId id) const;
  const std::vector<GraphError>& errors() const;
  // What SetCallback copied.
  const void* Captured(uint32_t pass) const;
  // The names of last frame's versions, for those that outlive it.
  const Declarations& previous() const;
  // When BeginFrame was called.
  Instant begun() const;
  // Records an error from outside, for readers of files.
  void AddError(GraphError error);

 private:
  struct Parts;

  void* AddCallback(PassId pass, size_t size, CallbackFunction call, Where where);

  std::unique_ptr<Parts> parts_;
};

}  // namespace kiln::graph
