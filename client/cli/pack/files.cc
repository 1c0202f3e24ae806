// SPDX-License-Identifier: MIT
#include "client/cli/pack/files.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <CLI/CLI.hpp>

#include "cache/pack/chain.h"
#include "cache/pack/errors.h"
#include "client/cli/failure.h"
#include "compiler/base/files/file.h"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// Packs that may be bases: those that were named and those beside the file.
std::vector<std::string> Candidates(const std::string& file,
                                    const std::vector<std::string>& named) {
  std::vector<std::string> candidates = named;
  const fs::path parent = fs::path(file).parent_path();
  std::error_code error;
  // Deltas are delivered beside their bases. Which of the files is the base is told by its id, not
  // by its name; the order of candidates only makes the search repeatable.
  for (fs::directory_iterator it(parent.empty() ? "." : parent, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".kpack") {
      candidates.push_back(it->path().string());
    }
  }
  // Packs that were named stay in front, in the order in which they were named.
  std::sort(candidates.begin() + static_cast<std::ptrdiff_t>(named.size()), candidates.end());
  return candidates;
}

}  // namespace

void AddBases(CLI::App& verb, std::vector<std::string>& bases) {
  verb.add_option("--base", bases, "Packs below a delta, beside those in its folder")->take_all();
}

Result<std::unique_ptr<pack::Pack>> OpenPack(const std::string& file,
                                             const std::vector<std::string>& bases,
                                             const std::string& require_signature) {
  pack::ReadOptions options;
  if (!require_signature.empty()) {
    KILN_TRY(const std::string pem, ReadFile(require_signature));
    KILN_TRY(const pack::PublicKey key, pack::PublicKeyOf(pem));
    // Only this key is good then. A pack that another key signed, or none, is refused when it is
    // opened.
    options.require_signature.push_back(key);
  }
  return pack::OpenChain(file, Candidates(file, bases), options);
}

Result<std::optional<pack::SigningKey>> KeyOf(const std::string& file) {
  if (file.empty()) {
    return std::optional<pack::SigningKey>();
  }
  KILN_TRY(const std::string pem, ReadFile(file));
  KILN_TRY(pack::SigningKey key, pack::SigningKey::FromPem(pem));
  return std::optional(std::move(key));
}

bool IsPackFile(const std::string& path) { return path.ends_with(".kpack"); }

int FailPack(const Global& global, Error error) {
  if (error.reason == pack::kBaseMissing) {
    // A base that is missing is a file that was not found, not a damaged pack.
    error.code = ErrorCode::kNotFound;
  }
  return Fail(global, error);
}

}  // namespace kiln::cli
