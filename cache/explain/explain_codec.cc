// SPDX-License-Identifier: MIT
// An explain record as bytes (spec/cache 11). The record carries all inputs of a request as texts,
// so that a later process can compare two of them without knowing the sources. Domain
// kiln.explain.1: 1 time, 2 lane, 3 trace, 4 modules, 5 dependencies?, 6 entry points, 7 pipeline,
// 8 target?, 9 options?, 10 fingerprints?, 11 limits?, 12 recipes?, 13 result, 14 level, 15 mask?,
// 16 live options?, 17 stage times?, 18 bytes, 19 signature?, 20 cause, 21 detail, 22 made, 23
// slot, 24 watcher?, 25 language?. '?': left out when empty.
#include "cache/explain/explain_codec.h"

#include <utility>

#include "compiler/base/hash/canonical.h"

namespace kiln::cache {
namespace {

constexpr std::string_view kDomain = "kiln.explain.1";

Error Corrupt(std::string_view what) {
  return {.code = ErrorCode::kCorrupt, .context = "explain record: " + std::string(what)};
}

// A list without rows is left out, so that an empty field has one encoding.
void Write(CanonicalWriter& writer, uint8_t tag, const std::vector<NamedText>& rows) {
  CanonicalList list;
  for (const NamedText& row : rows) {
    list.List(CanonicalList().Text(row.name).Text(row.value));
  }
  if (!rows.empty()) {
    writer.List(tag, list);
  }
}

void Write(CanonicalWriter& writer, uint8_t tag, const std::vector<std::string>& texts) {
  CanonicalList list;
  for (const std::string& text : texts) {
    list.Text(text);
  }
  if (!texts.empty()) {
    writer.List(tag, list);
  }
}

// Rows by a function for each, and never more of them than bytes are there.
template <class Row, class Decode>
Result<std::vector<Row>> Read(CanonicalReader& reader, uint8_t tag, const Decode& decode) {
  std::vector<Row> rows;
  if (!reader.Has(tag)) {
    return rows;
  }
  KILN_TRY(const std::vector<ByteView> items, reader.List(tag));
  // One value has one encoding: an empty list that is present would be a second way to write the
  // absent one.
  if (items.empty()) {
    return Corrupt("empty list is present");
  }
  for (const ByteView item : items) {
    KILN_TRY(Row row, decode(item));
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::string> TextOf(ByteView item) {
  KILN_TRY(const std::string_view text, DecodeText(item));
  return std::string(text);
}

Result<NamedText> NamedTextOf(ByteView item) {
  KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(item, 2));
  NamedText row;
  KILN_TRY(row.name, TextOf(parts[0]));
  KILN_TRY(row.value, TextOf(parts[1]));
  return row;
}

// The image is the hash of the module's IR. It tells an edit that changed nothing from one that did
// (spec/cache 2.4.3).
Result<ExplainModule> ModuleOf(ByteView item) {
  KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(item, 3));
  ExplainModule row;
  KILN_TRY(row.path, TextOf(parts[0]));
  KILN_TRY(row.source, DecodeContent(parts[1]));
  KILN_TRY(row.image, DecodeHash(parts[2]));
  return row;
}

Result<ExplainDependency> DependencyOf(ByteView item) {
  KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(item, 2));
  ExplainDependency row;
  KILN_TRY(row.path, TextOf(parts[0]));
  if (!parts[1].empty()) {
    KILN_TRY(row.digest, DecodeContent(parts[1]));
  }
  return row;
}

Result<std::pair<std::string, uint64_t>> TimeOf(ByteView item) {
  KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(item, 2));
  std::pair<std::string, uint64_t> row;
  KILN_TRY(row.first, TextOf(parts[0]));
  KILN_TRY(row.second, DecodeU64(parts[1]));
  return row;
}

// Modules are always written: a request without a source cannot be. The other lists are left out
// when they are empty.
void WriteInputs(CanonicalWriter& writer, const ExplainInputs& inputs) {
  CanonicalList modules;
  for (const ExplainModule& module : inputs.modules) {
    modules.List(CanonicalList().Text(module.path).Content(module.source).Hash(module.image));
  }
  writer.List(4, modules);
  CanonicalList dependencies;
  for (const ExplainDependency& file : inputs.dependencies) {
    CanonicalList parts = CanonicalList().Text(file.path);
    // An empty item is a file that was looked for and was not there.
    dependencies.List(file.digest.has_value() ? parts.Content(*file.digest) : parts.Raw({}));
  }
  if (!inputs.dependencies.empty()) {
    writer.List(5, dependencies);
  }
  Write(writer, 6, inputs.entry_points);
  writer.Text(7, inputs.pipeline);
  Write(writer, 8, inputs.target);
  Write(writer, 9, inputs.options);
  Write(writer, 10, inputs.fingerprints);
  Write(writer, 11, inputs.limits);
  Write(writer, 12, inputs.recipes);
}

Result<ExplainInputs> ReadInputs(CanonicalReader& reader) {
  ExplainInputs inputs;
  KILN_TRY(const std::vector<ByteView> modules, reader.List(4));
  for (const ByteView item : modules) {
    KILN_TRY(ExplainModule module, ModuleOf(item));
    inputs.modules.push_back(std::move(module));
  }
  KILN_TRY(inputs.dependencies, Read<ExplainDependency>(reader, 5, DependencyOf));
  KILN_TRY(inputs.entry_points, Read<NamedText>(reader, 6, NamedTextOf));
  KILN_TRY(const std::string_view pipeline, reader.Text(7));
  inputs.pipeline = pipeline;
  KILN_TRY(inputs.target, Read<NamedText>(reader, 8, NamedTextOf));
  KILN_TRY(inputs.options, Read<NamedText>(reader, 9, NamedTextOf));
  KILN_TRY(inputs.fingerprints, Read<NamedText>(reader, 10, NamedTextOf));
  KILN_TRY(inputs.limits, Read<NamedText>(reader, 11, NamedTextOf));
  KILN_TRY(inputs.recipes, Read<std::string>(reader, 12, TextOf));
  KILN_TRY(inputs.language, Read<NamedText>(reader, 25, NamedTextOf));
  return inputs;
}

Result<ExplainSlot> ReadSlot(CanonicalReader& reader) {
  KILN_TRY(const ByteView tuple, reader.Raw(23));
  KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(tuple, 4));
  ExplainSlot slot;
  KILN_TRY(slot.space, DecodeU32(parts[0]));
  KILN_TRY(slot.project, TextOf(parts[1]));
  KILN_TRY(slot.program, TextOf(parts[2]));
  KILN_TRY(slot.target, TextOf(parts[3]));
  return slot;
}

// The mask is optional in a different way from lists: no mask was tried, or one with no names
// matched.
Result<void> ReadOutcome(CanonicalReader& reader, ExplainRecord& record) {
  KILN_TRY(const uint32_t result, reader.U32(13));
  KILN_TRY(const std::string_view level, reader.Text(14));
  if (reader.Has(15)) {
    KILN_TRY(const std::vector<ByteView> names, reader.List(15));
    record.mask.emplace();
    for (const ByteView name : names) {
      KILN_TRY(std::string text, TextOf(name));
      record.mask->push_back(std::move(text));
    }
  }
  KILN_TRY(record.live_options, Read<std::string>(reader, 16, TextOf));
  using Time = std::pair<std::string, uint64_t>;
  KILN_TRY(record.stage_us, Read<Time>(reader, 17, TimeOf));
  KILN_TRY(record.bytes, reader.U64(18));
  if (reader.Has(19)) {
    KILN_TRY(record.signature, reader.Hash(19));
  }
  KILN_TRY(const uint32_t cause, reader.U32(20));
  KILN_TRY(const std::string_view detail, reader.Text(21));
  KILN_TRY(const uint64_t made_ms, reader.U64(22));
  // Numbers of enumerations are checked before they become one: the record comes from a file.
  if (result > static_cast<uint32_t>(ExplainResult::kHitUpstream) || cause >= kCauseCount) {
    return Corrupt("unknown result or cause");
  }
  record.result = static_cast<ExplainResult>(result);
  record.level = level;
  record.cause = static_cast<Cause>(cause);
  record.detail = detail;
  record.made_ms = static_cast<int64_t>(made_ms);
  return {};
}

}  // namespace

// Tags ascend, which the writer checks; a new member gets the next number and is left out when it
// is empty, so older records stay readable.
Bytes EncodeExplain(const ExplainRecord& record) {
  CanonicalWriter writer(kDomain);
  writer.U64(1, static_cast<uint64_t>(record.at_ms)).Text(2, record.lane).Text(3, record.trace);
  WriteInputs(writer, *record.inputs);
  writer.U32(13, static_cast<uint32_t>(record.result)).Text(14, record.level);
  if (record.mask.has_value()) {
    CanonicalList names;
    for (const std::string& name : *record.mask) {
      names.Text(name);
    }
    writer.List(15, names);  // an empty mask is one that matched
  }
  Write(writer, 16, record.live_options);
  CanonicalList times;
  for (const auto& [stage, us] : record.stage_us) {
    times.List(CanonicalList().Text(stage).U64(us));
  }
  if (!record.stage_us.empty()) {
    writer.List(17, times);
  }
  writer.U64(18, record.bytes);
  if (!record.signature.zero()) {
    writer.Hash(19, record.signature);
  }
  writer.U32(20, static_cast<uint32_t>(record.cause)).Text(21, record.detail);
  writer.U64(22, static_cast<uint64_t>(record.made_ms));
  const ExplainSlot& slot = record.slot;
  writer.List(
      23, CanonicalList().U32(slot.space).Text(slot.project).Text(slot.program).Text(slot.target));
  if (!record.watcher.zero()) {
    writer.Hash(24, record.watcher);
  }
  Write(writer, 25, record.inputs->language);
  return std::move(writer).bytes();
}

// Errors: kCorrupt. Whoever reads many records skips one that does not decode.
Result<ExplainRecord> DecodeExplain(ByteView bytes) {
  KILN_TRY(CanonicalReader reader, CanonicalReader::Open(bytes, kDomain));
  ExplainRecord record;
  KILN_TRY(const uint64_t at_ms, reader.U64(1));
  KILN_TRY(const std::string_view lane, reader.Text(2));
  KILN_TRY(const std::string_view trace, reader.Text(3));
  record.at_ms = static_cast<int64_t>(at_ms);
  record.lane = lane;
  record.trace = trace;
  KILN_TRY(record.inputs, ReadInputs(reader));
  KILN_TRY_VOID(ReadOutcome(reader, record));
  KILN_TRY(record.slot, ReadSlot(reader));
  if (reader.Has(24)) {
    KILN_TRY(record.watcher, reader.Hash(24));
  }
  // Nothing may be left over, or two encodings would mean one record.
  KILN_TRY_VOID(reader.Finish());
  return record;
}

}  // namespace kiln::cache
