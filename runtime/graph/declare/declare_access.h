// SPDX-License-Identifier: MIT
// What passes create, read and write, as rows; and the rules that one such declaration can break by
// itself. What is common to textures and buffers: Graph brings them here. See spec/graph 4.2, 4.3
// Private to runtime/graph.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/graph/declare/complete_access.h"
#include "runtime/graph/declare/frame_rows.h"
#include "runtime/graph/declare/handle_table.h"

namespace kiln::graph {

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

class AccessDeclarer {
 public:
  AccessDeclarer(FrameRows& frame, HandleTable& handles)
      : frame_(frame), rows_(frame.rows()), handles_(handles) {}

  void SetPoison(bool poison) { poison_ = poison; }

  // The new version, or kPoisoned.
  uint32_t Create(PassId pass, const CreateRequest& create, Where where);
  uint32_t Write(PassId pass, const WriteRequest& write, Where where);
  void Read(PassId pass_id, const Handle& handle, const Access& declared, Where where);

  // Whether there can be such a resource. False is an error of the frame.
  bool CheckDescription(const ChainRow& chain, std::string_view name, uint32_t pass, Where where);

 private:
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

  void FailAccess(std::string_view code, std::string_view detail, uint32_t pass, uint32_t version,
                  Where where);
  void AddAccess(const CompletedAccess& access, const AccessEnds& ends, const AccessFlags& flags);
  bool CheckContents(const CreateRequest& create, uint32_t pass, uint32_t version, Where where);
  void MarkTemporal(uint32_t version, const Keep& keep, Where where);
  // A pass of the graph's own creates and fills; the declared one overwrites.
  uint32_t CreateFilled(uint32_t pass, const CreateRequest& create, std::string_view word,
                        Where where);
  bool WantsPoison(const CreateRequest& create, uint32_t pass) const;

  FrameRows& frame_;
  Declarations& rows_;  // of frame_
  HandleTable& handles_;
  AccessMemo accesses_;
  bool poison_ = false;
};

}  // namespace kiln::graph
