// SPDX-License-Identifier: MIT
// `kiln pack show` (spec/cli 6.10): what is in a pack, from its tables alone. The content is not
// read, so damage in it is not found here; `kiln pack verify` does that.
#include "client/cli/pack/show.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/units.h"
#include "client/cli/pack/files.h"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PackShowArguments {
  std::string file;
  std::vector<std::string> bases;  // beside those in the folder of the file
};

// A pack without any flag has everything it needs and is called complete.
std::string FlagsText(uint32_t flags) {
  std::string text;
  for (const auto& [bit, name] :
       {std::pair(uint32_t{pack::kDelta}, "delta"), std::pair(uint32_t{pack::kSigned}, "signed"),
        std::pair(uint32_t{pack::kCacheExport}, "cache export")}) {
    text += (flags & bit) == 0 ? "" : fmt::format("{}{}", text.empty() ? "" : ", ", name);
  }
  return text.empty() ? "complete" : text;
}

// Members are only ever added (spec/cli 7.1). What costs how much is in `pack stats`; this says
// what is there.
void ShowJson(const std::string& file, const pack::Pack& pack) {
  const pack::Tables& tables = pack.tables();
  Json sections = Json::array();
  for (const pack::SectionEntry& section : tables.sections) {
    sections.push_back({{"kind", pack::SectionName(section.kind)},
                        {"offset", section.offset},
                        {"bytes", section.stored_size},
                        {"rows", section.rows}});
  }
  Json programs = Json::array();
  for (const pack::ProgramRow& program : tables.programs) {
    programs.push_back({{"name", tables.String(program.name)},
                        {"pipeline", tables.String(program.pipeline)},
                        {"options", program.option_count},
                        {"targets", program.entry_count}});
  }
  const Json object{{"v", 1},
                    {"type", "pack"},
                    {"path", file},
                    {"id", pack.id().hex()},
                    {"base", tables.header.base_pack.zero() ? "" : tables.header.base_pack.hex()},
                    {"build", tables.header.build.hex()},
                    {"flags", FlagsText(tables.header.flags)},
                    {"bytes", tables.header.file_size},
                    {"artifacts", tables.artifacts.size()},
                    {"blobs", tables.blobs.size()},
                    {"pipelines", tables.pipelines.size()},
                    {"cache_rows", tables.cache_rows.size()},
                    {"sections", sections},
                    {"programs", programs}};
  PrintLine(object);
}

// The header of the file first, then totals, then the table of sections as it stands in the file,
// then a line for each program and target.
void ShowText(const std::string& file, const pack::Pack& pack) {
  const pack::Tables& tables = pack.tables();
  Print("{}  {}  {}  {}\n", file, pack.id().hex(), SizeText(tables.header.file_size),
        FlagsText(tables.header.flags));
  if (!tables.header.base_pack.zero()) {
    Print("  base {}\n", tables.header.base_pack.hex());
  }
  if (tables.signature.has_value()) {
    Print("  key {}\n", Sha256Hex(tables.signature->key_id));
  }
  // Each blob counts once, however many artifacts share it.
  uint64_t raw = 0;
  for (const pack::BlobRow& blob : tables.blobs) {
    raw += blob.raw_size;
  }
  Print("  {} artifacts, {} pipelines, {} blobs of {} in {} blocks\n", tables.artifacts.size(),
        tables.pipelines.size(), tables.blobs.size(), SizeText(raw), tables.blocks.size());
  if (!tables.cache_rows.empty()) {
    Print("  {} rows of a cache\n", tables.cache_rows.size());
  }
  for (const pack::SectionEntry& section : tables.sections) {
    Print("  {}  {:>12} {:>12} {:>9} rows\n", pack::SectionName(section.kind), section.offset,
          section.stored_size, section.rows);
  }
  for (const pack::ProgramRow& program : tables.programs) {
    for (uint32_t i = 0; i < program.entry_count; ++i) {
      const uint32_t row = program.first_entry + i;
      // Counted over the whole table for each entry. The rows are few, and no index has this
      // number.
      const auto artifacts =
          std::count_if(tables.artifacts.begin(), tables.artifacts.end(),
                        [&](const pack::ArtifactRow& artifact) { return artifact.entry == row; });
      Print("  {:<32} {:<12} {:>4} options {:>8} artifacts\n", tables.String(program.name),
            tables.String(tables.entries[row].target), program.option_count, artifacts);
    }
  }
}

int RunPackShow(const Global& global, const PackShowArguments& arguments) {
  const std::string& file = arguments.file;
  const Result<std::unique_ptr<pack::Pack>> pack = OpenPack(file, arguments.bases);
  if (!pack.ok()) {
    return FailPack(global, pack.error());
  }
  global.json ? ShowJson(file, **pack) : ShowText(file, **pack);
  NoteResult("pack show", 0, {});
  return kSuccess;
}

}  // namespace

void AddPackShow(CLI::App& pack, CommandLine& line) {
  const auto arguments = std::make_shared<PackShowArguments>();
  CLI::App* show = AddVerb(pack, line,
                           {"show", "What is in a pack",
                            "  kiln pack show demo.kpack\n  kiln pack show demo.kpack --json"},
                           [&line, arguments] { return RunPackShow(line.global, *arguments); });
  show->add_option("file", arguments->file, "Pack file")->required();
  AddBases(*show, arguments->bases);
}

}  // namespace kiln::cli
