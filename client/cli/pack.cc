// SPDX-License-Identifier: MIT
// kiln pack: what is in a pack file, whether it is sound, and packs made from packs.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cache/pack/chain.h"
#include "cache/pack/errors.h"
#include "cache/pack/signature.h"
#include "cache/pack/unpack.h"
#include "cache/pack/writer.h"
#include "client/cli/json_line.h"
#include "client/cli/pack_files.h"
#include "client/cli/print.h"
#include "compiler/base/beneath.h"
#include "compiler/base/file.h"
#include "compiler/base/file_name.h"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Packs that may be bases: those that were named and those beside the file.
std::vector<std::string> Candidates(const std::string& file,
                                    const std::vector<std::string>& named) {
  std::vector<std::string> candidates = named;
  const fs::path parent = fs::path(file).parent_path();
  std::error_code error;
  for (fs::directory_iterator it(parent.empty() ? "." : parent, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".kpack") {
      candidates.push_back(it->path().string());
    }
  }
  std::sort(candidates.begin() + static_cast<std::ptrdiff_t>(named.size()), candidates.end());
  return candidates;
}

}  // namespace

Result<std::unique_ptr<pack::Pack>> OpenPack(const std::string& file,
                                             const PackArguments& arguments) {
  pack::ReadOptions options;
  if (!arguments.require_signature.empty()) {
    KILN_TRY(const std::string pem, ReadFile(arguments.require_signature));
    KILN_TRY(const pack::PublicKey key, pack::PublicKey::FromPem(pem));
    options.require_signature.push_back(key);
  }
  return pack::OpenChain(file, Candidates(file, arguments.bases), options);
}

int FailPack(const Global& global, Error error) {
  if (error.reason == pack::kBaseMissing) {
    error.code = ErrorCode::kNotFound;
  }
  return Fail(global, error);
}

Result<std::optional<pack::SigningKey>> KeyOf(const std::string& file) {
  if (file.empty()) {
    return std::optional<pack::SigningKey>();
  }
  KILN_TRY(const std::string pem, ReadFile(file));
  KILN_TRY(pack::SigningKey key, pack::SigningKey::FromPem(pem));
  return std::optional(std::move(key));
}

namespace {

std::string FlagsText(uint32_t flags) {
  std::string text;
  for (const auto& [bit, name] :
       {std::pair(uint32_t{pack::kDelta}, "delta"), std::pair(uint32_t{pack::kSigned}, "signed"),
        std::pair(uint32_t{pack::kCacheExport}, "cache export")}) {
    text += (flags & bit) == 0 ? "" : fmt::format("{}{}", text.empty() ? "" : ", ", name);
  }
  return text.empty() ? "complete" : text;
}

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
      const auto artifacts =
          std::count_if(tables.artifacts.begin(), tables.artifacts.end(),
                        [&](const pack::ArtifactRow& artifact) { return artifact.entry == row; });
      Print("  {:<32} {:<12} {:>4} options {:>8} artifacts\n", tables.String(program.name),
            tables.String(tables.entries[row].target), program.option_count, artifacts);
    }
  }
}

// Files of one artifact, directly in the folder; their number. What the pack calls things decides
// over their names, not over where they are.
Result<uint64_t> WriteArtifact(const PackedArtifact& artifact, const std::string& program,
                               const std::string& folder) {
  const std::string stem = fmt::format("{}.{}.{}", FileNameOf(program), FileNameOf(artifact.target),
                                       artifact.live_key.hex().substr(0, 8));
  uint64_t files = 0;
  for (const PackedArtifact::Code& code : artifact.code) {
    const std::string stage = code.stage.empty() ? "" : "." + code.stage;
    KILN_TRY_VOID(WriteFileBeneath(folder, stem + stage + ".spv", code.blob.bytes));
    ++files;
  }
  if (artifact.metadata.has_value()) {
    KILN_TRY_VOID(WriteFileBeneath(folder, stem + ".meta", artifact.metadata->bytes));
    ++files;
  }
  return files;
}

Result<uint64_t> Extract(const PackArguments& arguments) {
  KILN_TRY(const std::unique_ptr<pack::Pack> pack, OpenPack(arguments.file, arguments));
  KILN_TRY(const std::vector<PackedArtifact> artifacts,
           ArtifactsIn(*pack, arguments.program, arguments.options, arguments.target));
  uint64_t files = 0;
  for (const PackedArtifact& artifact : artifacts) {
    KILN_TRY(const uint64_t written, WriteArtifact(artifact, arguments.program, arguments.out));
    files += written;
  }
  return files;
}

// The last pack of the chain: no other one has it as its base.
Result<pack::WriteReport> Flatten(const PackArguments& arguments) {
  PackArguments with_files = arguments;
  with_files.bases.insert(with_files.bases.end(), arguments.files.begin(), arguments.files.end());
  std::unique_ptr<pack::Pack> top;
  for (const std::string& file : arguments.files) {
    KILN_TRY(std::unique_ptr<pack::Pack> pack, OpenPack(file, with_files));
    if (top == nullptr || pack->links() > top->links()) {
      top = std::move(pack);
    }
  }
  KILN_TRY_VOID(top->Verify());
  KILN_TRY(const pack::Contents contents, pack::ContentsOf(*top));
  KILN_TRY(const std::optional<pack::SigningKey> key, KeyOf(arguments.sign));
  return pack::WritePack(contents, pack::BlobsOf(*top),
                         {.mode = arguments.small ? pack::Mode::kSmall : pack::Mode::kFast,
                          .key = key.has_value() ? &*key : nullptr},
                         arguments.out);
}

// A file that only its owner may read, and that is not there yet.
Result<void> WriteSecret(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    return FileError(path, "cannot write", errno);
  }
  const bool written =
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(file) == 0;
  const int number = errno;
  (void)::close(file);
  return written ? Result<void>() : FileError(path, "cannot write", number);
}

}  // namespace

int RunPackShow(const Global& global, const PackArguments& arguments) {
  const std::string& file = arguments.file;
  const Result<std::unique_ptr<pack::Pack>> pack = OpenPack(file, arguments);
  if (!pack.ok()) {
    return FailPack(global, pack.error());
  }
  global.json ? ShowJson(file, **pack) : ShowText(file, **pack);
  NoteResult("pack show", 0, {});
  return kSuccess;
}

int RunPackVerify(const Global& global, const PackArguments& arguments) {
  const std::string& file = arguments.file;
  const Result<std::unique_ptr<pack::Pack>> pack = OpenPack(file, arguments);
  const Result<void> verified = pack.ok() ? (*pack)->Verify() : Result<void>(pack.error());
  if (!verified.ok()) {
    return FailPack(global, verified.error());
  }
  const pack::Tables& tables = (*pack)->tables();
  if (!global.json && !global.quiet) {
    Print("{}: sound; {} blobs in {} blocks{}\n", file, tables.blobs.size(), tables.blocks.size(),
          (*pack)->signer().has_value() ? ", signed with the key that was asked for" : "");
  }
  NoteResult("pack verify", 0,
             Counts{{"blobs", tables.blobs.size()}, {"blocks", tables.blocks.size()}});
  return kSuccess;
}

int RunPackDiff(const Global& global, const PackArguments& arguments) {
  const Result<std::unique_ptr<pack::Pack>> first = OpenPack(arguments.files[0], arguments);
  const Result<std::unique_ptr<pack::Pack>> second =
      first.ok() ? OpenPack(arguments.files[1], arguments)
                 : Result<std::unique_ptr<pack::Pack>>(first.error());
  if (!second.ok()) {
    return FailPack(global, second.error());
  }
  const pack::PackDifference difference = pack::Compare(**first, **second);
  constexpr std::array<std::string_view, 3> kKinds{"added", "removed", "changed"};
  for (const pack::ProgramChange& change : difference.programs) {
    const std::string_view kind = kKinds[static_cast<size_t>(change.kind)];
    if (global.json) {
      const Json object{{"v", 1},
                        {"type", "difference"},
                        {"kind", kind},
                        {"program", change.program},
                        {"target", change.target},
                        {"added", change.added},
                        {"removed", change.removed},
                        {"changed", change.changed}};
      PrintLine(object);
    } else {
      Print("{:<8} {:<32} {:<12} +{} -{} ~{}\n", kind, change.program, change.target, change.added,
            change.removed, change.changed);
    }
  }
  if (!global.json && !global.quiet) {
    Print("{} artifacts are equal; {} blobs ({}) are new, {} are gone\n",
          difference.equal_artifacts, difference.new_blobs, SizeText(difference.new_bytes),
          difference.gone_blobs);
  }
  NoteResult("pack diff", 0,
             Counts{{"programs", difference.programs.size()},
                    {"equal_artifacts", difference.equal_artifacts},
                    {"new_blobs", difference.new_blobs},
                    {"new_bytes", difference.new_bytes},
                    {"gone_blobs", difference.gone_blobs}});
  return kSuccess;
}

int RunPackFlatten(const Global& global, const PackArguments& arguments) {
  const Result<pack::WriteReport> written = Flatten(arguments);
  if (!written.ok()) {
    return FailPack(global, written.error());
  }
  if (!global.json && !global.quiet) {
    Print("{}: {}, {} artifacts, {} blobs, {}\n", arguments.out, written->pack_id.hex(),
          written->artifacts, written->blobs, SizeText(written->file_bytes));
  }
  NoteResult("pack flatten", 0,
             Counts{{"artifacts", written->artifacts},
                    {"blobs", written->blobs},
                    {"bytes", written->file_bytes}});
  return kSuccess;
}

int RunPackExtract(const Global& global, const PackArguments& arguments) {
  const Result<uint64_t> files = Extract(arguments);
  if (!files.ok()) {
    return FailPack(global, files.error());
  }
  if (!global.json && !global.quiet) {
    Print("{} files in {}\n", *files, arguments.out);
  }
  NoteResult("pack extract", 0, Counts{{"files", *files}});
  return kSuccess;
}

int RunPackKeygen(const Global& global, const PackArguments& arguments) {
  const Result<pack::SigningKey> key = pack::SigningKey::Generate();
  if (!key.ok()) {
    return Fail(global, key.error());
  }
  const std::string secret = arguments.out + ".key";
  const std::string open = arguments.out + ".pub";
  Result<void> written = WriteSecret(secret, key->Pem());
  if (written.ok()) {
    written = WriteFile(open, AsBytes(key->public_key().Pem()));
  }
  if (!written.ok()) {
    return Fail(global, written.error());
  }
  if (!global.json && !global.quiet) {
    Print("{}: keep it secret; {}: give it to whoever checks packs\n  key {}\n", secret, open,
          Sha256Hex(key->public_key().Id()));
  }
  NoteResult("pack keygen", 0, {});
  return kSuccess;
}

}  // namespace kiln::cli
