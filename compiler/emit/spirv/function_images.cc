// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/function_images.h"

#include <utility>

#include <spirv/unified1/spirv.hpp11>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::spirv {
namespace {

// Uses before a function is put together. Versions that differ from variant to variant are used
// once, and putting together costs a few times what writing does.
constexpr uint32_t kUsesBeforeFlat = 3;

// Sets of globals have as many words as there were globals when the code object was added, so one
// may be longer than the other.
void UniteBits(std::span<const uint64_t> more, std::vector<uint64_t>& bits) {
  if (more.size() > bits.size()) {
    bits.resize(more.size(), 0);
  }
  for (size_t i = 0; i < more.size(); ++i) {
    bits[i] |= more[i];
  }
}

// Keeps the memory.
void Clear(FunctionImage& image) {
  FunctionImage empty;
  const auto keep = [](auto& to, auto& from) {
    from.clear();
    to = std::move(from);
  };
  keep(empty.runs, image.runs);
  keep(empty.first_ids, image.first_ids);
  keep(empty.chunks, image.chunks);
  keep(empty.globals, image.globals);
  image = std::move(empty);
}

}  // namespace

// The images stay as objects, so that their vectors keep what they have grown to.
void FunctionImages::Forget() {
  image_count_ = 0;
  known_.clear();
  image_bytes_ = 0;
  words_.clear();
  own_masks_.clear();
  imports_.clear();
}

// The number of a function stands for its version: equal numbers are equal lists of live regions.
// So the number is the whole key, and the look-up is an index.
FunctionImage& FunctionImages::Find(const ir::FunctionRef& function) {
  if (function.number < known_.size() && known_[function.number] != nullptr) {
    return *known_[function.number];
  }
  if (function.number >= known_.size()) {
    known_.resize(function.number + size_t{1});
  }
  FunctionImage& image =
      image_count_ < images_.size() ? images_[image_count_] : images_.emplace_back();
  ++image_count_;
  Clear(image);
  image.ref = &function;
  Make(image);
  known_[function.number] = &image;
  return image;
}

// Only functions without slots, flows and conditional words can become one code object, since those
// are decided for each module.
const FunctionImage& FunctionImages::Use(const ir::FunctionRef& function) {
  FunctionImage& image = Find(function);
  if (!image.is_flat && image.is_plain && ++image.uses > kUsesBeforeFlat) {
    Flatten(image);
  }
  return image;
}

// Collects once what assembling asks of a function each time: where the ids of each region begin,
// what is needed, how many words there are at most, and the stretches of its code.
void FunctionImages::Make(FunctionImage& image) {
  const ir::FunctionRef& function = *image.ref;
  const DeclVersion* version = table_.Find(function.signature);
  KILN_CHECK(version != nullptr, "function {} was not lowered", function.function);
  image.version = *version;
  image.head = version->head;
  const CodeObject& head = ObjectOf(image.head);
  image.own_ids = head.own_ids;
  image.word_count = head.word_count;
  CheckStop();  // what functions need is as long as there are globals
  UniteBits(table_.store().Globals(head), image.globals);
  image.runs.reserve(function.regions.size());
  image.first_ids.reserve(function.regions.size());
  FindChunks(image);
  // The function ends as its outermost region ends.
  image.end = ObjectOf(image.runs.front()).end;
  image_bytes_ += sizeof(image) + image.runs.size() * 2 * sizeof(uint32_t) +
                  image.chunks.size() * sizeof(Chunk) + image.globals.size() * sizeof(uint64_t) +
                  function.regions.size() * sizeof(ir::RegionRef);
}

FunctionImages::Open FunctionImages::AddRun(FunctionImage& image, uint32_t region) {
  const ir::RegionRef& ref = image.ref->regions[region];
  const CodeObjectId id = table_.Find(ref.specialised);
  KILN_CHECK(id.valid(), "region {} was not lowered", ref.region);
  const CodeObject& object = ObjectOf(id);
  // Lowering never ends a region behind an insertion point in a terminator: the region around it
  // goes on there. Only the outermost one may, which is the first of the list.
  KILN_CHECK(image.runs.empty() || object.end != End::kTerminated,
             "control must go on past an insertion point: region {}", ref.region);
  image.runs.push_back(id);
  image.first_ids.push_back(image.own_ids);
  image.own_ids += object.own_ids;
  image.word_count += object.word_count;
  image.needs |= object.needs;
  image.has_flows = image.has_flows || !object.flows.empty();
  image.is_plain =
      image.is_plain && object.flows.empty() && object.conditionals.empty() && object.slots.empty();
  UniteBits(table_.store().Globals(object), image.globals);
  return {.region = region, .run = static_cast<uint32_t>(image.runs.size() - 1)};
}

// Regions lie depth first, in the order of the insertion points that they fill, so one pass over
// both lists finds them all. Those whose insertion point is not reached are left out, and what they
// hold with them.
void FunctionImages::FindChunks(FunctionImage& image) {
  const std::vector<ir::RegionRef>& regions = image.ref->regions;
  uint32_t next = 1;  // the first region that is not placed yet
  // The regions that are begun and not yet ended, the innermost last. A list in place of recursion:
  // how deep regions nest is the source's choice.
  open_.assign(1, AddRun(image, 0));
  chunks_.clear();
  const auto add = [&](const Open& from, uint32_t word_end, uint32_t import_end) {
    if (from.word != word_end) {
      chunks_.push_back({.run = from.run,
                         .word = from.word,
                         .word_end = word_end,
                         .import = from.import,
                         .import_end = import_end});
    }
  };
  while (!open_.empty()) {
    Open& current = open_.back();
    // All insertion points of this region are passed: what is left of its code follows, and the
    // region around it goes on.
    const CodeObject& object = ObjectOf(image.runs[current.run]);
    if (current.point == object.insertion_points.count) {
      const Section& code = object.part(Part::kCode);
      add(current, code.words.count, code.imports.count);
      open_.pop_back();
      continue;
    }
    const InsertionPoint& point = table_.store().InsertionPoints(object)[current.point++];
    // A region that is not next in the list is dead in this variant. Then nothing is cut: the
    // stretch goes on over the insertion point.
    const bool live = next < regions.size() && regions[next].parent == current.region &&
                      regions[next].region == point.region;
    if (live && point.reached) {
      add(current, point.word_end, point.import_end);
      current.word = point.word_end;
      current.import = point.import_end;
      open_.push_back(AddRun(image, next++));
    } else if (live) {
      // Whatever is inside of it has a parent that stands at it or behind it in the list.
      const uint32_t left_out = next++;
      while (next < regions.size() && regions[next].parent >= left_out) {
        ++next;
      }
    }
  }
  KILN_CHECK(next == regions.size(), "region {} fills no insertion point", next);
  image.chunks = chunks_;
}

// --- putting together ----------------------------------------------------------------------------

Section FunctionImages::Begin() const {
  return {.words = {.first = static_cast<uint32_t>(words_.size())},
          .imports = {.first = static_cast<uint32_t>(imports_.size())}};
}

// Gives the locals and labels of a region their ids in the function, plus one: zero says that a
// symbol is no name of this function.
void FunctionImages::Reserve(CodeObjectId id, uint32_t first_id) {
  for (const SymbolId name : table_.store().Reserved(ObjectOf(id))) {
    local_ids_[name.value] = 1 + first_id++;
    locals_.push_back(name);
  }
}

// Imports of names of this function become own ids.
void FunctionImages::AppendSection(Range<uint32_t> words, Range<SymbolRelocation> imports,
                                   uint32_t skipped, uint32_t first_id, Section& to) {
  const CodeObjectStore& store = table_.store();
  const auto start = static_cast<uint32_t>(words_.size());
  for (uint32_t i = 0; i < words.count; ++i) {
    const uint32_t own = store.own_masks()[words.first + i];
    words_.push_back(store.words()[words.first + i] + (own & first_id));
    own_masks_.push_back(own);
  }
  for (uint32_t i = 0; i < imports.count; ++i) {
    const SymbolRelocation& import = store.imports()[imports.first + i];
    const uint32_t at = start + import.position - skipped;
    if (const uint32_t local = local_ids_[import.symbol.value]; local != 0) {
      // A name of an enclosing region is known now: its id counts from the first of the function,
      // like all others of the flat code object.
      words_[at] = local - 1;
      own_masks_[at] = ~0u;
      continue;
    }
    // What is left are globals and other functions. Their positions count from the start of the
    // flat part.
    imports_.push_back({at - to.words.first, import.symbol});
    ++to.imports.count;
  }
  to.words.count += words.count;
}

void FunctionImages::AppendPart(const CodeObject& object, Part part, uint32_t first_id,
                                Section& to) {
  const Section& section = object.part(part);
  AppendSection(section.words, section.imports, 0, first_id, to);
}

void FunctionImages::AppendWord(uint32_t word, Section& to) {
  words_.push_back(word);
  own_masks_.push_back(0);
  ++to.words.count;
}

// Puts the code objects of a function together to one, with all its ids counted from the function's
// first. Afterwards a module that has this function copies three long sections instead of dozens of
// short ones, and patches only what is of module scope. The result takes memory of its own, about
// as much again as its code objects, which is why it is done for functions that come again and
// again.
void FunctionImages::Flatten(FunctionImage& image) {
  local_ids_.resize(table_.store().symbol_count());
  Reserve(image.head, 0);
  for (size_t i = 0; i < image.runs.size(); ++i) {
    Reserve(image.runs[i], image.first_ids[i]);
  }
  const CodeObject& head = ObjectOf(image.head);
  const auto for_runs = [&](Part part, Section& to) {
    for (size_t i = 0; i < image.runs.size(); ++i) {
      AppendPart(ObjectOf(image.runs[i]), part, image.first_ids[i], to);
    }
  };
  image.debug = Begin();
  AppendPart(head, Part::kDebug, 0, image.debug);
  for_runs(Part::kDebug, image.debug);
  image.annotations = Begin();
  for_runs(Part::kAnnotations, image.annotations);
  image.body = Begin();
  AppendPart(head, Part::kDeclarations, 0, image.body);
  for_runs(Part::kVariables, image.body);
  for (const Chunk& chunk : image.chunks) {
    const Section& code = ObjectOf(image.runs[chunk.run]).part(Part::kCode);
    AppendSection({code.words.first + chunk.word, chunk.word_end - chunk.word},
                  {code.imports.first + chunk.import, chunk.import_end - chunk.import}, chunk.word,
                  image.first_ids[chunk.run], image.body);
  }
  if (image.end == End::kFlows) {
    // A body that control runs out of ends here; lowering left that to whoever knows that nothing
    // follows.
    AppendWord(1u << 16 | static_cast<uint32_t>(spv::Op::OpReturn), image.body);
  }
  AppendWord(1u << 16 | static_cast<uint32_t>(spv::Op::OpFunctionEnd), image.body);
  // Long copies read in steps of eight words, also behind the last one.
  words_.insert(words_.end(), kCopySlack, 0);
  own_masks_.insert(own_masks_.end(), kCopySlack, 0);
  // The table is by all symbols and stays zero between calls; only what was set is reset.
  for (const SymbolId name : locals_) {
    local_ids_[name.value] = 0;
  }
  locals_.clear();
  image.is_flat = true;
}

}  // namespace kiln::spirv
