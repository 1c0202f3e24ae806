// SPDX-License-Identifier: MIT
// Every fourth sample is held out: what a dictionary does to the samples that it was made from says
// nothing about the content of tomorrow. The share that a dictionary may have of its samples is
// bounded, too, because one as large as they are would contain them. That training was begun is
// written first, so that a store whose samples give no dictionary, or in which putting one fails,
// is not read again at every tick.
#include "cache/sqlite/tables/dictionary_training.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "cache/compression/codec.h"

namespace kiln::cache::sqlite {
namespace {

// Samples are in memory all at once, so they are bounded for each kind, and what is read in all as
// well.
constexpr uint64_t kMostSampleBytes = uint64_t{3} << 20;  // of a kind
constexpr uint64_t kMostReadBytes = uint64_t{64} << 20;
constexpr uint64_t kLargestSample = uint64_t{128} << 10;  // ZDICT looks at no more
constexpr int64_t kMostSampleRows = 8192;
constexpr int64_t kPageRows = 32;
constexpr size_t kEveryHeldOut = 4;
constexpr size_t kSmallestDictionary = size_t{2} << 10;
constexpr size_t kSampleSharePerDictionary = 8;
constexpr int64_t kFewestBlobs = 64;
constexpr int64_t kGrowth = 2;
constexpr int64_t kMostDictionaries = 32;  // those that nobody needs any more go with the orphans

struct Samples {
  std::vector<Bytes> trained_on;
  std::vector<Bytes> held_out;
  uint64_t bytes = 0;
};
using SamplesByKind = std::array<Samples, kContentKindCount>;

// By the kind of content: code and metadata have nothing in common that one dictionary could hold.
void AddSample(SamplesByKind& samples, ByteView raw) {
  Samples& of_kind = samples[static_cast<size_t>(ContentKindOf(raw))];
  if (of_kind.bytes + raw.size() > kMostSampleBytes) {
    return;
  }
  of_kind.bytes += raw.size();
  const bool held_out =
      (of_kind.trained_on.size() + of_kind.held_out.size()) % kEveryHeldOut == kEveryHeldOut - 1;
  (held_out ? of_kind.held_out : of_kind.trained_on).emplace_back(raw.begin(), raw.end());
}

// The newest content first. No reader is kept longer than a page.
Result<SamplesByKind> Gather(CurrentSession& session, const std::stop_token& stop) {
  SamplesByKind samples;
  int64_t below = std::numeric_limits<int64_t>::max();
  uint64_t read = 0;
  for (int64_t rows = 0;
       rows < kMostSampleRows && read < kMostReadBytes && !stop.stop_requested();) {
    KILN_TRY(ReaderPool::Loan reader, session.Read({.stop = stop}));
    std::vector<Hash128> page;
    {
      KILN_TRY(Statement statement, reader.connection().Prepare("SELECT rid, id FROM blob"
                                                                " WHERE rid<?1 AND raw_size<=?2"
                                                                " ORDER BY rid DESC LIMIT ?3"));
      Query query(statement);
      query.Bind(below).Bind(static_cast<int64_t>(kLargestSample)).Bind(kPageRows);
      KILN_TRY(const int64_t found, query.EachRow([&](const Query& row) {
        below = row.Int(0);
        page.push_back(row.Id(1).value_or(Hash128{}));
      }));
      if (found == 0) {
        break;
      }
      rows += found;
    }
    for (const Hash128& id : page) {
      KILN_TRY(const std::optional<Blob> blob, reader->FindBlob(id));
      const Result<Blob> raw = reader->Decode(blob.value_or(Blob{}));
      if (blob.has_value() && raw.ok()) {
        read += raw->bytes.size();
        AddSample(samples, raw->bytes);
      }
    }
  }
  return samples;
}

// Measured by compressing, as it would be done: any estimate would be about another compressor.
uint64_t SizeOf(std::span<const Bytes> contents, const Dictionary* dictionary) {
  uint64_t size = 0;
  for (const Bytes& content : contents) {
    const Blob raw{.bytes = content, .raw_size = content.size()};
    size += (dictionary == nullptr ? Compress(raw) : Compress(raw, *dictionary)).bytes.size();
  }
  return size;
}

// Null if a dictionary would not make enough of a difference.
DictionaryPtr Train(const Samples& samples, const Dictionary* current, TrainedDictionary& report) {
  uint64_t bytes = 0;
  for (const Bytes& sample : samples.trained_on) {
    bytes += sample.size();
  }
  const auto most =
      static_cast<size_t>(std::min<uint64_t>(kDictionaryBytes, bytes / kSampleSharePerDictionary));
  if (most < kSmallestDictionary || samples.held_out.empty()) {
    return nullptr;
  }
  DictionaryPtr dictionary = Dictionary::Make(TrainDictionary(samples.trained_on, most));
  if (dictionary == nullptr) {
    return nullptr;
  }
  report.number = dictionary->number();
  for (const Bytes& sample : samples.held_out) {
    report.raw_bytes += sample.size();
  }
  report.before_bytes = SizeOf(samples.held_out, current);
  report.after_bytes = SizeOf(samples.held_out, dictionary.get());
  // At least a tenth smaller, on samples that the dictionary has not seen. Less is not worth a
  // dependency of every frame on another row.
  const bool good = report.after_bytes + report.before_bytes / 10 <= report.before_bytes;
  return good ? dictionary : nullptr;
}

// Puts it beside the others, under its own number, and names it as the current one.
Result<void> Write(TableWrites& writes, ContentKind kind, const Dictionary& dictionary) {
  Connection& connection = writes.connection();
  KILN_TRY(const int64_t count, connection.QueryInt("SELECT count(*) FROM dict"));
  if (count >= kMostDictionaries) {
    return Error{.code = ErrorCode::kFull, .context = "the store has too many dictionaries"};
  }
  {
    KILN_TRY(Statement insert, connection.Prepare("INSERT INTO dict VALUES (?1, ?2, ?3)"
                                                  " ON CONFLICT (dict) DO UPDATE SET id=?2, data=?3"
                                                  "  WHERE id=?2"));
    Query query(insert);
    KILN_TRY_VOID(query.Bind(int64_t{dictionary.number()})
                      .Bind(dictionary.id())
                      .Bind(dictionary.bytes())
                      .Run());
  }
  if (connection.writes() == 0) {  // other bytes have the number
    return Error{.code = ErrorCode::kAlreadyExists, .context = "its number is taken"};
  }
  KILN_TRY(Statement name, connection.Prepare("INSERT INTO meta VALUES ('dict.'||?1, ?2)"
                                              " ON CONFLICT (k) DO UPDATE SET v=?2"));
  Query query(name);
  return query.Bind(ContentKindName(kind)).Bind(int64_t{dictionary.number()}).Run();
}

Result<void> WriteSeen(TableWrites& writes) {
  return writes.connection().Execute(
      "INSERT INTO meta SELECT 'dict_seen', coalesce(max(rid), 0) FROM blob WHERE true"
      " ON CONFLICT (k) DO UPDATE SET v=excluded.v");
}

}  // namespace

Result<bool> TrainingIsDue(Connection& connection) {
  KILN_TRY(const int64_t seen,
           connection.QueryInt("SELECT coalesce((SELECT v FROM meta WHERE k='dict_seen'), 0)"));
  KILN_TRY(const int64_t blobs, connection.QueryInt("SELECT coalesce(max(rid), 0) FROM blob"));
  // Trained again when the store has doubled: the samples of a small store say little about a large
  // one, and the number of trainings grows with the logarithm.
  return blobs >= kFewestBlobs && blobs / kGrowth >= seen;
}

Result<std::vector<TrainedDictionary>> TrainDictionaries(CurrentSession& session,
                                                         Dictionaries& dictionaries,
                                                         const std::stop_token& stop) {
  std::vector<TrainedDictionary> trained;
  // Before anything else: what fails now is not tried again at the next occasion.
  KILN_TRY_VOID(session.Write(WriteSeen, {.stop = stop}));
  KILN_TRY(const SamplesByKind samples, Gather(session, stop));
  for (uint32_t i = 0; i < kContentKindCount && !stop.stop_requested(); ++i) {
    const auto kind = static_cast<ContentKind>(i);
    TrainedDictionary report{.kind = kind};
    const DictionaryPtr current = dictionaries.Current(kind);
    const DictionaryPtr dictionary = Train(samples[i], current.get(), report);
    if (dictionary == nullptr) {
      continue;
    }
    const Result<void> written = session.Write(
        [kind, dictionary](TableWrites& writes) { return Write(writes, kind, *dictionary); },
        {.stop = stop});
    if (written.ok()) {
      dictionaries.SetCurrent(kind, dictionary);
      trained.push_back(report);
    } else if (written.error().code != ErrorCode::kFull &&
               written.error().code != ErrorCode::kAlreadyExists) {
      return written.error();
    }
  }
  return trained;
}

}  // namespace kiln::cache::sqlite
