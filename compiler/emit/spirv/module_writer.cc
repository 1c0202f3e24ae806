// SPDX-License-Identifier: MIT
// The words go strictly from first to last, into memory whose bound is known before, so nothing is
// checked or grown in between. A function that is met often is one code object (FunctionImages) and
// one copy; another is copied chunk by chunk, the code of its regions between insertion points.
#include "compiler/emit/spirv/module_writer.h"

#include <cstring>

#include <spirv/unified1/spirv.hpp11>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/emit/spirv/code_object_writer.h"
#include "compiler/emit/spirv/layout_numbers.h"
#include "compiler/emit/spirv/section_copy.h"
#include "compiler/ir/interface/semantics.h"
#include "compiler/target/capabilities.h"

namespace kiln::spirv {
namespace {

using spv::Op;

// The first word of an instruction has its length in the upper half.
constexpr uint32_t First(Op op, uint32_t word_count) {
  return word_count << 16 | static_cast<uint32_t>(op);
}

// The bytes and a zero at the end, which is a word of its own if the bytes fill their words.
uint32_t TextWords(std::string_view text) { return static_cast<uint32_t>(text.size() / 4 + 1); }

// A text is padded with zeros to whole words; the last word is cleared first, then overwritten.
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
// OriginUpperLeft, DepthReplacing and what it promises; or LocalSize.
constexpr uint32_t kModeWords = 3 + 3 + 3 + 6;

// What rows of an interface say about the depth that a fragment writes.
std::vector<spv::ExecutionMode> DepthModesOf(const ir::EntryRef& entry, const ir::Pool& pool) {
  for (const ir::InterfaceRow& row : entry.io) {
    const ir::Attribute* named = row.Find(ir::AttributeKey::kBuiltin);
    const auto builtin = named != nullptr
                             ? ir::FindBuiltinVariable(pool.Text(ir::StringId{named->a}))
                             : std::nullopt;
    if (builtin == ir::BuiltinVariable::kFragDepth) {
      return {spv::ExecutionMode::DepthReplacing};
    }
    if (builtin == ir::BuiltinVariable::kFragDepthGreater) {
      return {spv::ExecutionMode::DepthReplacing, spv::ExecutionMode::DepthGreater};
    }
    if (builtin == ir::BuiltinVariable::kFragDepthLess) {
      return {spv::ExecutionMode::DepthReplacing, spv::ExecutionMode::DepthLess};
    }
  }
  return {};
}

}  // namespace

// The numbers of imports are written over the words in passing.
inline void ModuleWriter::Copy(Range<uint32_t> words, Range<SymbolRelocation> imports,
                               uint32_t base, uint32_t position) {
  out_ =
      CopySection(store_, long_copy_, numbering_.numbers(), out_, words, imports, base, position);
}

// Words and imports of a function that was put together.
inline void ModuleWriter::WriteFlat(const Section& section, uint32_t base) {
  uint32_t* const start = out_;
  out_ = start + section.words.count;
  long_copy_(start, images_.words() + section.words.first,
             images_.own_masks() + section.words.first, section.words.count, base);
  const uint32_t* const numbers = numbering_.numbers();
  const SymbolRelocation* const first = images_.imports() + section.imports.first;
#pragma GCC unroll 4
  for (const SymbolRelocation* i = first; i != first + section.imports.count; ++i) {
    start[i->position] = numbers[i->symbol.value];
  }
}

// Most sections are empty.
inline void ModuleWriter::WriteSection(const Section& section, uint32_t base) {
  if (!section.words.empty()) {
    Copy(section.words, section.imports, base, 0);
  }
}

// The bound is the sum of everything that may be written: code objects know their words, and an
// entry point names at most all globals. With it the output is one block of memory, nothing is
// checked while words are written, and the check at the end would find a wrong bound.
std::span<const uint32_t> ModuleWriter::Write(const ir::SpecialisedProgram& variant,
                                              const layout::Layout& layout, uint32_t index) {
  uint32_t bound = module_.word_bound + kHeaderWords + kCopySlack;
  bound += static_cast<uint32_t>(PreambleOf(module_.needs).size());
  for (uint32_t i = 0; i < module_.entry_count; ++i) {
    bound += 3 + TextWords(module_.entries[i].ref->name) + numbering_.live_globals();
    bound += kModeWords;
  }
  uint32_t* const words = WordsOf(index, bound);
  out_ = words;
  WriteHead(variant);
  WriteDebug();
  WriteAnnotations(layout);
  PutAll(numbering_.definitions());
  for (uint32_t i = 0; i < module_.entry_count; ++i) {
    WriteEntry(module_.entries[i]);
  }
  const auto count = static_cast<size_t>(out_ - words);
  KILN_CHECK(count <= bound, "{} words of {}", count, bound);
  return {words, count};
}

// Words that are the same for many modules and are kept ready.
void ModuleWriter::PutAll(std::span<const uint32_t> words) {
  std::memcpy(out_, words.data(), words.size_bytes());
  out_ += words.size();
}

// Capabilities, extensions; a module needs one of very few sets.
const std::vector<uint32_t>& ModuleWriter::PreambleOf(target::Needs needs) {
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

void ModuleWriter::WriteHead(const ir::SpecialisedProgram& variant) {
  Put(spv::MagicNumber);
  Put(table_.target().spirv_version);
  Put(0);
  Put(numbering_.id_bound());
  Put(0);
  // From here on the order is that of the sections of a module: capabilities, extensions, imports
  // of instructions, memory model, entry points, modes.
  PutAll(PreambleOf(module_.needs));
  PutAll(numbering_.imports());
  Put(First(Op::OpMemoryModel, 3));
  Put(static_cast<uint32_t>(spv::AddressingModel::Logical));
  Put(static_cast<uint32_t>(spv::MemoryModel::GLSL450));
  for (uint32_t i = 0; i < module_.entry_count; ++i) {
    WriteEntryPoint(module_.entries[i]);
  }
  for (uint32_t i = 0; i < module_.entry_count; ++i) {
    WriteModes(module_.entries[i], variant);
  }
}

// Below 1.4 the interface is the inputs and outputs; from then on all variables.
void ModuleWriter::WriteEntryPoint(const LiveEntry& entry) {
  // The length is known at the end; the first word is written then.
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
      Put(numbering_.numbers()[row.symbol.value]);
    }
  }
  *first = First(Op::OpEntryPoint, static_cast<uint32_t>(out_ - first));
}

// Stage variables are globals of the store, made at their first use in any variant.
bool ModuleWriter::HasStageVariable(const LiveEntry& entry, ir::StageVariable variable) const {
  const GlobalId global = store_.FindStageVariable(variable);
  return global.valid() && Test(entry.live, global);
}

// OriginUpperLeft and LocalSize are required by the stage; the others follow from what is
// written.
void ModuleWriter::WriteModes(const LiveEntry& entry, const ir::SpecialisedProgram& variant) {
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
      // Depth is written by the language's own variable, or by a row of a typed module's interface.
      if (HasStageVariable(entry, ir::StageVariable::kFragDepth)) {
        put_mode(spv::ExecutionMode::DepthReplacing, 0);
      }
      for (const spv::ExecutionMode mode : DepthModesOf(*entry.ref, table_.pool())) {
        put_mode(mode, 0);
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

// The code objects of a function with the first id of each.
template <class Visit>
void ModuleWriter::ForRuns(const LiveFunction& function, Visit visit) const {
  const FunctionImage& image = *function.image;
  for (size_t i = 0; i < image.runs.size(); ++i) {
    visit(ModuleRun{&store_[image.runs[i]], function.base + image.first_ids[i]});
  }
}

// Names first of globals, then of functions: the order within the part does not matter to
// SPIR-V.
void ModuleWriter::WriteDebug() {
  for (const ModuleRun& global : numbering_.named()) {
    WriteSection(global.object->part(Part::kDebug), global.base);
  }
  for (const LiveFunction& function : module_.functions) {
    if (function.image->is_flat) {
      WriteFlat(function.image->debug, function.base);
      continue;
    }
    WriteSection(store_[function.image->head].part(Part::kDebug), function.base);
    ForRuns(function,
            [&](const ModuleRun& run) { WriteSection(run.object->part(Part::kDebug), run.base); });
  }
}

// Slots are positions in the annotations, and the words have just been written.
void ModuleWriter::FillSlots(const ModuleRun& run, uint32_t* words, const layout::Layout& layout) {
  for (const LayoutRelocation& slot : store_.Slots(*run.object)) {
    words[slot.position] = NumberOf(slot, layout);
  }
}

// Ids are those of this module, numbers of bindings those of the layout: both are put into
// words that were copied.
void ModuleWriter::WriteAnnotations(const layout::Layout& layout) {
  for (const ModuleRun& global : numbering_.decorated()) {
    uint32_t* const words = out_;
    WriteSection(global.object->part(Part::kAnnotations), global.base);
    if (!global.object->slots.empty()) {
      FillSlots(global, words, layout);
    }
  }
  for (const LiveFunction& function : module_.functions) {
    if (function.image->is_flat) {
      WriteFlat(function.image->annotations, function.base);
      continue;
    }
    ForRuns(function, [&](const ModuleRun& run) {
      WriteSection(run.object->part(Part::kAnnotations), run.base);
      // No function hands images on, so no parameter can be non-uniform.
      if (!module_.has_flows) {
        return;
      }
      for (const Conditional& conditional : store_.Conditionals(*run.object)) {
        if (numbering_.IsNonUniform(conditional.parameter)) {
          WriteSection(conditional.words, run.base);
        }
      }
    });
  }
}

// The functions that this entry point is the first to reach. In a combined module the others
// are there already.
void ModuleWriter::WriteEntry(const LiveEntry& entry) {
  const auto functions =
      std::span(module_.functions).subspan(entry.first_function, entry.function_count);
  // All functions get their numbers before any is written, since a call may name one that comes
  // later. Functions that depend on their stage have one symbol for several versions: the numbers
  // are those of this entry until the next one sets its own.
  for (const LiveFunction& function : functions) {
    numbering_.numbers()[function.image->version.function.value] = function.base;
  }
  for (const LiveFunction& function : functions) {
    if (function.image->is_flat) {
      WriteFlat(function.image->body, function.base);
    } else {
      WriteFunction(function);
    }
  }
}

// A function is its head, its variables, then the code of its regions in the order of control.
void ModuleWriter::WriteFunction(const LiveFunction& function) {
  CheckStop();
  const FunctionImage& image = *function.image;
  // The names of the function: locals and labels that regions inside of others refer to. They get
  // their numbers before anything is copied, as copying looks imports up in the same table.
  // Functions do not share names, so the numbers of the last function cannot be met.
  ForRuns(function, [&](const ModuleRun& run) {
    uint32_t number = run.base;
    for (const SymbolId name : store_.Reserved(*run.object)) {
      numbering_.numbers()[name.value] = number++;
    }
  });
  WriteSection(store_[image.head].part(Part::kDeclarations), function.base);
  ForRuns(function, [&](const ModuleRun& run) {
    WriteSection(run.object->part(Part::kVariables), run.base);
  });
  for (const Chunk& chunk : image.chunks) {
    const Section& code = store_[image.runs[chunk.run]].part(Part::kCode);
    Copy({code.words.first + chunk.word, chunk.word_end - chunk.word},
         {code.imports.first + chunk.import, chunk.import_end - chunk.import},
         function.base + image.first_ids[chunk.run], chunk.word);
  }
  // Lowering does not end a region that flows on, as it may stand inside of another. Here it is
  // known that nothing follows.
  if (image.end == End::kFlows) {
    Put(First(Op::OpReturn, 1));
  }
  Put(First(Op::OpFunctionEnd, 1));
}

// Memory only grows, for each index apart: the modules of one variant are asked for in turn and
// stay valid together.
uint32_t* ModuleWriter::WordsOf(uint32_t index, uint32_t count) {
  if (words_.size() <= index) {
    words_.resize(index + size_t{1});
  }
  if (words_[index].size() < count) {
    words_[index].resize(count);
  }
  return words_[index].data();
}

}  // namespace kiln::spirv
