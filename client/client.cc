// SPDX-License-Identifier: MIT
#include "client/client.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "client/autostart.h"
#include "client/call_watch.h"
#include "client/convert.h"
#include "client/daemon_socket.h"
#include "client/state.h"
#include "compiler/base/file.h"

namespace kiln::client {
namespace {

constexpr size_t kChunkBytes = size_t{512} << 10;
constexpr int kMaxMessageBytes = 64 << 20;

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kHttps = "https://";

// Calls that do work are repeated when the daemon is not ready or full, with jitter, within their
// deadline, and when the daemon says after how long (spec/daemon 2.5). What looks at the daemon
// itself is not, because its caller wants to know. Hot reload reconnects by itself.
constexpr char kServiceConfig[] = R"({"methodConfig": [{
  "name": [{"service": "kiln.v1.CompileService"}, {"service": "kiln.v1.BatchService"},
           {"service": "kiln.v1.PackService"}, {"service": "kiln.v1.CacheService"}],
  "retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "5s",
                  "backoffMultiplier": 2,
                  "retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]}}]})";

Error Wrong(std::string context) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(context), .reason = "USAGE"};
}

Result<std::string> OptionalFile(const std::string& path) {
  return path.empty() ? Result<std::string>(std::string()) : ReadFile(path);
}

grpc::ChannelArguments ChannelArguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetServiceConfigJSON(kServiceConfig);
  // A daemon that comes back is found soon, since watches wait for it.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // In spite of its name: how long an attempt to connect may take, the first answer included.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, static_cast<int>(kPing.count()));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  return arguments;
}

}  // namespace

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::~Client() = default;

std::unique_ptr<Client> Client::Over(std::unique_ptr<State> state) {
  state->compile = v1::CompileService::NewStub(state->channel);
  state->batch = v1::BatchService::NewStub(state->channel);
  state->admin = v1::AdminService::NewStub(state->channel);
  state->cache = v1::CacheService::NewStub(state->channel);
  state->pack = v1::PackService::NewStub(state->channel);
  return std::unique_ptr<Client>(new Client(std::move(state)));
}

std::unique_ptr<Client> Client::Open(const std::string& address) {
  auto state = std::make_unique<State>();
  state->address = address;
  const std::optional<std::string> owners =
      address.starts_with(kUnix) ? OwnersTarget(address.substr(kUnix.size())) : std::nullopt;
  state->target = owners.value_or(address);
  state->channel =
      OpenChannel(state->target, grpc::InsecureChannelCredentials(), ChannelArguments());
  return Over(std::move(state));
}

Result<std::unique_ptr<Client>> Client::OpenOwn(const std::string& address) {
  KILN_TRY(const std::string target, OwnTarget(address.substr(kUnix.size())));
  auto state = std::make_unique<State>();
  state->address = address;
  state->target = target;
  state->channel = OpenChannel(target, grpc::InsecureChannelCredentials(), ChannelArguments());
  return Over(std::move(state));
}

Result<std::unique_ptr<Client>> Client::Open(const Endpoint& endpoint) {
  if (endpoint.address == kUnix) {
    return Wrong(
        "there is no folder of this user for a socket: set XDG_RUNTIME_DIR or HOME, or name a "
        "daemon with --daemon");
  }
  if (endpoint.address.starts_with(kUnix)) {
    const bool own = endpoint.address.substr(kUnix.size()) == DefaultSocket();
    return own ? OpenOwn(endpoint.address)
               : Result<std::unique_ptr<Client>>(Open(endpoint.address));
  }
  if (!endpoint.address.starts_with(kHttps)) {
    return Wrong(
        fmt::format("'{}' is no daemon: unix:PATH or https://HOST:PORT", endpoint.address));
  }
  if (endpoint.token_file.empty()) {
    return Wrong("a daemon behind https wants a token: --token-file FILE");
  }
  KILN_TRY(std::string token, ReadFile(endpoint.token_file));
  while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back())) != 0) {
    token.pop_back();
  }
  if (token.find_first_of(" \t\r\n") != std::string::npos || !token.starts_with("kiln_")) {
    return Wrong(fmt::format("'{}' holds no token of kiln", endpoint.token_file));
  }
  grpc::SslCredentialsOptions tls;
  KILN_TRY(tls.pem_root_certs, OptionalFile(endpoint.tls_ca));
  KILN_TRY(tls.pem_cert_chain, OptionalFile(endpoint.tls_cert));
  KILN_TRY(tls.pem_private_key, OptionalFile(endpoint.tls_key));
  auto state = std::make_unique<State>();
  state->address = endpoint.address;
  state->target = state->host_port = endpoint.address.substr(kHttps.size());
  state->tls = {.ca = endpoint.tls_ca, .cert = endpoint.tls_cert, .key = endpoint.tls_key};
  state->channel = OpenChannel(state->target,
                               grpc::CompositeChannelCredentials(
                                   grpc::SslCredentials(tls), grpc::AccessTokenCredentials(token)),
                               ChannelArguments());
  return Over(std::move(state));
}

namespace {

constexpr size_t kMostAsked = 10'000;  // digests in one FindMissing
constexpr size_t kListedAtOnce = 256;  // programs in one ListOptions

// The digests that the daemon does not have.
Result<std::vector<const Source*>> MissingOf(v1::CacheService::Stub& cache,
                                             std::span<const Source> sources) {
  std::set<std::string> absent;
  for (size_t first = 0; first < sources.size(); first += kMostAsked) {
    v1::FindMissingRequest request;
    for (const Source& source :
         sources.subspan(first).first(std::min(kMostAsked, sources.size() - first))) {
      ToProto(source.digest, request.add_digests());
    }
    Context context;
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

}  // namespace

Result<void> Client::PutSources(std::span<const Source> sources) {
  KILN_TRY(const std::vector<const Source*> missing, MissingOf(*state_->cache, sources));
  if (missing.empty()) {
    return {};
  }
  Context context;
  v1::PutSourcesReply reply;
  const auto writer = state_->compile->PutSources(&context.grpc, &reply);
  for (const Source* const missed : missing) {
    const Source& source = *missed;
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
  return error.reason == "SCOPE" ? NotKnown(error, missing) : error;
}

Result<Outcome> Client::Compile(const Program& program, std::span<const Option> options,
                                const CompileOptions& how) {
  Context context;
  v1::CompileRequest request;
  ToProto(program, request.mutable_variant()->mutable_inline_program());
  for (const Option& option : options) {
    ToProto(option, request.mutable_variant()->add_options());
  }
  request.set_retry_failed(how.retry_failed);
  request.set_durability(how.durable ? v1::DURABILITY_LOCAL : v1::DURABILITY_NONE);
  v1::CompileReply reply;
  const grpc::Status status = state_->compile->Compile(&context.grpc, request, &reply);
  return status.ok() ? Result<Outcome>(FromProto(reply.outcome()))
                     : Result<Outcome>(context.Failed(status));
}

namespace {

std::string PlaceOf(const v1::Diagnostic::Label& label) {
  return fmt::format("{}:{}", label.path(), label.line());
}

}  // namespace

namespace {

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
                              .declared_at = PlaceOf(info.declared_at())});
    for (const v1::Diagnostic::Label& reader : info.readers()) {
      result.options.back().readers.push_back(
          fmt::format("{}, {}", reader.text(), PlaceOf(reader)));
    }
  }
  result.diagnostics = FromProto(reply.diagnostics());
  return result;
}

}  // namespace

Result<OptionList> Client::ListOptions(const Program& program) {
  Context context;
  v1::ListOptionsRequest request;
  ToProto(program, request.mutable_program());
  request.set_with_liveness(true);
  v1::ListOptionsReply reply;
  const grpc::Status status = state_->compile->ListOptions(&context.grpc, request, &reply);
  return status.ok() ? Result<OptionList>(OptionsOf(reply))
                     : Result<OptionList>(context.Failed(status));
}

Result<std::vector<OptionList>> Client::ListOptionsOf(std::span<const Program* const> programs) {
  std::vector<OptionList> all;
  while (all.size() < programs.size()) {
    const auto asked =
        programs.subspan(all.size(), std::min(kListedAtOnce, programs.size() - all.size()));
    Context context;
    v1::ListOptionsRequest request;
    for (const Program* const program : asked) {
      ToProto(*program, request.add_programs());
    }
    v1::ListOptionsReply reply;
    const grpc::Status status = state_->compile->ListOptions(&context.grpc, request, &reply);
    if (!status.ok()) {
      return context.Failed(status);
    }
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

Result<VariantCount> Client::CountVariants(const ProgramSpace& space, const std::string& filter) {
  Context context;
  v1::CountVariantsRequest request;
  ToProto(space, request.add_spaces());
  if (!filter.empty()) {
    ToFilter(filter, *request.mutable_filter());
  }
  v1::CountVariantsReply reply;
  const grpc::Status status = state_->compile->CountVariants(&context.grpc, request, &reply);
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

Result<VariantPage> Client::ListVariants(const ProgramSpace& space, const std::string& filter,
                                         uint32_t page_size, const std::string& page) {
  Context context;
  v1::ListVariantsRequest request;
  ToProto(space, request.mutable_space());
  if (!filter.empty()) {
    ToFilter(filter, *request.mutable_filter());
  }
  request.set_page_size(page_size);
  request.set_page_token(page);
  v1::ListVariantsReply reply;
  const grpc::Status status = state_->compile->ListVariants(&context.grpc, request, &reply);
  if (!status.ok()) {
    return context.Failed(status);
  }
  VariantPage result{.rows = {}, .next = reply.next_page_token()};
  for (const v1::VariantRow& row : reply.rows()) {
    result.rows.push_back(FromProto(row));
  }
  return result;
}

}  // namespace kiln::client
