// SPDX-License-Identifier: MIT
// `kiln pack keygen` (spec/cli 6.10): makes the Ed25519 pair that signs packs (spec/cache 10). The
// private half is a file with mode 0600 that is never replaced; the public half may be copied
// freely.
#include "client/cli/pack/keygen.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include "cache/pack/signing/signing_key.h"
#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "compiler/base/files/file.h"

namespace kiln::cli {
namespace {

struct PackKeygenArguments {
  std::string out;
};

// A file that only its owner may read, and that is not there yet. fsync before success is reported:
// a key that has signed a pack and is lost in a power failure cannot be made again.
Result<void> WriteSecret(const std::string& path, const std::string& text) {
  // The mode is set when the file is made, so there is no moment in which others can read it.
  // O_EXCL keeps a key that exists: replacing one would make every pack that it signed
  // unverifiable.
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

int RunPackKeygen(const Global& global, const PackKeygenArguments& arguments) {
  const Result<pack::SigningKey> key = pack::SigningKey::Generate();
  if (!key.ok()) {
    return Fail(global, key.error());
  }
  const std::string secret = arguments.out + ".key";
  const std::string open = arguments.out + ".pub";
  // The secret first: a public key without its private one is of no use to anybody.
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
