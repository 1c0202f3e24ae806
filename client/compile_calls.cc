// SPDX-License-Identifier: MIT
// Calls about sources, single variants and option spaces (spec/daemon 4.1). Sources are sent once
// and named by their digest from then on; every request that names a source needs it at the daemon
// first.
#include "client/compile_calls.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "client/connection.h"

namespace kiln::client {
namespace {

constexpr size_t kChunkBytes = size_t{512} << 10;
constexpr size_t kMostAsked = 10'000;  // digests in one FindMissing

// The digests that the daemon does not have.
Result<std::vector<const Source*>> MissingOf(v1::CacheService::Stub& cache,
                                             std::span<const Source> sources) {
  // A question for digests instead of an upload: after the first build nearly all sources are
  // there, and a question costs 28 bytes for each.
  std::set<std::string> absent;
  for (size_t first = 0; first < sources.size(); first += kMostAsked) {
    v1::FindMissingRequest request;
    for (const Source& source :
         sources.subspan(first).first(std::min(kMostAsked, sources.size() - first))) {
      ToProto(source.digest, request.add_digests());
    }
    Context context(kAnswerWithin);
    v1::FindMissingReply reply;
    const grpc::Status status = cache.FindMissing(&context.grpc, request, &reply);
    if (!status.ok()) {
      return context.Failed(status);
    }
    for (const v1::Digest& digest : reply.missing()) {
      absent.insert(digest.id());
    }
  }
  std::vector<const Source*> missing;
  for (const Source& source : sources) {
    v1::Digest digest;
    ToProto(source.digest, &digest);
    // Erased when found, so a source that is listed twice is sent once.
    if (absent.erase(digest.id()) != 0) {
      missing.push_back(&source);
    }
  }
  return missing;
}

// The error for sources that the daemon does not know and the caller may not store.
Error NotKnown(const Error& refused, std::span<const Source* const> missing) {
  const std::string others =
      missing.size() == 1 ? std::string() : fmt::format(" and {} more", missing.size() - 1);
  return WithContext(refused, fmt::format("the daemon does not have '{}'{} as here, and would have "
                                          "to store it",
                                          missing.front()->path, others));
}

// Keeps both the request with its source lists and the reply below the limits of messages.
constexpr size_t kListedAtOnce = 256;  // programs in one ListOptions

std::string PlaceOf(const v1::Diagnostic::Label& label) {
  return fmt::format("{}:{}", label.path(), label.line());
}

// Of a reply, or of one of its programs.
template <class Reply>
OptionList OptionsOf(const Reply& reply) {
  OptionList result;
  for (const v1::OptionInfo& info : reply.options()) {
    result.options.push_back({.name = info.name(),
                              .scope = static_cast<OptionScope>(info.scope()),
                              .type = info.type(),
                              .values = {info.values().begin(), info.values().end()},
                              .default_value = FromProto(info.default_()),
                              .affects = {info.affects().begin(), info.affects().end()},
                              .targets = {info.live_in().begin(), info.live_in().end()},
                              .readers = {},
                              .declared_at = PlaceOf(info.declared_at()),
                              .macro = info.macro()});
    for (const v1::Diagnostic::Label& reader : info.readers()) {
      result.options.back().readers.push_back(
          fmt::format("{}, {}", reader.text(), PlaceOf(reader)));
    }
  }
  result.diagnostics = FromProto(reply.diagnostics());
  return result;
}

}  // namespace

// Asks first and sends what is missing only: after the first build that is one edited file. Chunks
// have half a MiB, well below the limit of a message (spec/daemon 10). Sources go one behind the
// other in one stream, and a digest marks where the next one begins.
Result<void> UploadSources(Connection& connection, std::span<const Source> sources) {
  KILN_TRY(const std::vector<const Source*> missing, MissingOf(*connection.cache, sources));
  if (missing.empty()) {
    return {};
  }
  Context context(kUploadWithin);
  v1::PutSourcesReply reply;
  const auto writer = connection.compile->PutSources(&context.grpc, &reply);
  for (const Source* const missed : missing) {
    const Source& source = *missed;
    // At least one chunk for each source: an empty text has a last chunk too, or the daemon would
    // wait for its end.
    size_t offset = 0;
    do {
      v1::PutSourcesRequest chunk;
      ToProto(source.digest, chunk.mutable_digest());
      chunk.set_path_hint(source.path);
      const size_t size = std::min(kChunkBytes, source.text.size() - offset);
      chunk.set_data(source.text.substr(offset, size));
      offset += size;
      chunk.set_last(offset == source.text.size());
      if (!writer->Write(chunk)) {
        break;  // Finish says why
      }
    } while (offset < source.text.size());
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  if (status.ok()) {
    return {};
  }
  const Error error = context.Failed(status);
  // A reader may compile what is known and store nothing. That is told with the name of the source
  // that is missing, which is what the caller can change.
  return error.reason == "SCOPE" ? NotKnown(error, missing) : error;
}

// Safe to repeat: what arrived before a failure is known, and the next call sends only the rest.
Result<void> CompileCalls::PutSources(std::span<const Source> sources) {
  return UploadSources(connection_, sources);
}

Result<Outcome> CompileCalls::Compile(const Program& program, std::span<const Option> options,
                                      const CompileOptions& how) {
  Context context(kAnswerWithin);
  v1::CompileRequest request;
  ToProto(program, request.mutable_variant()->mutable_inline_program());
  for (const Option& option : options) {
    ToProto(option, request.mutable_variant()->add_options());
  }
  request.set_retry_failed(how.retry_failed);
  // Without durability the answer need not wait for the disk (spec/cache 6.5).
  request.set_durability(how.durable ? v1::DURABILITY_LOCAL : v1::DURABILITY_NONE);
  v1::CompileReply reply;
  const grpc::Status status = connection_.compile->Compile(&context.grpc, request, &reply);
  return status.ok() ? Result<Outcome>(FromProto(reply.outcome()))
                     : Result<Outcome>(context.Failed(status));
}

Result<OptionList> CompileCalls::ListOptions(const Program& program) {
  Context context(kAnswerWithin);
  v1::ListOptionsRequest request;
  ToProto(program, request.mutable_program());
  // Who reads an option costs a pass over the program, which the list for a whole project below
  // leaves out.
  request.set_with_liveness(true);
  v1::ListOptionsReply reply;
  const grpc::Status status = connection_.compile->ListOptions(&context.grpc, request, &reply);
  return status.ok() ? Result<OptionList>(OptionsOf(reply))
                     : Result<OptionList>(context.Failed(status));
}

// The requests are made one after the other. Each carries whole source lists, and a daemon works on
// the programs of one in parallel.
Result<std::vector<OptionList>> CompileCalls::ListOptionsOf(
    std::span<const Program* const> programs) {
  std::vector<OptionList> all;
  while (all.size() < programs.size()) {
    const auto asked =
        programs.subspan(all.size(), std::min(kListedAtOnce, programs.size() - all.size()));
    Context context(kAnswerWithin);
    v1::ListOptionsRequest request;
    for (const Program* const program : asked) {
      ToProto(*program, request.add_programs());
    }
    v1::ListOptionsReply reply;
    const grpc::Status status = connection_.compile->ListOptions(&context.grpc, request, &reply);
    if (!status.ok()) {
      return context.Failed(status);
    }
    // Results are told apart by their order alone.
    if (static_cast<size_t>(reply.programs_size()) != asked.size()) {
      return Error{.code = ErrorCode::kInternal,
                   .context = fmt::format("the daemon listed {} programs of {}",
                                          reply.programs_size(), asked.size()),
                   .reason = {}};
    }
    for (const v1::ListOptionsReply::OfProgram& listed : reply.programs()) {
      all.push_back(OptionsOf(listed));
    }
  }
  return all;
}

Result<VariantCount> CompileCalls::CountVariants(const ProgramSpace& space,
                                                 const std::string& filter) {
  Context context(kAnswerWithin);
  v1::CountVariantsRequest request;
  ToProto(space, request.add_spaces());
  if (!filter.empty()) {
    ToFilter(filter, *request.mutable_filter());
  }
  v1::CountVariantsReply reply;
  const grpc::Status status = connection_.compile->CountVariants(&context.grpc, request, &reply);
  if (!status.ok()) {
    return context.Failed(status);
  }
  if (reply.programs_size() != 1) {
    return Error{.code = ErrorCode::kDataLoss,
                 .context = "the daemon counted other programs than were asked for",
                 .reason = {}};
  }
  return FromProto(reply.programs(0));
}

// A token is valid for this request alone. Another space or filter with it is refused by the
// daemon.
Result<VariantPage> CompileCalls::ListVariants(const ProgramSpace& space, const std::string& filter,
                                               uint32_t page_size, const std::string& page) {
  Context context(kAnswerWithin);
  // The whole space goes along with each page: the daemon keeps nothing between them, and its token
  // has the place and a hash of the request.
  v1::ListVariantsRequest request;
  ToProto(space, request.mutable_space());
  if (!filter.empty()) {
    ToFilter(filter, *request.mutable_filter());
  }
  request.set_page_size(page_size);
  request.set_page_token(page);
  v1::ListVariantsReply reply;
  const grpc::Status status = connection_.compile->ListVariants(&context.grpc, request, &reply);
  if (!status.ok()) {
    return context.Failed(status);
  }
  VariantPage result{.rows = {}, .next = reply.next_page_token()};
  for (const v1::VariantRow& row : reply.rows()) {
    result.rows.push_back(FromProto(row));
  }
  return result;
}

Result<void> CompileCalls::EachPageOfVariants(
    const ProgramSpace& space, const std::string& filter, uint32_t page_size,
    const std::function<More(std::span<const VariantRow>)>& take) {
  PageCount pages;
  std::string token;
  do {
    KILN_TRY(const VariantPage page, ListVariants(space, filter, page_size, token));
    // Bounds the number and size of pages, because a daemon whose pages never end would keep the
    // client for ever.
    KILN_TRY_VOID(pages.Add(page.next, page.rows.size() * sizeof(VariantRow)));
    if (take(page.rows) == More::kEnough) {
      return {};
    }
    token = page.next;
  } while (!token.empty());
  return {};
}

}  // namespace kiln::client
