// SPDX-License-Identifier: MIT
// Third step of assembling: the words, strictly from first to last.
#include "compiler/emit/spirv/assemble.h"

#include <algorithm>
#include <cstring>

#include <spirv/unified1/spirv.hpp11>

#include "compiler/base/check.h"
#include "compiler/base/stop.h"
#include "compiler/target/capabilities.h"

namespace kiln::spirv {
namespace {

using spv::Op;

constexpr uint32_t First(Op op, uint32_t word_count) {
  return word_count << 16 | static_cast<uint32_t>(op);
}

uint32_t TextWords(std::string_view text) { return static_cast<uint32_t>(text.size() / 4 + 1); }

uint32_t* PutText(uint32_t* out, std::string_view text) {
  const uint32_t count = TextWords(text);
  out[count - 1] = 0;
  std::memcpy(out, text.data(), text.size());
  return out + count;
}

spv::ExecutionModel ModelOf(ir::Stage stage) {
  switch (stage) {
    case ir::Stage::kVertex:
      return spv::ExecutionModel::Vertex;
    case ir::Stage::kFragment:
      return spv::ExecutionModel::Fragment;
    case ir::Stage::kCompute:
      return spv::ExecutionModel::GLCompute;
  }
  KILN_UNREACHABLE();
}

constexpr uint32_t kHeaderWords = 5;
constexpr uint32_t kModeWords = 3 + 3 + 6;  // OriginUpperLeft, DepthReplacing, LocalSize

// A module that is linked again and again (the vertex stage of an uber shader) is kept as it is,
// until there is no more room.
constexpr uint32_t kUsesBeforeKept = 2;
constexpr uint32_t kKeptWords = 1u << 16;

}  // namespace

// Words and imports of a function that was put together.
inline void Assembler::WriteFlat(const Section& section, uint32_t base) {
  uint32_t* const start = out_;
  out_ = start + section.words.count;
  long_copy_(start, images_.words() + section.words.first,
             images_.own_masks() + section.words.first, section.words.count, base);
  const uint32_t* const numbers = numbers_.data();
  const SymbolRelocation* const first = images_.imports() + section.imports.first;
#pragma GCC unroll 4
  for (const SymbolRelocation* i = first; i != first + section.imports.count; ++i) {
    start[i->position] = numbers[i->symbol.value];
  }
}

inline void Assembler::WriteSection(const Section& section, uint32_t base) {
  if (!section.words.empty()) {
    Copy(section.words, section.imports, base, 0);
  }
}

std::span<const uint32_t> Assembler::Assemble(const ir::SpecialisedProgram& variant,
                                              EntryChoice choice, const layout::Layout& layout) {
  Collect(variant, choice, layout);
  linked_ = kNoModule;
  return Write(variant, choice, layout);
}

Assembler::ModuleNumber Assembler::NumberModule(const ir::SpecialisedProgram& variant,
                                                EntryChoice choice, const layout::Layout& layout) {
  Collect(variant, choice, layout);
  const auto known = static_cast<uint32_t>(modules_.size());
  const uint32_t module = module_index_.FindOrAdd(
      Hash64(std::as_bytes(std::span(key_))),
      [&](uint32_t i) {
        const Range<uint32_t> range = modules_[i].key;
        return std::ranges::equal(std::span(keys_).subspan(range.first, range.count), key_);
      },
      [&] {
        modules_.push_back(
            {.key = {static_cast<uint32_t>(keys_.size()), static_cast<uint32_t>(key_.size())}});
        keys_.insert(keys_.end(), key_.begin(), key_.end());
        return known;
      });
  linked_ = module;
  return {.module = module, .is_new = module == known};
}

uint32_t* Assembler::WordsOf(uint32_t index, uint32_t count) {
  if (words_.size() <= index) {
    words_.resize(index + size_t{1});
  }
  if (words_[index].size() < count) {
    words_[index].resize(count);
  }
  return words_[index].data();
}

std::span<const uint32_t> Assembler::Recall(const NumberedModule& module, uint32_t index) {
  uint32_t* const words = WordsOf(index, module.words.count);
  std::memcpy(words, kept_.data() + module.words.first, module.words.count * sizeof(uint32_t));
  return {words, module.words.count};
}

void Assembler::Keep(NumberedModule& module, std::span<const uint32_t> words) {
  if (++module.uses > kUsesBeforeKept && kept_.size() + words.size() <= kKeptWords) {
    module.words = {static_cast<uint32_t>(kept_.size()), static_cast<uint32_t>(words.size())};
    kept_.insert(kept_.end(), words.begin(), words.end());
  }
}

std::span<const uint32_t> Assembler::Write(const ir::SpecialisedProgram& variant,
                                           EntryChoice choice, const layout::Layout& layout) {
  if (linked_ != kNoModule && !modules_[linked_].words.empty()) {
    return Recall(modules_[linked_], choice.index);
  }
  Number();
  if (has_flows_) {
    PropagateNonUniform();
  }
  uint32_t bound = word_bound_ + kHeaderWords + kCopySlack;
  bound += static_cast<uint32_t>(PreambleOf(needs_).size());
  for (uint32_t i = 0; i < entry_count_; ++i) {
    bound += 3 + TextWords(entries_[i].ref->name) + live_globals_;
    bound += kModeWords;
  }
  uint32_t* const words = WordsOf(choice.index, bound);
  out_ = words;
  WriteHead(variant);
  WriteDebug();
  WriteAnnotations(layout);
  PutAll(definitions_);
  for (uint32_t i = 0; i < entry_count_; ++i) {
    WriteEntry(entries_[i]);
  }
  const auto count = static_cast<size_t>(out_ - words);
  KILN_CHECK(count <= bound, "{} words of {}", count, bound);
  if (linked_ != kNoModule) {
    Keep(modules_[linked_], {words, count});
  }
  return {words, count};
}

void Assembler::PutAll(std::span<const uint32_t> words) {
  std::memcpy(out_, words.data(), words.size_bytes());
  out_ += words.size();
}

// --- head ----------------------------------------------------------------------------------------

// Capabilities, extensions; a module needs one of very few sets.
const std::vector<uint32_t>& Assembler::PreambleOf(target::Needs needs) {
  return *preambles_
              .FindOrMake(needs,
                          [&] {
                            CodeObjectWriter w;
                            for (const uint32_t capability : target::CapabilitiesOf(needs)) {
                              w.Op(Part::kCode, Op::OpCapability).Word(capability);
                            }
                            const uint32_t version = table_.target().spirv_version;
                            for (const auto name : target::ExtensionsOf(needs, version)) {
                              w.Op(Part::kCode, Op::OpExtension).Text(name);
                            }
                            return w.part(Part::kCode).words;
                          })
              .first;
}

void Assembler::WriteHead(const ir::SpecialisedProgram& variant) {
  Put(spv::MagicNumber);
  Put(table_.target().spirv_version);
  Put(0);
  Put(next_id_);
  Put(0);
  PutAll(PreambleOf(needs_));
  PutAll(imports_);
  Put(First(Op::OpMemoryModel, 3));
  Put(static_cast<uint32_t>(spv::AddressingModel::Logical));
  Put(static_cast<uint32_t>(spv::MemoryModel::GLSL450));
  for (uint32_t i = 0; i < entry_count_; ++i) {
    WriteEntryPoint(entries_[i]);
  }
  for (uint32_t i = 0; i < entry_count_; ++i) {
    WriteModes(entries_[i], variant);
  }
}

// Below 1.4 the interface is the inputs and outputs; from then on all variables.
void Assembler::WriteEntryPoint(const Entry& entry) {
  uint32_t* const first = out_++;
  Put(static_cast<uint32_t>(ModelOf(entry.ref->stage)));
  Put(entry.main);
  out_ = PutText(out_, entry.ref->name);
  const bool all = table_.target().spirv_version >= target::SpirvVersion(1, 4);
  for (const CodeObjectStore::OrderedGlobal& row :
       store_.order().subspan(store_.first_variable())) {
    if (!Test(entry.live, row.global)) {
      continue;
    }
    const spv::StorageClass storage = store_.StorageOf(row.global);
    if (all || storage == spv::StorageClass::Input || storage == spv::StorageClass::Output) {
      Put(numbers_[row.symbol.value]);
    }
  }
  *first = First(Op::OpEntryPoint, static_cast<uint32_t>(out_ - first));
}

bool Assembler::HasStageVariable(const Entry& entry, ir::StageVariable variable) const {
  const GlobalId global = store_.FindStageVariable(variable);
  return global.valid() && Test(entry.live, global);
}

uint32_t Assembler::WorkgroupSize(const ir::SpecialisedProgram& variant, std::string_view axis) {
  uint32_t size = 1;
  for (const ir::SpecialisedSetting& setting : variant.settings) {
    size = setting.name == axis ? setting.bits : size;  // the last one wins
  }
  return size;
}

void Assembler::WriteModes(const Entry& entry, const ir::SpecialisedProgram& variant) {
  const auto put_mode = [&](spv::ExecutionMode mode, uint32_t more) {
    Put(First(Op::OpExecutionMode, 3 + more));
    Put(entry.main);
    Put(static_cast<uint32_t>(mode));
  };
  switch (entry.ref->stage) {
    case ir::Stage::kVertex:
      return;
    case ir::Stage::kFragment:
      put_mode(spv::ExecutionMode::OriginUpperLeft, 0);
      if (HasStageVariable(entry, ir::StageVariable::kFragDepth)) {
        put_mode(spv::ExecutionMode::DepthReplacing, 0);
      }
      return;
    case ir::Stage::kCompute:
      put_mode(spv::ExecutionMode::LocalSize, 3);
      for (const std::string_view name : kWorkgroupSizes) {
        Put(WorkgroupSize(variant, name));
      }
      return;
  }
}

// --- sections before the functions ---------------------------------------------------------------

template <class Visit>
void Assembler::ForRuns(const Function& function, Visit visit) const {
  const FunctionImage& image = *function.image;
  for (size_t i = 0; i < image.runs.size(); ++i) {
    visit(Run{&store_[image.runs[i]], function.base + image.first_ids[i]});
  }
}

void Assembler::WriteDebug() {
  for (const Run& global : named_) {
    WriteSection(global.piece->part(Part::kDebug), global.base);
  }
  for (const Function& function : functions_) {
    if (function.image->is_flat) {
      WriteFlat(function.image->debug, function.base);
      continue;
    }
    WriteSection(store_[function.image->head].part(Part::kDebug), function.base);
    ForRuns(function,
            [&](const Run& run) { WriteSection(run.piece->part(Part::kDebug), run.base); });
  }
}

uint32_t Assembler::NumberOf(const LayoutRelocation& slot, const layout::Layout& layout) {
  switch (slot.kind) {
    case LayoutRelocationKind::kSet:
      return layout.PlacementOf(ir::DeclId{slot.row}).set;
    case LayoutRelocationKind::kBinding:
      return layout.PlacementOf(ir::DeclId{slot.row}).binding;
    case LayoutRelocationKind::kLocation:
      return layout.LocationOf(ir::MemberId{slot.row});
  }
  KILN_UNREACHABLE();
}

void Assembler::FillSlots(const Run& run, uint32_t* words, const layout::Layout& layout) {
  for (const LayoutRelocation& slot : store_.Slots(*run.piece)) {
    words[slot.position] = NumberOf(slot, layout);
  }
}

void Assembler::WriteAnnotations(const layout::Layout& layout) {
  for (const Run& global : decorated_) {
    uint32_t* const words = out_;
    WriteSection(global.piece->part(Part::kAnnotations), global.base);
    if (!global.piece->slots.empty()) {
      FillSlots(global, words, layout);
    }
  }
  for (const Function& function : functions_) {
    if (function.image->is_flat) {
      WriteFlat(function.image->annotations, function.base);
      continue;
    }
    ForRuns(function, [&](const Run& run) {
      WriteSection(run.piece->part(Part::kAnnotations), run.base);
      if (!has_flows_) {
        return;
      }
      for (const Conditional& conditional : store_.Conditionals(*run.piece)) {
        if (non_uniform_[conditional.parameter.value] != 0) {
          WriteSection(conditional.words, run.base);
        }
      }
    });
  }
}

// --- functions -----------------------------------------------------------------------------------

void Assembler::WriteEntry(const Entry& entry) {
  const auto functions = std::span(functions_).subspan(entry.first_function, entry.function_count);
  for (const Function& function : functions) {
    numbers_[function.image->version.function.value] = function.base;
  }
  for (const Function& function : functions) {
    if (function.image->is_flat) {
      WriteFlat(function.image->body, function.base);
    } else {
      WriteFunction(function);
    }
  }
}

void Assembler::WriteFunction(const Function& function) {
  CheckStop();
  const FunctionImage& image = *function.image;
  ForRuns(function, [&](const Run& run) {
    uint32_t number = run.base;
    for (const SymbolId name : store_.Reserved(*run.piece)) {
      numbers_[name.value] = number++;
    }
  });
  WriteSection(store_[image.head].part(Part::kDeclarations), function.base);
  ForRuns(function,
          [&](const Run& run) { WriteSection(run.piece->part(Part::kVariables), run.base); });
  for (const Chunk& chunk : image.chunks) {
    const Section& code = store_[image.runs[chunk.run]].part(Part::kCode);
    Copy({code.words.first + chunk.word, chunk.word_end - chunk.word},
         {code.imports.first + chunk.import, chunk.import_end - chunk.import},
         function.base + image.first_ids[chunk.run], chunk.word);
  }
  switch (image.end) {
    case End::kFlows:
      Put(First(Op::OpReturn, 1));
      break;
    case End::kUnreachable:
      Put(First(Op::OpUnreachable, 1));
      break;
    case End::kTerminated:
      break;
  }
  Put(First(Op::OpFunctionEnd, 1));
}

void Assembler::Forget() {
  images_.Forget();
  interface_.clear();
  versions_.clear();
}

size_t Assembler::bytes_used() const {
  return images_.bytes_used() + keys_.size() * sizeof(uint32_t) +
         modules_.size() * (sizeof(NumberedModule) + 2 * sizeof(uint64_t)) +
         kept_.size() * sizeof(uint32_t);
}

std::vector<uint32_t> Assemble(const ir::SpecialisedProgram& variant, EntryChoice choice,
                               const layout::Layout& layout, const CodeObjectTable& table) {
  Assembler assembler(table);
  const std::span<const uint32_t> words = assembler.Assemble(variant, choice, layout);
  return {words.begin(), words.end()};
}

}  // namespace kiln::spirv
