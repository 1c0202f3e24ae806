// SPDX-License-Identifier: MIT
// `kiln pack stats` (spec/cli 6.10): what takes the room in a pack, by section, kind of block, kind
// of content and program. All numbers come from the tables that are read when the pack is opened;
// no content is decompressed.
#include "client/cli/pack/stats.h"

#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cache/pack/write/cost.h"
#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/units.h"
#include "client/cli/pack/files.h"

namespace kiln::cli {
namespace {

struct PackStatsArguments {
  std::string file;
  std::vector<std::string> bases;  // beside those in the folder of the file
};

using Json = nlohmann::ordered_json;

std::string_view CodecName(pack::Codec codec) {
  switch (codec) {
    case pack::Codec::kRaw:
      return "none";
    case pack::Codec::kZstd:
      return "zstd";
    case pack::Codec::kZstdAfterBlock:
      return "zstd after block";
    case pack::Codec::kZstdAfterBase:
      return "zstd after base";
  }
  return "unknown";
}

// "68.3x"; nothing to divide by: "-".
std::string RatioText(uint64_t raw, uint64_t stored) {
  return stored == 0
             ? "-"
             : fmt::format("{:.1f}x", static_cast<double>(raw) / static_cast<double>(stored));
}

struct NamedBlocks {
  std::string_view name;
  const pack::BlockCost& cost;
};
// The names are those of the JSON form and of the text form alike, so both are printed from this
// one list.
std::array<NamedBlocks, 4> BlocksOf(const pack::PackCost& cost) {
  return {{{"first", cost.first},
           {"after first", cost.after_first},
           {"after base", cost.after_base},
           {"raw", cost.raw}}};
}

struct NamedBlobs {
  std::string_view name;
  const pack::BlobCost& cost;
};
// Modules are SPIR-V; "others" is everything else, such as metadata.
std::array<NamedBlobs, 2> BlobsOf(const pack::PackCost& cost) {
  return {{{"modules", cost.modules}, {"others", cost.others}}};
}

Json CostJson(const pack::BlobCost& cost) {
  return {{"blobs", cost.blobs}, {"raw_bytes", cost.raw_bytes}, {"bytes", cost.stored_bytes}};
}

// In bytes throughout, and with kinds of blocks that are not there: scripts compare the stats of
// two packs member by member.
void PrintJson(const std::string& file, const pack::Pack& pack, const pack::PackCost& cost) {
  const pack::Tables& tables = pack.tables();
  Json sections = Json::array();
  for (const pack::SectionEntry& section : tables.sections) {
    sections.push_back({{"kind", pack::SectionName(section.kind)},
                        {"codec", CodecName(section.codec)},
                        {"rows", section.rows},
                        {"raw_bytes", section.raw_size},
                        {"bytes", section.stored_size}});
  }
  Json blocks = Json::array();
  for (const auto& [name, blocks_cost] : BlocksOf(cost)) {
    blocks.push_back({{"kind", name},
                      {"blocks", blocks_cost.blocks},
                      {"raw_bytes", blocks_cost.raw_bytes},
                      {"bytes", blocks_cost.stored_bytes}});
  }
  Json blobs = Json::array();
  for (const auto& [name, blobs_cost] : BlobsOf(cost)) {
    Json row{{"kind", name}};
    row.update(CostJson(blobs_cost));
    blobs.push_back(std::move(row));
  }
  Json programs = Json::array();
  for (const pack::ProgramCost& program : cost.programs) {
    Json row{{"name", program.name}, {"target", program.target}, {"artifacts", program.artifacts}};
    row.update(CostJson(program.blobs));
    programs.push_back(std::move(row));
  }
  const Json object{{"v", 1},
                    {"type", "pack_stats"},
                    {"path", file},
                    {"id", pack.id().hex()},
                    {"bytes", tables.header.file_size},
                    {"index_bytes", cost.index_bytes},
                    {"index_raw_bytes", cost.index_raw_bytes},
                    {"signature_bytes", cost.signature_bytes},
                    {"data_bytes", cost.data_bytes},
                    {"symbol_bytes", cost.symbol_bytes},
                    {"in_base", cost.in_base},
                    {"sections", sections},
                    {"blocks", blocks},
                    {"blobs", blobs},
                    {"programs", programs}};
  PrintLine(object);
}

// One width for all tables, so that the columns of bytes stand below each other. Bytes are not
// shortened to MiB, since the smallest sections matter as well.
void PrintText(const std::string& file, const pack::Pack& pack, const pack::PackCost& cost) {
  const pack::Tables& tables = pack.tables();
  // What a game would have to ship without a pack. The ratio takes the whole file, with index and
  // signature.
  const uint64_t raw = cost.modules.raw_bytes + cost.others.raw_bytes;
  Print("{}  {} for {} raw, {}\n", file, SizeText(tables.header.file_size), SizeText(raw),
        RatioText(raw, tables.header.file_size));
  Print("  {:<24} {:>12} {:>12} {:>8} {:>9}\n", "section", "bytes", "raw", "ratio", "rows");
  for (const pack::SectionEntry& section : tables.sections) {
    Print("  {:<24} {:>12} {:>12} {:>8} {:>9}\n", pack::SectionName(section.kind),
          section.stored_size, section.raw_size, RatioText(section.raw_size, section.stored_size),
          section.rows);
  }
  Print("  {:<24} {:>12} {:>12} {:>8} {:>9}\n", "blocks", "bytes", "raw", "ratio", "blocks");
  for (const auto& [name, blocks] : BlocksOf(cost)) {
    if (blocks.blocks != 0) {
      Print("  {:<24} {:>12} {:>12} {:>8} {:>9}\n", name, blocks.stored_bytes, blocks.raw_bytes,
            RatioText(blocks.raw_bytes, blocks.stored_bytes), blocks.blocks);
    }
  }
  Print("  {:<24} {:>12} {:>12} {:>8} {:>9}\n", "blobs", "bytes", "raw", "ratio", "blobs");
  for (const auto& [name, blobs] : BlobsOf(cost)) {
    Print("  {:<24} {:>12} {:>12} {:>8} {:>9}\n", name, blobs.stored_bytes, blobs.raw_bytes,
          RatioText(blobs.raw_bytes, blobs.stored_bytes), blobs.blobs);
  }
  Print("  {:<24} {:>12}\n", "symbols", cost.symbol_bytes);
  if (cost.in_base != 0) {
    Print("  {:<24} {:>12} {:>12} {:>8} {:>9}\n", "in the base", "", "", "", cost.in_base);
  }
  // A blob that several programs share is counted for the first of them only, so the rows add up.
  Print("  {:<24} {:>12} {:>12} {:>8} {:>9}\n", "program", "bytes", "raw", "ratio", "artifacts");
  for (const pack::ProgramCost& program : cost.programs) {
    Print("  {:<24} {:>12} {:>12} {:>8} {:>9}\n",
          fmt::format("{} {}", program.name, program.target), program.blobs.stored_bytes,
          program.blobs.raw_bytes, RatioText(program.blobs.raw_bytes, program.blobs.stored_bytes),
          program.artifacts);
  }
}

int RunPackStats(const Global& global, const PackStatsArguments& arguments) {
  const Result<std::unique_ptr<pack::Pack>> pack = OpenPack(arguments.file, arguments.bases);
  if (!pack.ok()) {
    return FailPack(global, pack.error());
  }
  const pack::PackCost cost = pack::CostOf((*pack)->tables());
  global.json ? PrintJson(arguments.file, **pack, cost) : PrintText(arguments.file, **pack, cost);
  NoteResult("pack stats", 0, {});
  return kSuccess;
}

}  // namespace

void AddPackStats(CLI::App& pack, CommandLine& line) {
  const auto arguments = std::make_shared<PackStatsArguments>();
  CLI::App* stats = AddVerb(pack, line,
                            {"stats", "What costs what in a pack",
                             "  kiln pack stats demo.kpack\n  kiln pack stats demo.kpack --json"},
                            [&line, arguments] { return RunPackStats(line.global, *arguments); });
  stats->add_option("file", arguments->file, "Pack file")->required();
  AddBases(*stats, arguments->bases);
}

}  // namespace kiln::cli
