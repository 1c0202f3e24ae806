// SPDX-License-Identifier: MIT
// Compares layouts of the programs of one material (spec/daemon 6.7.2). Lines of text stand for the
// layout: one for each thing of a set, with every number in it. The first result with some values
// of the common options is kept as lines; later ones with the same values must be equal to it
// outside of the pass set. What was found equal is remembered by layout hash, so metadata is read
// for few results.
#include "server/compile/batch/family_rule.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/printable.h"
#include "compiler/diag/diagnostic.h"

namespace kiln::compile {
namespace {

// The text of a set is what layouts are compared by, so each number that an engine relies on is in
// it. The types are numbers, as in the format of metadata.
std::string ParametersText(const std::vector<artifact::Parameter>& parameters) {
  std::string text;
  for (const artifact::Parameter& parameter : parameters) {
    text += fmt::format(" {} type {} at {} x{}", parameter.name, static_cast<int>(parameter.type),
                        parameter.offset, parameter.total_item_count);
    if (parameter.array_stride != 0 || parameter.matrix_stride != 0) {
      text += fmt::format(" strides {} {}", parameter.array_stride, parameter.matrix_stride);
    }
  }
  return text;
}

std::string_view BufferTypeName(artifact::BufferType type) {
  return type == artifact::BufferType::kUniform ? "uniform buffer" : "storage buffer";
}

// The values that decide a layout, of options that all programs of a family have.
std::vector<std::string> GlobalOptions(const resolve::Program& program) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < program.option_count(); ++i) {
    const ir::OptionId id{i};
    if (program.Get(id).scope == ir::OptionScope::kGlobal) {
      names.emplace_back(program.Text(program.NameOf(id)));
    }
  }
  std::ranges::sort(names);
  return names;
}

// Equal for equal values of one type, and no begin of another one.
std::string ValueText(ir::OptionKind kind, uint32_t bits, std::string_view text) {
  // The number of an enum's value counts in the list of that enum.
  return kind == ir::OptionKind::kEnum ? fmt::format("{};", text) : fmt::format("{};", bits);
}

// An enum's default is a number in its list, which differs between programs, so its text is the
// value.
std::string DefaultOf(const resolve::Program& program, const std::string& name) {
  const ir::OptionId id = program.FindOption(name);
  const ir::Option& option = program.Get(id);
  const uint32_t bits = program.option_defaults()[id.value];
  const ir::ModuleView& module = program.module(program.ModuleOf(id));
  return ValueText(option.kind, bits,
                   option.kind == ir::OptionKind::kEnum
                       ? module.Text(ir::StringId{module.List(option.values)[bits]})
                       : std::string_view());
}

// A line that only one of two sets has is compared with nothing.
const SetLine* Line(const std::vector<SetLine>& lines, size_t index) {
  return index < lines.size() ? &lines[index] : nullptr;
}

std::string CountText(uint32_t count) { return count == 0 ? "" : fmt::format(", x{}", count); }

}  // namespace

// One line for each thing of a set, in the order of bindings. Two layouts are the same where these
// texts are, whatever else metadata says.
SetLines SetLinesOf(const artifact::PipelineMetadata& metadata) {
  SetLines lines;
  for (size_t i = 0; i < lines.size(); ++i) {
    const artifact::Set& set = metadata.sets[i];
    for (const artifact::Buffer& buffer : set.buffers) {
      lines[i].push_back(
          {.name = buffer.name,
           .text =
               fmt::format("binding {}: {} '{}'{}, {} bytes{}{}", buffer.binding,
                           BufferTypeName(buffer.type), buffer.name, CountText(buffer.array_size),
                           buffer.main_size, ParametersText(buffer.main_parameters),
                           buffer.tail_item_size == 0
                               ? std::string()
                               : fmt::format(", tail '{}' at {}, {} bytes{}", buffer.tail_name,
                                             buffer.tail_offset, buffer.tail_item_size,
                                             ParametersText(buffer.tail_item_parameters)))});
    }
    for (const artifact::Sampler& sampler : set.samplers) {
      lines[i].push_back({.name = sampler.name,
                          .text = fmt::format("binding {}: sampler '{}'{}{}", sampler.binding,
                                              sampler.name, CountText(sampler.array_size),
                                              sampler.comparison ? ", comparing" : "")});
    }
    for (const artifact::Image& image : set.images) {
      lines[i].push_back(
          {.name = image.name,
           .text = fmt::format("binding {}: image '{}', type {}, x{} {} {} {}{}", image.binding,
                               image.name, static_cast<int>(image.type), image.image_array_size,
                               image.format, image.access, NameOf(image.item),
                               image.sampler.empty() ? "" : ", sampler '" + image.sampler + "'")});
    }
  }
  return lines;
}

// What was built just now may not be stored yet, so fresh blobs are looked at first.
Result<artifact::PipelineMetadata> MetadataOf(cache::BlobStore& store, const Outcome& outcome,
                                              const cache::Call& call) {
  const Digest& digest = outcome.artifact->metadata;
  for (const FreshBlob& fresh : outcome.fresh) {
    if (fresh.digest == digest) {
      return artifact::DecodeMetadata(fresh.blob.bytes);
    }
  }
  KILN_TRY(const cache::Blob blob, store.Get(cache::ContentKey(digest), call));
  return artifact::DecodeMetadata(blob.bytes);
}

// Options are common if all programs of the family declare them with global scope. Variants are
// compared only where these have the same values: other values may well have another layout
// (spec/daemon 6.7.2).
FamilyRule::FamilyRule(std::string family, std::vector<const PreparedProgram*> programs)
    : family_(std::move(family)), programs_(std::move(programs)) {
  std::vector<std::string> common;
  for (size_t i = 0; i < programs_.size(); ++i) {
    const std::vector<std::string> own = GlobalOptions(programs_[i]->program());
    if (i == 0) {
      common = own;
      continue;
    }
    std::erase_if(common,
                  [&](const std::string& name) { return !std::ranges::binary_search(own, name); });
  }
  for (std::string& name : common) {
    CommonOption& option =
        common_.emplace_back(CommonOption{.name = std::move(name), .defaults = {}});
    for (const PreparedProgram* const prepared : programs_) {
      option.defaults.push_back(DefaultOf(prepared->program(), option.name));
    }
  }
}

// The values of the common options: those of the point, else the fixed ones, else defaults. They
// were checked when the result was built.
std::string FamilyRule::KeyOf(size_t program, std::span<const resolve::OptionSetting> point) const {
  const std::span<const resolve::OptionSetting> fixed = programs_[program]->request.options;
  std::string key;
  for (const CommonOption& option : common_) {
    const auto is_it = [&](const resolve::OptionSetting& s) { return s.name == option.name; };
    const auto at_point = std::ranges::find_if(point, is_it);
    const auto at_fixed = std::ranges::find_if(fixed, is_it);
    key += at_point != point.end()   ? ValueText(at_point->kind, at_point->bits, at_point->text)
           : at_fixed != fixed.end() ? ValueText(at_fixed->kind, at_fixed->bits, at_fixed->text)
                                     : option.defaults[program];
  }
  return key;
}

std::string FamilyRule::Declaration(size_t program, const SetLine* line) const {
  const PreparedProgram& prepared = *programs_[program];
  if (line == nullptr) {
    return fmt::format("'{}' has nothing there", prepared.request.name);
  }
  const resolve::Program& resolved = prepared.program();
  const std::span<const ir::DeclId> found = resolved.Globals(resolved.FindName(line->name));
  std::string file;
  if (!found.empty()) {
    file = fmt::format(" of {}", prepared.linked->value->paths[resolved.ModuleOf(found[0])]);
  }
  return fmt::format("'{}'{} has {}", Shortened(prepared.request.name, kMaxArgument), file,
                     Shortened(WellFormed(line->text), kMaxArgument));
}

PlacedDiagnostic FamilyRule::Difference(size_t set, const First& first, size_t program,
                                        const SetLines& lines) const {
  const std::vector<SetLine>& a = (*first.lines)[set];
  const std::vector<SetLine>& b = lines[set];
  size_t at = 0;
  // The first line that differs is told; lines behind it often differ only because of it.
  while (at < a.size() && at < b.size() && a[at].text == b[at].text) {
    ++at;
  }
  PlacedDiagnostic diagnostic;
  diagnostic.code = kFamilyMismatch;
  diagnostic.name = "family-mismatch";
  diagnostic.message =
      fmt::format("programs of '{}' differ in the {} set: {}; {}", Shortened(family_, kMaxArgument),
                  artifact::kSetNames[set], Declaration(first.program, Line(a, at)),
                  Declaration(program, Line(b, at)));
  diagnostic.notes.emplace_back(
      "help: declare what passes need in the pass set, and the rest in modules that all passes "
      "of the material have");
  return diagnostic;
}

// A member that was told to differ is not compared again: one message for each program.
bool FamilyRule::Knows(size_t program, std::span<const resolve::OptionSetting> point,
                       const Hash128& layout_hash) const {
  if (told_.contains(program)) {
    return true;
  }
  const auto known = firsts_.find(KeyOf(program, point));
  return known != firsts_.end() && known->second.equal.contains({program, layout_hash});
}

// The first result with some values of the common options is the measure of all later ones. Sets
// are compared one by one, but for that of the pass, in which programs may differ.
std::optional<PlacedDiagnostic> FamilyRule::Add(size_t program,
                                                std::span<const resolve::OptionSetting> point,
                                                const Hash128& layout_hash, SetLines lines) {
  if (told_.contains(program)) {
    return std::nullopt;
  }
  const auto [known, is_first] = firsts_.try_emplace(KeyOf(program, point));
  First& first = known->second;
  if (is_first) {
    first.program = program;
    first.lines = std::make_shared<const SetLines>(std::move(lines));
    first.equal.emplace(program, layout_hash);
    return std::nullopt;
  }
  for (size_t set = 0; set < lines.size(); ++set) {
    const auto same = [](const SetLine& a, const SetLine& b) { return a.text == b.text; };
    if (set != static_cast<size_t>(artifact::SetIndex::kPass) &&
        !std::ranges::equal((*first.lines)[set], lines[set], same)) {
      told_.insert(program);
      return Difference(set, first, program, lines);
    }
  }
  first.equal.emplace(program, layout_hash);
  return std::nullopt;
}

}  // namespace kiln::compile
