// SPDX-License-Identifier: MIT
#include "server/worker/reading.h"

#include <algorithm>
#include <cstring>

#include "compiler/diag/encode.h"
#include "compiler/driver/frontends.h"
#include "compiler/source/source_file.h"

namespace kiln::worker {
namespace {

Error Corrupt(const char* what) {
  return {.code = ErrorCode::kCorrupt, .context = what, .reason = {}};
}

// A place outside of the source would be read out of bounds by whoever shows the line. Only module
// 0 is known where a single source was read.
bool IsInside(const Location& where, uint64_t size) {
  return !where.known() ||
         (where.module == 0 && where.bytes.begin <= where.bytes.end && where.bytes.end <= size);
}

bool IsInside(const Diagnostic& diagnostic, uint64_t size) {
  return IsInside(diagnostic.primary, size) &&
         std::ranges::all_of(diagnostic.labels,
                             [&](const Label& label) { return IsInside(label.where, size); });
}

}  // namespace

Bytes EncodeReading(const Diagnosed<ir::Module>& read) {
  const Bytes diagnostics =
      read.diagnostics.empty() ? Bytes() : EncodeDiagnostics(read.diagnostics);
  const ByteView image = read.value.has_value() ? ByteView(read.value->image()) : ByteView();
  const auto size = static_cast<uint64_t>(diagnostics.size());
  Bytes bytes(sizeof(size) + diagnostics.size() + image.size());
  std::memcpy(bytes.data(), &size, sizeof(size));
  std::ranges::copy(image, std::ranges::copy(diagnostics, bytes.begin() + sizeof(size)).out);
  return bytes;
}

Result<Diagnosed<ir::Module>> DecodeReading(ir::Language language, ByteView bytes,
                                            uint64_t source_bytes) {
  uint64_t size = 0;
  if (bytes.size() < sizeof(size)) {
    return Corrupt("no reading of a source");
  }
  std::memcpy(&size, bytes.data(), sizeof(size));
  bytes = bytes.subspan(sizeof(size));
  if (size > bytes.size()) {
    return Corrupt("a reading that ends in its diagnostics");
  }
  Diagnosed<ir::Module> read;
  // No diagnostics are no bytes, and their decoder is not asked.
  if (size != 0) {
    KILN_TRY(read.diagnostics, DecodeDiagnostics(bytes.first(size)));
  }
  if (const ByteView image = bytes.subspan(size); !image.empty()) {
    // The image is verified as one from disk is. Its spans are asked separately, because the
    // verifier does not know how long the source is.
    KILN_TRY(ir::Module module, driver::LoadModule(language, image));
    const std::span<const Span> spans = module.view().spans;
    if (!std::ranges::all_of(spans, [&](const Span& span) {
          return span.begin <= span.end && span.end <= source_bytes;
        })) {
      return Corrupt("an image with places outside of its source");
    }
    // The worker's diagnostics name rows of the span table; byte positions are looked up here, in
    // spans that were checked.
    FillPositions(read.diagnostics, [&](uint32_t, uint32_t number) {
      return number < spans.size() ? std::optional(spans[number]) : std::nullopt;
    });
    read.value = std::move(module);
  } else if (read.diagnostics.empty()) {
    return Corrupt("a reading without image and diagnostics");
  }
  if (!std::ranges::all_of(read.diagnostics, [&](const Diagnostic& diagnostic) {
        return IsInside(diagnostic, source_bytes);
      })) {
    return Corrupt("a diagnostic outside of its source");
  }
  return read;
}

std::string LanguageAndPath(ir::Language language, const std::string& path) {
  return std::string(driver::LanguageText(language)) + " " + path;
}

Bytes InputOf(const LanguageLimits& limits, std::string_view source) {
  Bytes input;
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    AppendLittle(input, limits.*row.value);
  }
  Append(input, AsBytes(source));
  return input;
}

Result<Bytes> ReadSource(const std::string& language_and_path, ByteView input) {
  const size_t space = language_and_path.find(' ');
  const std::string path =
      space == std::string::npos ? std::string() : language_and_path.substr(space + 1);
  // The language follows from the path and is compared with what the job says: the two are one
  // text, and the daemon uses that text as the name of the job.
  const std::optional<ir::Language> language = driver::LanguageOf(path);
  const size_t limit_bytes = LanguageLimitTable().size() * sizeof(uint32_t);
  if (!language.has_value() || LanguageAndPath(*language, path) != language_and_path ||
      input.size() < limit_bytes) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "no front end reads '" + path + "'",
                 .reason = {}};
  }
  LanguageLimits limits;
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    limits.*row.value = ReadLittle<uint32_t>(input);
    input = input.subspan(sizeof(uint32_t));
  }
  return EncodeReading(driver::ParseSource(*language, SourceFile(path, std::string(AsText(input))),
                                           /*module=*/0, limits));
}

}  // namespace kiln::worker
