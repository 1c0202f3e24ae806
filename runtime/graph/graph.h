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
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/graph/complete_access.h"
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

  void BeginFrame();
  // From the next frame on, memory is filled with NaN or 0xDEADBEEF before every create that does
  // not clear it, so that reading what nobody wrote shows. Memory of hosts and block formats stay.
  void SetPoison(bool poison) { poison_ = poison; }
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

  const Declarations& rows() const { return rows_; }
  // The version in this frame that the handle stands for; kNone if there is none.
  uint32_t Find(TextureId id) const { return FindVersion(HandleOf(id)); }
  uint32_t Find(BufferId id) const { return FindVersion(HandleOf(id)); }
  const std::vector<GraphError>& errors() const { return errors_; }
  // What SetCallback copied.
  const void* Captured(uint32_t pass) const {
    return captured_.data() + rows_.pass_notes[pass].callback.offset;
  }
  // The names of last frame's versions, for those that outlive it.
  const Declarations& previous() const { return previous_; }
  // When BeginFrame was called.
  Instant begun() const { return begun_; }
  // Records an error from outside, for readers of files.
  void AddError(GraphError error);

 private:
  struct alignas(16) CapturedBytes {
    std::byte bytes[16];
  };
  struct Handle {
    uint32_t index;
    uint32_t frame;
    bool temporal;
    ResourceKind kind;
  };
  // What a texture and a buffer declaration have in common.
  struct CreateRequest {
    std::string_view name;
    ChainRow chain;
    Access access;
    Contents contents;
    Keep keep;
  };
  struct WriteRequest {
    std::string_view name;
    Handle old;
    Access access;
    bool discard;
    Keep keep;
  };
  struct ImportRequest {
    std::string_view name;
    ChainRow chain;
    Access state;
    ChainBinding binding;
    const SemaphoreUse* acquire;
  };

  struct AccessEnds {
    uint32_t pass;
    uint32_t version;  // read, overwritten or created
    uint32_t result;   // new version of a write or create, else kNone
  };
  // Of a write, and of a create.
  struct AccessFlags {
    uint8_t discard = 0;
    ContentKind contents = ContentKind::kUndefined;
  };

  // Of a handle's frame: the lower bits count frames, the others are the graph's identity.
  static constexpr uint32_t kSerialBits = 23;
  static constexpr uint32_t kSerialMask = (1U << kSerialBits) - 1;

  static Handle HandleOf(TextureId id) {
    return {id.index, id.frame, id.temporal != 0, ResourceKind::kTexture};
  }
  static Handle HandleOf(BufferId id) {
    return {id.index, id.frame, id.temporal != 0, ResourceKind::kBuffer};
  }
  template <class Id>
  Id MakeId(uint32_t version) const;

  NameRef KeepName(std::string_view name);
  void Fail(std::string_view code, std::string_view detail, uint32_t pass, uint32_t version,
            Where where);
  void FailAccess(std::string_view code, std::string_view detail, uint32_t pass, uint32_t version,
                  Where where);
  uint32_t FindVersion(const Handle& handle) const;
  // kNone for handles that stand for nothing in this frame, which is an error.
  uint32_t UsePass(PassId pass, Where where) {
    const bool own = pass.frame == rows_.frame && pass.index < rows_.passes.size();
    return own ? pass.index : FailPass(pass, where);
  }
  uint32_t UseVersion(const Handle& handle, uint32_t pass, Where where) {
    const bool own = handle.frame == rows_.frame && handle.index < rows_.versions.size() &&
                     rows_.chains[rows_.versions[handle.index].chain].kind == handle.kind;
    return own ? handle.index : ReviveVersion(handle, pass, where);
  }
  uint32_t FailPass(PassId pass, Where where);
  uint32_t ReviveVersion(const Handle& handle, uint32_t pass, Where where);
  uint32_t Revive(uint32_t previous);
  uint32_t AddChain(const ChainRow& chain, const ChainBinding& binding, std::string_view name);
  uint32_t AddVersion(std::string_view name, uint32_t chain, uint32_t def);
  uint32_t AddPass(const PassDesc& desc, Origin origin, Where where);
  void AddAccess(const CompletedAccess& access, const AccessEnds& ends, const AccessFlags& flags);
  bool CheckDescription(const ChainRow& chain, std::string_view name, uint32_t pass, Where where);
  bool CheckContents(const CreateRequest& create, uint32_t pass, uint32_t version, Where where);
  void MarkTemporal(uint32_t version, const Keep& keep, Where where);

  uint32_t Create(PassId pass, const CreateRequest& create, Where where);
  // A pass of the graph's own creates and fills; the declared one overwrites.
  uint32_t CreateFilled(uint32_t pass, const CreateRequest& create, std::string_view word,
                        Where where);
  bool WantsPoison(const CreateRequest& create, uint32_t pass) const;
  void Read(PassId pass_id, const Handle& handle, const Access& declared, Where where);
  uint32_t Write(PassId pass, const WriteRequest& write, Where where);
  uint32_t Import(const ImportRequest& import, Where where);
  uint32_t History(std::string_view name, const ChainRow& desc, const ChainBinding& binding,
                   const Handle& previous);
  void Export(const Handle& handle, const Access& final_state, Where where);
  void Output(const Handle& handle, Where where);
  uint32_t Ordinal(const SemaphoreUse& use, uint32_t pass, Where where);
  void AddSemaphoreUse(PassId pass, const SemaphoreUse& use, bool wait, Where where);
  void* AddCallback(PassId pass, size_t size, CallbackFunction call, Where where);

  uint32_t identity_;
  bool poison_ = false;
  Instant begun_;
  AccessMemo accesses_;
  Declarations rows_;
  Declarations previous_;
  std::vector<uint32_t> revived_;  // by version of the last frame: its version in this one
  std::vector<CapturedBytes> captured_;
  std::vector<VkSemaphore> named_semaphores_;
  std::vector<std::string> semaphore_names_;
  std::vector<GraphError> errors_;
};

}  // namespace kiln::graph
