// SPDX-License-Identifier: MIT
// `kiln pack verify` (spec/cli 6.10): reads and hashes all content of a pack and checks its
// signature (spec/cache 10). A signature by another key than the required one is refused when the
// pack is opened, before anything of it is trusted.
#include "client/cli/pack/verify.h"

#include <memory>
#include <string>
#include <vector>

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "client/cli/pack/files.h"

namespace kiln::cli {
namespace {

struct PackVerifyArguments {
  std::string file;
  std::vector<std::string> bases;  // beside those in the folder of the file
  std::string require_signature;   // file of a public key
};

// Without --require-signature a pack is only checked against itself. That finds damage and no
// forgery, hence the text says nothing about a signer.
int RunPackVerify(const Global& global, const PackVerifyArguments& arguments) {
  const std::string& file = arguments.file;
  const Result<std::unique_ptr<pack::Pack>> pack =
      OpenPack(file, arguments.bases, arguments.require_signature);
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

}  // namespace

void AddPackVerify(CLI::App& pack, CommandLine& line) {
  const auto arguments = std::make_shared<PackVerifyArguments>();
  CLI::App* verify = AddVerb(
      pack, line,
      {"verify", "Read and check everything",
       "  kiln pack verify demo.kpack\n  kiln pack verify demo.kpack --require-signature kiln.pub"},
      [&line, arguments] { return RunPackVerify(line.global, *arguments); });
  verify->add_option("file", arguments->file, "Pack file")->required();
  AddBases(*verify, arguments->bases);
  verify->add_option("--require-signature", arguments->require_signature, "File of a public key");
}

}  // namespace kiln::cli
