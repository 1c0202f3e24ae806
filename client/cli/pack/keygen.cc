// SPDX-License-Identifier: MIT
// `kiln pack keygen` (spec/cli 6.10): makes the Ed25519 pair that signs packs (spec/cache 10). The
// private half is a file with mode 0600 that is never replaced; the public half may be copied
// freely.
#include "client/cli/pack/keygen.h"

#include <string>

#include "cache/pack/signing/signing_key.h"
#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "client/cli/pack/key_files.h"

namespace kiln::cli {
namespace {

struct PackKeygenArguments {
  std::string out;
};

int RunPackKeygen(const Global& global, const PackKeygenArguments& arguments) {
  const Result<pack::SigningKey> key = pack::SigningKey::Generate();
  if (!key.ok()) {
    return Fail(global, key.error());
  }
  const std::string secret = arguments.out + ".key";
  const std::string open = arguments.out + ".pub";
  const Result<void> written = WriteKeyPair(secret, open, *key);
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

}  // namespace

void AddPackKeygen(CLI::App& pack, CommandLine& line) {
  const auto arguments = std::make_shared<PackKeygenArguments>();
  CLI::App* keygen =
      AddVerb(pack, line,
              {"keygen", "Make a key pair for signing packs",
               "  kiln pack keygen --out release\n  kiln pack keygen --out keys/nightly"},
              [&line, arguments] { return RunPackKeygen(line.global, *arguments); });
  keygen->add_option("--out", arguments->out, "NAME.key and NAME.pub are written")->required();
}

}  // namespace kiln::cli
