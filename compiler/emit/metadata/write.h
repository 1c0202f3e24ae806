// SPDX-License-Identifier: MIT
// Pipeline metadata of one variant: specialised variant + layout -> bytes of
// proto/kiln/v1/metadata.proto, without protobuf. Equal inputs give equal bytes. See spec/rpl 9,
// 12; spec/pso 3.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/flat_map.h"
#include "compiler/emit/metadata/usage.h"
#include "compiler/emit/metadata/wire.h"
#include "compiler/ir/module.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/ir_types.h"
#include "compiler/layout/layout.h"
#include "compiler/target/capabilities.h"
#include "compiler/target/target.h"

namespace kiln::metadata {

// What metadata says about one module of the program.
struct ModuleFacts {
  Hash128 semantic_id{};                 // ir::Module::semantic_id
  std::string_view path{};               // logical path; used with full debug information only
  const ir::ModuleView* view = nullptr;  // for spans; used with full debug information only
};

inline constexpr uint64_t kNoLimit = ~uint64_t{0};

struct Metadata {
  std::vector<std::byte> bytes;
  Hash128 layout_hash;  // of the input interface; equal for equal global options
  bool fits = true;     // false: it would have more bytes than it may, and there are none
};

struct RecordContext;
struct StateRow;

// Writes metadata of many variants of one program, entry points and target. The record of a
// declaration is encoded once for each version of it and each set of numbers in it; equal addresses
// of specialised declarations, settings and layouts must mean equal ones as long as the writer
// lives. One thread.
//
// A source of kilobytes may have metadata of gigabytes: structs that double, in many buffers, with
// long names. So what is written counts while it is written, and the writer stops where that
// exceeds `most`; what it keeps of one variant has a few times as many bytes.
class MetadataWriter {
 public:
  // `types` must outlive it, and what `modules` refer to. Modules are in link order, or empty.
  // `most`: bytes of the metadata of one variant.
  MetadataWriter(const target::Target& target, layout::TypeLayouts& types,
                 std::span<const ModuleFacts> modules, uint64_t most);
  ~MetadataWriter();

  size_t bytes_used() const { return bytes_.size() + records_.size() * 2 * sizeof(Key); }

  // Of the input interface of a variant (spec/rpl 12.1). Of one whose metadata do not fit it is of
  // no use.
  Hash128 LayoutHash(const ir::SpecialisedProgram& variant, const layout::Layout& layout);

  // Valid until the next call. Requires: `layout` is of `variant`, `layout_hash` of both; `needs`
  // is the union over the code of all stages, `wgsl` what EncodeWgsl made of modules of that form.
  // Nothing: they do not fit.
  std::optional<ByteView> Write(const ir::SpecialisedProgram& variant, const layout::Layout& layout,
                                const Hash128& layout_hash, target::Needs needs,
                                ByteView wgsl = {});

 private:
  static constexpr uint32_t kSets = 4;
  static constexpr uint32_t kKinds = 3;  // buffers, samplers, images

  // Plain ones are those of the layout hash, without usage and spans.
  enum class Kind : uint32_t {
    kSource,
    kPlainSource,
    kResource,
    kPlainResource,
    kPushConstant,
    kPlainPushConstant,
    kStateField,
    kInfluence,
    kFeatures,
    kTail,
    kInterface
  };
  // What decides the bytes of a record.
  struct Key {
    Kind kind = Kind::kSource;
    const void* what = nullptr;
    const void* other = nullptr;
    uint32_t row = 0;
    uint64_t number = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    uint64_t operator()(const Key& key) const {
      return Mix64(Mix64(reinterpret_cast<uintptr_t>(key.what) ^ key.number) ^
                   reinterpret_cast<uintptr_t>(key.other) ^
                   (uint64_t{static_cast<uint32_t>(key.kind)} << 56 | key.row));
    }
  };
  struct Record {  // of bytes_
    uint32_t first = 0;
    uint32_t size = 0;
  };
  struct Graphics {
    ByteView settings{}, outputs{};
  };
  struct Entry {
    ir::Stage stage = ir::Stage::kVertex;
    std::string name;
  };

  static Kind KindOf(Kind full, const RecordContext& context);
  template <class Encode>
  Record Recall(const Key& key, Encode encode);
  void Put(const Record& record);
  bool Fits(uint64_t bytes) const { return bytes <= most_; }
  void PutHead(const ir::SpecialisedProgram& variant);
  void PutAttributeSources(const RecordContext& context);
  Record Resource(const RecordContext& context, const ir::SpecialisedDecl& decl,
                  const ir::SpecialisedDecl* combined, uint32_t field);
  // False where they do not fit; then nothing was put.
  [[nodiscard]] bool CollectSets(const RecordContext& context);
  void PutSets(const RecordContext& context);
  void PutPushConstant(const RecordContext& context);  // size and record
  void PutInterface(const RecordContext& context);     // all of these
  Graphics GraphicsOf(const RecordContext& context);
  void PutState(const RecordContext& context);
  void PutStateRows(const RecordContext& context);
  void PutStateRow(const RecordContext& context, StateRow state);
  void PutNeeds(const RecordContext& context, target::Needs needs, const Hash128& layout_hash);

  const target::Target target_;
  layout::TypeLayouts& types_;
  const std::vector<ModuleFacts> modules_;
  const uint64_t most_;
  FlatMap<Key, Record, KeyHash> records_;
  FlatMap<Key, std::pair<Bytes, Bytes>, KeyHash> graphics_records_;
  Bytes bytes_;         // of all records
  WireWriter scratch_;  // of the record in progress
  std::vector<Entry> head_entries_;
  Bytes head_;
  std::vector<Record> resources_[kSets * kKinds];
  std::pair<Bytes, Bytes> graphics_;
  Usage usage_;
  Bytes out_;
  bool fits_ = true;  // what the call in progress has put
};

// Requires: `layout` is of `variant`, `types` of its pool. `modules` are in link order, or empty;
// `needs` is the union over the code of all stages.
Metadata Write(const ir::SpecialisedProgram& variant, const layout::Layout& layout,
               const target::Target& target, layout::TypeLayouts& types,
               std::span<const ModuleFacts> modules = {}, target::Needs needs = 0,
               ByteView wgsl = {}, uint64_t most = kNoLimit);

}  // namespace kiln::metadata
