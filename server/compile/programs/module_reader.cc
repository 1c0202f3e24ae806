// SPDX-License-Identifier: MIT
// Where a front end meets the store. The front end asks for files by path while it reads; here only
// those of the declared set can be found, and their texts are loaded before. With `isolation =
// "all"` the reading happens in a worker, which gets the texts and nothing else.
#include "server/compile/programs/module_reader.h"

#include <utility>

#include <fmt/format.h>

#include "compiler/base/threads/stop.h"
#include "server/compile/poison.h"
#include "server/worker/reading.h"

namespace kiln::compile {
namespace {

constexpr uint32_t kSpace = 0;
// How often a source is read again because a macro named a file that no line of the text does. Each
// reading may ask for one more file only by a macro; 64 such steps are more than any real source
// has.
constexpr int kMostReadings = 64;

Error MissingSource(const Source& source) {
  return {.code = ErrorCode::kFailedPrecondition,
          .context = "source '" + source.path + "' (" + source.digest.id.hex() +
                     ") is not here; upload it with PutSources and repeat",
          .reason = "SOURCES_MISSING"};
}

// Loads what was asked for and is declared, but was not there. Whether there was any of that. A
// probe that found nothing although the file is declared: the text was not loaded, because no line
// that could be seen names it.
Result<bool> LoadAsked(std::span<const Probe> probes, IncludeTexts& texts) {
  bool more = false;
  for (const Probe& probe : probes) {
    if (!probe.present) {
      KILN_TRY(const bool is_new, texts.Load(probe.path, IncludeTexts::Reason::kAsked));
      more = more || is_new;
    }
  }
  return more || !texts.missing().empty();
}

}  // namespace

Result<std::shared_ptr<const std::string>> ModuleReader::Text(const Source& source,
                                                              const cache::Call& call) const {
  if (source.text != nullptr) {
    return source.text;
  }
  const Result<cache::Blob> blob = store_.Get(cache::ContentKey(source.digest), call);
  if (blob.ok()) {
    return std::make_shared<const std::string>(AsText(blob->bytes));
  }
  if (blob.error().code == ErrorCode::kNotFound) {
    return MissingSource(source);
  }
  return blob.error();
}

// Nothing if it is poison. The worker has no store: it gets source, settings and likely files, and
// answers with what it asked for (spec/daemon 12.4). Its answer is decoded against the same inputs,
// so it cannot claim files that it was not given.
Result<std::optional<driver::ParsedSource>> ModuleReader::ReadApart(
    const ReadRequest& wanted, const worker::ReadInputs& inputs, const cache::Call& call) const {
  const std::string& path = inputs.source.path;
  const cache::Key row{.level = cache::Level::kModule, .space = kSpace, .id = wanted.key};
  const Bytes input = worker::InputOf(limits_, inputs);
  KILN_TRY(const worker::Answer answer,
           apart_->Run({.work = worker::Work::kRead,
                        .recipe = worker::LanguageAndPath(wanted.language, path),
                        .input = input},
                       call.stop, call.deadline));
  if (answer.kind == worker::AnswerKind::kPoison) {
    const cache::Item item = PoisonItem(row);
    (void)store_.Put(std::span(&item, 1), cache::Durability::kRelaxed, call);
    return std::optional<driver::ParsedSource>();
  }
  // A rejection is no answer to a source: front ends of kiln return diagnostics.
  Result<driver::ParsedSource> read =
      answer.kind == worker::AnswerKind::kMade
          ? worker::DecodeReading(wanted.language, answer.bytes, inputs)
          : Result<driver::ParsedSource>(
                Error{.code = ErrorCode::kInternal, .context = answer.report, .reason = "BUG"});
  if (!read.ok()) {
    return Error{.code = ErrorCode::kInternal,
                 .context = "a worker process that read '" + path + "': " + read.error().context,
                 .reason = "BUG"};
  }
  return std::optional(std::move(read).value());
}

Result<std::optional<driver::ParsedSource>> ModuleReader::ReadOnce(const ReadRequest& wanted,
                                                                   const worker::ReadInputs& inputs,
                                                                   const cache::Call& call) const {
  if (apart_ != nullptr) {
    return ReadApart(wanted, inputs, call);
  }
  driver::SourceInputs here{.language = wanted.language,
                            .files = {},
                            .hlsl = wanted.settings,
                            .is_known = wanted.is_known};
  for (const SourceFile* const file : inputs.files) {
    here.files.Add(*file);
  }
  // In this process: if the source ends it, the next start knows which one was at work
  // (spec/daemon 14.9). A caller who may only read leaves no such note.
  const jobs::CrashGuard::Running running(
      call.may_write ? attempts_ : nullptr,
      {.level = cache::Level::kModule, .space = kSpace, .id = wanted.key});
  return std::optional(
      driver::ParseSource(wanted.language, inputs.source, here, /*module=*/0, limits_));
}

// The front end sees the texts that it will probably ask for. A probe that found nothing and names
// a declared file is one that the guess missed, so the source is read again with that file. What is
// missing is looked for as far as it can be seen, so that a client hears of many files at once.
Result<ModuleReading> ModuleReader::Read(const ReadRequest& wanted, const cache::Call& call) const {
  KILN_TRY(const std::shared_ptr<const std::string> text, Text(wanted.source, call));
  const SourceFile source(wanted.source.path, *text);
  IncludeTexts texts(store_, wanted.files, wanted.settings.include_roots, limits_, call);
  if (!wanted.files.empty()) {
    // Guesses only save readings, so too many or wrong ones change nothing but time.
    for (const std::string& path : wanted.likely) {
      KILN_TRY_VOID(texts.Load(path, IncludeTexts::Reason::kGuessed));
    }
    KILN_TRY_VOID(texts.LoadFor(wanted.source.path, *text));
  }
  for (int i = 0; i < kMostReadings; ++i) {
    CheckStop();
    if (!texts.missing().empty()) {
      return ModuleReading{.parsed = {}, .missing = texts.missing()};
    }
    ModuleReading reading;
    KILN_TRY(
        reading.parsed,
        ReadOnce(wanted, {.source = source, .settings = wanted.settings, .files = texts.files()},
                 call));
    if (!reading.parsed.has_value()) {
      return reading;
    }
    KILN_TRY(const bool again, LoadAsked(reading.parsed->probes, texts));
    if (!again) {
      return reading;
    }
  }
  return Error{.code = ErrorCode::kResourceExhausted,
               .context = fmt::format("source '{}' was read {} times, and each time a macro named "
                                      "one more file",
                                      wanted.source.path, kMostReadings),
               .reason = "LIMIT_EXCEEDED"};
}

}  // namespace kiln::compile
