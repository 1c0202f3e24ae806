// SPDX-License-Identifier: MIT
// What a worker that reads sources is sent and what it answers (spec/daemon 12.4). The daemon
// checks the answer against what it sent: places lie inside of the texts, files were given, probes
// found what was given. Beyond that a hostile worker can do no more than a hostile source.
#include "server/worker/reading.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/hash/canonical.h"
#include "compiler/diag/encode.h"
#include "compiler/ir/module_files.h"
#include "compiler/source/macro_path.h"
#include "compiler/source/probe_list.h"

namespace kiln::worker {
namespace {

// Forms of the two payloads. To be read: limits (u32 each, in the order of the table), then 1 text;
// 2 settings; 3 macros; 4 include roots; 5 files, as lists of pairs or texts; 6 choices of macros,
// if there are any, as pairs: "=VALUE", or nothing where it is not defined.
constexpr std::string_view kInputDomain = "kiln.toread.1";
// What was read: 1 diagnostics; 2 image; 3 files of the module; 4 probes. Each is left out where it
// is empty.
constexpr std::string_view kReadDomain = "kiln.read.1";

Error Corrupt(const char* what) {
  return {.code = ErrorCode::kCorrupt, .context = what, .reason = {}};
}

// ---- Out ----------------------------------------------------------------------------------------

// A worker is not believed: a place behind the end of the text would be read when the message is
// shown.
bool IsInside(const Location& where, uint64_t size) {
  return !where.known() ||
         (where.module == 0 && where.bytes.begin <= where.bytes.end && where.bytes.end <= size);
}

bool IsInside(const Diagnostic& diagnostic, uint64_t size) {
  return IsInside(diagnostic.primary, size) &&
         (!diagnostic.fix.has_value() || IsInside(diagnostic.fix->where, size)) &&
         std::ranges::all_of(diagnostic.labels,
                             [&](const Label& label) { return IsInside(label.where, size); });
}

// The given files by path.
class GivenFiles {
 public:
  explicit GivenFiles(const ReadInputs& inputs)
      : root_(inputs.source), macros_(inputs.settings.macros) {
    for (const SourceFile* const file : inputs.files) {
      by_path_.emplace(file->path, file);
    }
  }

  // Whether a file found what it found, as far as it was given. A file that was given cannot be
  // absent, and one that was not given cannot have been found.
  // The same of macros that were chosen: one that is defined has its value.
  bool Allows(const Probe& probe) const {
    if (IsMacroPath(probe.path)) {
      const hlsl::MacroChoice* const macro = hlsl::FindMacro(macros_, MacroOfPath(probe.path));
      return macro != nullptr && macro->value.has_value() == probe.present &&
             (!probe.present || DigestOf(std::string_view(*macro->value)) == probe.digest);
    }
    const auto found = by_path_.find(probe.path);
    return probe.present ? found != by_path_.end() && found->second->digest == probe.digest
                         : found == by_path_.end();
  }

  // The bytes of the row of all files: each begins one behind the end of the one before it. Nothing
  // if these are not the root and given files. Rows count in the bytes of all files, one after the
  // other, the root first.
  std::optional<uint64_t> LengthOf(const ir::ModuleFiles& files) const {
    uint64_t end = 0;
    for (size_t i = 0; i < files.files.size(); ++i) {
      const ir::ModuleFile& row = files.files[i];
      const auto found = by_path_.find(row.path);
      const SourceFile* const file = i == 0                    ? &root_
                                     : found == by_path_.end() ? nullptr
                                                               : found->second;
      const uint64_t first = i == 0 ? 0 : end + 1;
      if (file == nullptr || file->path != row.path || file->digest != row.digest ||
          row.first != first) {
        return std::nullopt;
      }
      end = first + file->text.size();
    }
    // Includes and line marks are places in the same bytes.
    const bool inside =
        std::ranges::all_of(files.files,
                            [&](const ir::ModuleFile& row) { return row.included.end <= end; }) &&
        std::ranges::all_of(files.marks, [&](const LineMark& mark) { return mark.begin <= end; });
    return inside && !files.files.empty() ? std::optional(end) : std::nullopt;
  }

 private:
  const SourceFile& root_;
  const std::span<const hlsl::MacroChoice> macros_;
  std::map<std::string_view, const SourceFile*> by_path_;
};

// Spans are compared with the texts that this process has, and the image must be of the files that
// the worker names beside it.
Result<ir::Module> ReadImage(ir::Language language, ByteView image,
                             const std::optional<ir::ModuleFiles>& files, uint64_t size) {
  KILN_TRY(ir::Module module, driver::LoadModule(language, image));
  if (!std::ranges::all_of(module.view().spans, [&](const Span& span) {
        return span.begin <= span.end && span.end <= size;
      })) {
    return Corrupt("an image with places outside of its source");
  }
  KILN_TRY(const std::optional<ir::ModuleFiles> own, ir::FilesOf(module));
  const bool agrees = own.has_value() ? files.has_value() && *own == *files
                                      : !files.has_value() || files->files.size() == 1;
  return agrees ? Result<ir::Module>(std::move(module))
                : Corrupt("an image of other files than it was read from");
}

// ---- In -----------------------------------------------------------------------------------------

template <class Rows, class Name, class Value>
CanonicalList PairsOf(const Rows& rows, const Name& name, const Value& value) {
  CanonicalList list;
  for (const auto& row : rows) {
    list.Tuple({AsBytes(name(row)), AsBytes(value(row))});
  }
  return list;
}

Result<std::vector<std::pair<std::string, std::string>>> ReadPairs(CanonicalReader& reader,
                                                                   uint8_t tag) {
  std::vector<std::pair<std::string, std::string>> pairs;
  KILN_TRY(const std::vector<ByteView> rows, reader.List(tag));
  for (const ByteView row : rows) {
    KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(row, 2));
    pairs.emplace_back(AsText(parts[0]), AsText(parts[1]));
  }
  return pairs;
}

struct ReadJob {
  SourceFile source;
  driver::SourceInputs inputs;
};

// In the worker. The daemon wrote this, but errors are still errors: the worker ends with an answer
// and no crash.
Result<ReadJob> DecodeJob(ir::Language language, const std::string& path, ByteView bytes) {
  KILN_TRY(CanonicalReader reader, CanonicalReader::Open(bytes, kInputDomain));
  KILN_TRY(const ByteView text, reader.Raw(1));
  ReadJob job{.source = SourceFile(path, std::string(AsText(text))),
              .inputs = {.language = language, .files = {}, .hlsl = {}}};
  KILN_TRY(const auto settings, ReadPairs(reader, 2));
  for (const auto& [name, value] : settings) {
    KILN_TRY_VOID(hlsl::SetSetting(name, value, job.inputs.hlsl));
  }
  KILN_TRY(auto defines, ReadPairs(reader, 3));
  for (auto& [name, value] : defines) {
    job.inputs.hlsl.defines.push_back({.name = std::move(name), .value = std::move(value)});
  }
  KILN_TRY(const std::vector<ByteView> roots, reader.List(4));
  for (const ByteView root : roots) {
    job.inputs.hlsl.include_roots.emplace_back(AsText(root));
  }
  KILN_TRY(auto files, ReadPairs(reader, 5));
  for (auto& [name, content] : files) {
    job.inputs.files.Add({std::move(name), std::move(content)});
  }
  if (reader.Has(6)) {
    KILN_TRY(auto macros, ReadPairs(reader, 6));
    for (auto& [name, value] : macros) {
      job.inputs.hlsl.macros.push_back(
          {.name = std::move(name),
           .value = value.empty() ? std::nullopt : std::optional(value.substr(1))});
    }
  }
  KILN_TRY_VOID(reader.Finish());
  return job;
}

}  // namespace

Bytes EncodeReading(const driver::ParsedSource& read) {
  CanonicalWriter writer(kReadDomain);
  if (!read.module.diagnostics.empty()) {
    writer.Raw(1, EncodeDiagnostics(read.module.diagnostics));
  }
  if (read.module.value.has_value()) {
    writer.Raw(2, read.module.value->image());
  }
  if (read.files.has_value()) {
    writer.Raw(3, ir::EncodeFiles(*read.files));
  }
  if (!read.probes.empty()) {
    writer.Raw(4, EncodeProbes(read.probes));
  }
  return std::move(writer).bytes();
}

// In the daemon; everything in it may be made up. First the parts, then what they say about each
// other: files were given, probes found what was given, the image has places inside of these files
// only, and so do diagnostics. What may still be false is the meaning of the image, which is as a
// hostile source could have it.
Result<driver::ParsedSource> DecodeReading(ir::Language language, ByteView bytes,
                                           const ReadInputs& inputs) {
  KILN_TRY(CanonicalReader reader, CanonicalReader::Open(bytes, kReadDomain));
  driver::ParsedSource read;
  if (reader.Has(1)) {
    KILN_TRY(const ByteView diagnostics, reader.Raw(1));
    KILN_TRY(read.module.diagnostics, DecodeDiagnostics(diagnostics));
  }
  ByteView image;
  if (reader.Has(2)) {
    KILN_TRY(image, reader.Raw(2));
  }
  const GivenFiles given(inputs);
  uint64_t size = inputs.source.text.size();
  if (reader.Has(3)) {
    KILN_TRY(const ByteView encoded, reader.Raw(3));
    KILN_TRY(read.files, ir::DecodeFiles(encoded));
    const std::optional<uint64_t> length = given.LengthOf(*read.files);
    if (!length.has_value()) {
      return Corrupt("files that were not given");
    }
    size = *length;
  }
  if (reader.Has(4)) {
    KILN_TRY(const ByteView encoded, reader.Raw(4));
    KILN_TRY(read.probes, DecodeProbes(encoded));
  }
  KILN_TRY_VOID(reader.Finish());
  if (!std::ranges::all_of(read.probes, [&](const Probe& probe) { return given.Allows(probe); })) {
    return Corrupt("a probe that found something else");
  }
  if (!image.empty()) {
    KILN_TRY(ir::Module module, ReadImage(language, image, read.files, size));
    const std::span<const Span> spans = module.view().spans;
    FillPositions(read.module.diagnostics, [&](uint32_t, uint32_t number) {
      return number < spans.size() ? std::optional(spans[number]) : std::nullopt;
    });
    read.module.value = std::move(module);
  } else if (read.module.diagnostics.empty()) {
    return Corrupt("a reading without image and diagnostics");
  }
  if (!std::ranges::all_of(read.module.diagnostics, [&](const Diagnostic& diagnostic) {
        return IsInside(diagnostic, size);
      })) {
    return Corrupt("a diagnostic outside of its source");
  }
  return read;
}

// Travels where a recipe has its name. The language is in it beside the path, so that a worker of
// another table is noticed.
std::string LanguageAndPath(ir::Language language, const std::string& path) {
  return std::string(driver::LanguageText(language)) + " " + path;
}

Bytes InputOf(const LanguageLimits& limits, const ReadInputs& inputs) {
  Bytes input;
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    AppendLittle(input, limits.*row.value);
  }
  CanonicalWriter writer(kInputDomain);
  writer.Raw(1, AsBytes(inputs.source.text));
  writer.List(2, PairsOf(
                     hlsl::ValuesOf(inputs.settings), [](const auto& row) { return row.name; },
                     [](const auto& row) { return row.value; }));
  writer.List(3, PairsOf(
                     inputs.settings.defines,
                     [](const hlsl::Define& row) { return std::string_view(row.name); },
                     [](const hlsl::Define& row) { return std::string_view(row.value); }));
  CanonicalList roots;
  for (const std::string& root : inputs.settings.include_roots) {
    roots.Raw(AsBytes(root));
  }
  writer.List(4, roots);
  writer.List(5,
              PairsOf(
                  inputs.files, [](const SourceFile* file) { return std::string_view(file->path); },
                  [](const SourceFile* file) { return std::string_view(file->text); }));
  if (!inputs.settings.macros.empty()) {
    CanonicalList macros;
    for (const hlsl::MacroChoice& macro : inputs.settings.macros) {
      const std::string value = macro.value.has_value() ? "=" + *macro.value : std::string();
      macros.Tuple({AsBytes(macro.name), AsBytes(value)});
    }
    writer.List(6, macros);
  }
  Append(input, writer.bytes());
  return input;
}

// In the worker: the whole job, from bytes to bytes.
Result<Bytes> ReadSource(const std::string& language_and_path, ByteView input) {
  const size_t space = language_and_path.find(' ');
  const std::string path =
      space == std::string::npos ? std::string() : language_and_path.substr(space + 1);
  const std::optional<ir::Language> language = driver::LanguageOf(path);
  const size_t limit_bytes = LanguageLimitTable().size() * sizeof(uint32_t);
  if (!language.has_value() || LanguageAndPath(*language, path) != language_and_path ||
      input.size() < limit_bytes) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "no front end reads '" + path + "'",
                 .reason = {}};
  }
  LanguageLimits limits;
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    limits.*row.value = ReadLittle<uint32_t>(input);
    input = input.subspan(sizeof(uint32_t));
  }
  Result<ReadJob> job = DecodeJob(*language, path, input);
  if (!job.ok()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "what is to be read of '" + path + "': " + job.error().context,
                 .reason = {}};
  }
  return EncodeReading(
      driver::ParseSource(*language, job->source, job->inputs, /*module=*/0, limits));
}

}  // namespace kiln::worker
