// SPDX-License-Identifier: MIT
// Functions as assembling wants them: the live regions of one version of a function in the order
// in which their code is written, with what they need together. A version that is met again and
// again is put together once: its code objects become one, whose own ids start at the function's.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/ir/specialised.h"

namespace kiln::spirv {

// A stretch of the code of one run, between insertion points.
struct Chunk {
  uint32_t run = 0;
  uint32_t word = 0, word_end = 0;
  uint32_t import = 0, import_end = 0;
};

struct FunctionImage {
  const ir::FunctionRef* ref = nullptr;
  DeclVersion version{};
  CodeObjectId head{};
  std::vector<CodeObjectId> runs;   // of live regions that are reached
  std::vector<uint32_t> first_ids;  // of runs, from the first id of the function
  std::vector<Chunk> chunks;        // of the code, in order
  std::vector<uint64_t> globals;    // bits by GlobalId: what it needs, and what those need
  uint32_t own_ids = 0;
  uint32_t word_count = 0;
  target::Needs needs = 0;
  End end = End::kFlows;
  bool has_flows = false;
  bool is_plain = true;  // no slots, flows or conditionals: can be one code object
  uint32_t uses = 0;

  // As one code object, if is_flat: words of FunctionImages.
  bool is_flat = false;
  Section debug{}, annotations{}, body{};
};

class FunctionImages {
 public:
  explicit FunctionImages(const CodeObjectTable& table) : table_(table) {}

  // Requires: everything the function refers to is in the table; equal numbers are equal functions.
  // Valid as long as the object.
  const FunctionImage& Of(const ir::FunctionRef& function) { return Find(function); }
  // The same, of a function that is about to be written.
  const FunctionImage& Use(const ir::FunctionRef& function);

  // Forgets every function; keeps the memory.
  void Forget();

  // Of flat functions, as those of a CodeObjectStore.
  const uint32_t* words() const { return words_.data(); }
  const uint32_t* own_masks() const { return own_masks_.data(); }
  const SymbolRelocation* imports() const { return imports_.data(); }

  size_t bytes_used() const {
    return image_bytes_ + words_.size() * 2 * sizeof(uint32_t) +
           imports_.size() * sizeof(SymbolRelocation);
  }

 private:
  struct Open {
    uint32_t region = 0;  // of the function's list
    uint32_t run = 0;     // of the image
    uint32_t point = 0;   // next
    uint32_t word = 0, import = 0;
  };
  const CodeObject& ObjectOf(CodeObjectId id) const { return table_.store()[id]; }
  FunctionImage& Find(const ir::FunctionRef& function);
  void Make(FunctionImage& image);
  Open AddRun(FunctionImage& image, uint32_t region);
  void FindChunks(FunctionImage& image);
  void Flatten(FunctionImage& image);
  void Reserve(CodeObjectId id, uint32_t first_id);
  void AppendSection(Range<uint32_t> words, Range<SymbolRelocation> imports, uint32_t skipped,
                     uint32_t first_id, Section& to);
  void AppendPart(const CodeObject& object, Part part, uint32_t first_id, Section& to);
  void AppendWord(uint32_t word, Section& to);
  Section Begin() const;

  const CodeObjectTable& table_;
  std::deque<FunctionImage> images_;   // stable addresses
  size_t image_count_ = 0;             // in use
  std::vector<FunctionImage*> known_;  // by number of the function; null: not made yet
  size_t image_bytes_ = 0;
  std::vector<uint32_t> words_, own_masks_;
  std::vector<SymbolRelocation> imports_;
  std::vector<Open> open_;
  std::vector<Chunk> chunks_;
  std::vector<uint32_t> local_ids_;  // by SymbolId: 1 + id in the function being flattened, or 0
  std::vector<SymbolId> locals_;     // that have one
};

}  // namespace kiln::spirv
