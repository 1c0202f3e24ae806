// SPDX-License-Identifier: MIT
// `kiln pack flatten` (spec/cli 6.10): one complete pack from a delta and the packs below it, as
// spec/cache 10 describes the chain. The result has the rows of the top pack and leans on no other
// file.
#include "client/cli/pack/flatten.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/pack/unpack.h"
#include "cache/pack/write/writer.h"
#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "client/cli/output/units.h"
#include "client/cli/pack/files.h"

namespace kiln::cli {
namespace {

struct PackFlattenArguments {
  std::vector<std::string> files;
  std::vector<std::string> bases;  // beside those in the folders of the files
  std::string out;
  std::string sign;  // file of a private key
  bool small = false;
};

// The last pack of the chain: no other one has it as its base. All files are bases of each other
// here. OpenPack looks up a base by its id, so one that is not needed does no harm.
Result<pack::WriteReport> Flatten(const PackFlattenArguments& arguments) {
  std::vector<std::string> bases = arguments.bases;
  bases.insert(bases.end(), arguments.files.begin(), arguments.files.end());
  std::unique_ptr<pack::Pack> top;
  for (const std::string& file : arguments.files) {
    KILN_TRY(std::unique_ptr<pack::Pack> pack, OpenPack(file, bases));
    // links() is the number of packs below. The files may be named in any order; the one with the
    // most packs below is the last of the chain.
    if (top == nullptr || pack->links() > top->links()) {
      top = std::move(pack);
    }
  }
  // Everything is read and checked before it is written into a new file under a new signature,
  // which would vouch for damage otherwise.
  KILN_TRY_VOID(top->Verify());
  KILN_TRY(const pack::Contents contents, pack::ContentsOf(*top));
  KILN_TRY(const std::optional<pack::SigningKey> key, KeyOf(arguments.sign));
  return pack::WritePack(contents, pack::BlobsOf(*top),
                         {.mode = arguments.small ? pack::Mode::kSmall : pack::Mode::kFast,
                          .key = key.has_value() ? &*key : nullptr},
                         arguments.out);
}

int RunPackFlatten(const Global& global, const PackFlattenArguments& arguments) {
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

}  // namespace

void AddPackFlatten(CLI::App& pack, CommandLine& line) {
  const auto arguments = std::make_shared<PackFlattenArguments>();
  CLI::App* flatten =
      AddVerb(pack, line,
              {"flatten", "Merge a delta and its bases into one file",
               "  kiln pack flatten base.kpack delta.kpack --out all.kpack\n  kiln "
               "pack flatten base.kpack --out small.kpack --small"},
              [&line, arguments] { return RunPackFlatten(line.global, *arguments); });
  flatten->add_option("files", arguments->files, "Pack files")->required()->expected(1, 16);
  AddBases(*flatten, arguments->bases);
  flatten->add_option("--out", arguments->out, "File to write")->required();
  flatten->add_option("--sign", arguments->sign, "File of a private key");
  flatten->add_flag("--small", arguments->small, "Small to download instead of quick to read");
}

}  // namespace kiln::cli
