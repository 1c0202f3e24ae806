// SPDX-License-Identifier: MIT
#include "client/cli/results.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace kiln::cli {
namespace {

bool HasBytes(const std::string& path, ByteView bytes) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) != bytes.size() || error) {
    return false;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return std::string_view(text) == AsText(bytes);
}

Error WriteError(const std::string& path) {
  return {.code = ErrorCode::kNotFound,
          .context = "cannot write '" + path + "': " + std::strerror(errno == 0 ? EIO : errno),
          .reason = "FILE"};
}

}  // namespace

client::Client::FetchHandlers Collect(Fetched& fetched) {
  return {
      .on_outcome = [&](const client::Outcome& outcome) { fetched.outcomes.push_back(outcome); },
      .on_blob = [&](const client::FetchedBlob& blob) -> Result<void> {
        fetched.blobs.emplace(blob.digest.id, blob.bytes);
        return {};
      }};
}

std::string StageName(client::Stage stage) {
  switch (stage) {
    case client::Stage::kNone:
      return {};
    case client::Stage::kVertex:
      return "vertex";
    case client::Stage::kFragment:
      return "fragment";
    case client::Stage::kCompute:
      return "compute";
  }
  return {};
}

Result<void> WriteFile(const std::string& path, ByteView bytes) {
  if (HasBytes(path, bytes)) {
    return {};
  }
  std::error_code ignored;  // the open below says what is wrong
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string temporary = path + ".part";
  errno = 0;
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    file.flush();
    if (!file.good()) {
      const Error error = WriteError(path);
      (void)std::remove(temporary.c_str());
      return error;
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    return WriteError(path);
  }
  return {};
}

}  // namespace kiln::cli
