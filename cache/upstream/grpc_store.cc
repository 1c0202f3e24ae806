// SPDX-License-Identifier: MIT
// One call of the store is one call of the protocol, with the deadline and the stop of its caller;
// a put is two or three. Nothing is kept between calls but the connection and what is known about
// its trouble. Whatever comes is checked before it is handed on: content by its id, rows by
// decoding (spec/cache 7.3).
#include "cache/upstream/grpc_store.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "cache/compression/codec.h"
#include "cache/record.h"
#include "compiler/base/files/file.h"
#include "compiler/base/mutex.h"
#include "proto/kiln/v1/cache.grpc.pb.h"

namespace kiln::cache::upstream {
namespace {

// More than any message of the protocol has (spec/daemon 10), so that only a broken peer meets it.
constexpr int kMaxMessage = 8 << 20;
constexpr size_t kChunk = size_t{1} << 20;
constexpr size_t kMostKeys = 10'000;  // of one request (spec/daemon 4.5)
constexpr size_t kMostRows = 1'000;   // of one message, which is bounded
constexpr uint64_t kFrameOverhead = uint64_t{64} << 10;
constexpr unsigned kFileSeconds = 5;  // how often certificates and token are looked at
// How often the cause of a missing connection is looked for, and for how long at most.
constexpr Duration kLookEvery = std::chrono::seconds(30);
constexpr Duration kLookTime = std::chrono::seconds(2);

// Codes that callers act on keep their meaning; everything else means that the upstream is not
// there for now, which trips the breaker.
Error ErrorOf(const grpc::Status& status) {
  ErrorCode code = ErrorCode::kUnavailable;
  switch (status.error_code()) {
    case grpc::StatusCode::CANCELLED:
      code = ErrorCode::kCancelled;
      break;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      code = ErrorCode::kDeadlineExceeded;
      break;
    case grpc::StatusCode::INVALID_ARGUMENT:
      code = ErrorCode::kInvalidArgument;
      break;
    case grpc::StatusCode::UNAUTHENTICATED:
      code = ErrorCode::kUnauthenticated;
      break;
    case grpc::StatusCode::PERMISSION_DENIED:
      code = ErrorCode::kPermissionDenied;
      break;
    default:  // the rest may work another time
      break;
  }
  return {.code = code, .context = "upstream: " + status.error_message(), .reason = {}};
}

// The first line of a file. Errors: kInvalidArgument if it is not a token.
Result<std::string> TokenIn(const std::string& file) {
  if (file.empty()) {
    return std::string();
  }
  const Result<std::string> text = ReadFile(file);
  std::string token = text.ok() ? text->substr(0, text->find_first_of("\r\n")) : std::string();
  // A wrong file, a private key for example, must not be sent as a token.
  if (!token.starts_with("kiln_") || token.find_first_of(" \t") != std::string::npos) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "upstream.token_file '" + file + "' " +
                            (text.ok() ? "holds no token: put the line of 'kiln token create' there"
                                       : "cannot be read: " + text.error().context),
                 .reason = "BAD_UPSTREAM"};
  }
  return token;
}

// Like the server's: gRPC looks at the files now and then.
std::shared_ptr<grpc::ChannelCredentials> CredentialsOf(const TlsFiles& files) {
  // Renewed certificates are taken up without a restart.
  namespace tls = grpc::experimental;
  if (files.ca.empty() && files.cert.empty()) {
    return grpc::SslCredentials({});
  }
  tls::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(std::make_shared<tls::FileWatcherCertificateProvider>(
      files.key, files.cert, files.ca, kFileSeconds));
  if (!files.ca.empty()) {
    options.watch_root_certs();
  }
  if (!files.cert.empty()) {
    options.watch_identity_key_cert_pairs();
  }
  return tls::TlsCredentials(options);
}

std::string BytesOf(const Hash128& id) { return {id.bytes.begin(), id.bytes.end()}; }

void ToProto(const Hash128& id, uint64_t size, v1::Digest& digest) {
  digest.set_id(BytesOf(id));
  digest.set_size(size);
}

Error NotThere(const Key& key) {
  return {.code = ErrorCode::kNotFound, .context = KeyText(key), .reason = {}};
}

Error Wrong(const Key& key, const char* what) {
  return {.code = ErrorCode::kCorrupt, .context = KeyText(key) + ": " + what, .reason = {}};
}

// Requires: the key is not one of content.
v1::CacheRow::Level LevelOf(Level level) {
  switch (level) {
    case Level::kContent:
      break;
    case Level::kModule:
      return v1::CacheRow::MODULE;
    case Level::kMask:
      return v1::CacheRow::MASK;
    case Level::kSignature:
      return v1::CacheRow::SIGNATURE;
    case Level::kRecipe:
      return v1::CacheRow::RECIPE;
    case Level::kAlias:
      return v1::CacheRow::VARIANT;  // live keys are the same kind of row
  }
  return v1::CacheRow::LEVEL_UNSPECIFIED;
}

void ToProto(const Key& key, v1::CacheRow& row) {
  row.set_level(LevelOf(key.level));
  row.set_key(BytesOf(key.id));
}

// Bounded before anything is allocated for it, and by content id before it is handed out.
Result<Blob> Unpacked(const Key& key, const std::string& encoded, v1::Codec codec) {
  Blob blob = CopiedBlob(AsBytes(encoded));
  if (codec == v1::CODEC_ZSTD) {
    const std::optional<uint64_t> size = SizeInFrame(blob.bytes);
    if (!size.has_value()) {
      return Wrong(key, "no zstd frame");
    }
    blob.codec = Codec::kZstd;
    blob.raw_size = *size;
    KILN_TRY(blob, Decompress(blob));
  }
  // The content id is computed where bytes come in from outside (spec/cache 1.2): a wrong upstream
  // costs a miss and nothing else.
  if (HashBytes(blob.bytes) != key.id) {
    return Wrong(key, "other content came");
  }
  blob.sum = ContentSum(key.id, blob.bytes);
  return blob;
}

// The words of the protocol become errors of stores, by which callers decide: missing references
// are put again, a full store is left alone.
Error RefusalOf(const std::string& reason) {
  if (reason == "REFS_MISSING") {
    return {.code = ErrorCode::kFailedPrecondition,
            .context = "upstream: a row names content that is not there",
            .reason = std::string(kRefsMissing)};
  }
  if (reason == "FULL") {
    return {.code = ErrorCode::kFull, .context = "upstream: the store is full", .reason = {}};
  }
  return {.code = ErrorCode::kInvalidArgument, .context = "upstream: " + reason, .reason = {}};
}

}  // namespace

struct GrpcStore::State {
  State(Clock& use_clock, std::string use_token_file)
      : clock(use_clock), token_file(std::move(use_token_file)) {}

  Clock& clock;
  const std::string token_file;  // or empty
  std::string host_port;         // of https, else empty
  TlsFiles tls;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::CacheService::Stub> stub;

  Mutex looking;  // held while the cause is looked for; taken before `mutex`
  Mutex mutex;
  Duration look_at KILN_GUARDED_BY(mutex) = Duration::min();  // not before
  std::optional<Error> cause KILN_GUARDED_BY(mutex);          // that the last look found
  Duration token_until KILN_GUARDED_BY(mutex) = Duration::min();
  Result<std::string> token KILN_GUARDED_BY(mutex) = std::string();

  // Of a call; empty without a token. Files are read again now and then: tokens expire. In any
  // thread, so under the mutex. A file that cannot be read leaves the call without a token: the
  // answer then says so, and Failed tells why.
  std::string Authorization() {
    const MutexLock lock(mutex);
    const Duration now = clock.Monotonic();
    if (now >= token_until) {
      token = TokenIn(token_file);
      token_until = now + std::chrono::seconds(kFileSeconds);
    }
    return token.ok() && !token->empty() ? "Bearer " + *token : std::string();
  }

  // What the status says, or what is behind it.
  Error Failed(const grpc::Status& status) {
    Error error = ErrorOf(status);
    if (error.code == ErrorCode::kUnauthenticated) {
      const MutexLock lock(mutex);
      error.context = token.ok() ? error.context : token.error().context;
      return error;
    }
    // gRPC does not say why there is no connection. A handshake of its own finds out, at most once
    // in kLookEvery, and all who fail meanwhile get its answer.
    const bool is_transport =
        error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kDeadlineExceeded;
    if (!is_transport || host_port.empty()) {
      return error;
    }
    {
      const MutexLock lock(mutex);
      if (cause.has_value() && clock.Monotonic() < look_at) {
        return *cause;
      }
    }
    // Who fails while the first one looks waits for what it finds, or would tell less.
    const MutexLock one(looking);
    {
      const MutexLock lock(mutex);
      // Looked while this thread waited for `looking`.
      if (clock.Monotonic() < look_at) {
        return cause.value_or(error);
      }
    }
    const Result<void> found = ProbeTls(host_port, tls, kUpstreamNames, kLookTime);
    const MutexLock lock(mutex);
    look_at = clock.Monotonic() + kLookEvery;
    cause = found.ok() ? std::nullopt : std::optional(found.error());
    if (cause.has_value() && cause->code == ErrorCode::kInvalidArgument) {
      cause->code = ErrorCode::kUnavailable;  // the files are wrong, not what was asked
    }
    return cause.value_or(error);
  }

  // A call that ends when the caller leaves or its time is over. TryCancel may be called before the
  // call begins and after it ended; the callback is taken off before the context goes.
  struct Context {
    Context(State& state, const Call& call) : on_stop(call.stop, [this] { grpc.TryCancel(); }) {
      if (const std::string authorization = state.Authorization(); !authorization.empty()) {
        grpc.AddMetadata("authorization", authorization);
      }
      if (call.deadline != Deadline::max()) {
        // gRPC counts in the time of day, the deadline is one of the steady clock: the difference
        // is what they share.
        grpc.set_deadline(std::chrono::system_clock::now() +
                          std::chrono::duration_cast<std::chrono::microseconds>(
                              call.deadline - state.clock.Monotonic()));
      }
    }
    grpc::ClientContext grpc;
    std::stop_callback<std::function<void()>> on_stop;
  };
};

GrpcStore::GrpcStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
GrpcStore::~GrpcStore() = default;

Result<std::unique_ptr<GrpcStore>> GrpcStore::Open(const Options& options, Clock& clock) {
  constexpr std::string_view kSecure = "https://";
  const bool local = options.url.starts_with("unix:");
  if (!local && !options.url.starts_with(kSecure)) {
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .context = "'" + options.url + "' is no upstream: write unix:PATH or https://HOST:PORT",
        .reason = "BAD_UPSTREAM"};
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessage);
  arguments.SetMaxSendMessageSize(kMaxMessage);
  // The circuit breaker decides when an upstream is asked again. gRPC's own waiting, up to two
  // minutes, would make it miss the moment.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5'000);
  auto state = std::make_unique<State>(clock, options.token_file);
  // Only for sockets of this machine, whose owner the caller has checked.
  if (local) {
    state->channel =
        grpc::CreateCustomChannel(options.url, grpc::InsecureChannelCredentials(), arguments);
  } else {
    state->host_port = options.url.substr(kSecure.size());
    state->tls = options.tls;
    state->channel =
        grpc::CreateCustomChannel(state->host_port, CredentialsOf(options.tls), arguments);
  }
  state->stub = v1::CacheService::NewStub(state->channel);
  return std::unique_ptr<GrpcStore>(new GrpcStore(std::move(state)));
}

// Over a connection of somebody else, without a token: `kiln cache import` writes through the
// command's own.
std::unique_ptr<GrpcStore> GrpcStore::Over(std::shared_ptr<grpc::Channel> channel, Clock& clock) {
  auto state = std::make_unique<State>(clock, std::string());
  state->channel = std::move(channel);
  state->stub = v1::CacheService::NewStub(state->channel);
  return std::unique_ptr<GrpcStore>(new GrpcStore(std::move(state)));
}

// An empty question to the store: it needs the same rights and the same connection as real ones,
// and no work.
Result<void> GrpcStore::Check(const Call& call) {
  {
    const MutexLock lock(state_->mutex);
    state_->look_at = Duration::min();  // who asks wants to know how it is now
  }
  State::Context context(*state_, call);
  v1::FindMissingReply reply;
  const grpc::Status status =
      state_->stub->FindMissing(&context.grpc, v1::FindMissingRequest(), &reply);
  return status.ok() ? Result<void>() : Result<void>(state_->Failed(status));
}

Result<Blob> GrpcStore::Get(const Key& key, const Call& call) {
  return key.level == Level::kContent ? GetContent(key, call) : GetRow(key, call);
}

// Chunks of one content follow each other from offset 0; the stream has no other content, since
// only one was asked for.
Result<Blob> GrpcStore::GetContent(const Key& key, const Call& call) {
  State::Context context(*state_, call);
  v1::GetBlobsRequest request;
  ToProto(key.id, key.size, *request.add_digests());
  request.add_accept_codecs(v1::CODEC_NONE);
  request.add_accept_codecs(v1::CODEC_ZSTD);
  const auto reader = state_->stub->GetBlobs(&context.grpc, request);
  std::string encoded;
  v1::GetBlobsReply reply;
  v1::Codec codec = v1::CODEC_NONE;
  bool found = false;
  bool wrong = false;
  while (reader->Read(&reply)) {
    if (reply.status() != v1::GetBlobsReply::OK) {
      continue;
    }
    // Checked with each chunk, so an upstream that sends without end is cut off at the largest size
    // that content may have.
    wrong = wrong || reply.offset() != encoded.size() ||
            encoded.size() + reply.data().size() > kMaxValueBytes + kFrameOverhead;
    if (wrong) {
      context.grpc.TryCancel();
      break;
    }
    found = true;
    codec = reply.codec();
    encoded += reply.data();
  }
  const grpc::Status status = reader->Finish();
  if (wrong) {
    return Wrong(key, "chunks do not follow each other");
  }
  if (!status.ok()) {
    return state_->Failed(status);
  }
  return found ? Unpacked(key, encoded, codec) : Result<Blob>(NotThere(key));
}

Result<Blob> GrpcStore::GetRow(const Key& key, const Call& call) {
  State::Context context(*state_, call);
  v1::GetRowsRequest request;
  ToProto(key, *request.add_items());
  v1::GetRowsReply reply;
  const grpc::Status status = state_->stub->GetRows(&context.grpc, request, &reply);
  if (!status.ok()) {
    return state_->Failed(status);
  }
  if (reply.items().empty()) {
    return NotThere(key);
  }
  const v1::CacheRow& row = reply.items(0);
  const ByteView value = AsBytes(row.value());
  // A row of another key, or of another kiln that encodes rows differently.
  if (row.key() != BytesOf(key.id) || !SummarizeRow(key.level, value).ok()) {
    return Wrong(key, "other than what was asked for, or does not decode");
  }
  // Made anew from the bytes, so its sum is computed here and not believed.
  return RowItem(key, Bytes(value.begin(), value.end())).value;
}

// The durability of the upstream is its own matter: it answers after it has stored.
Result<PutResult> GrpcStore::Put(std::span<const Item> items, Durability /*durability*/,
                                 const Call& call) {
  PutResult stored;
  std::vector<const Item*> contents;
  std::vector<const Item*> rows;
  for (const Item& item : items) {
    (item.key.level == Level::kContent ? contents : rows).push_back(&item);
  }
  // Content before rows: the upstream refuses a row whose content is not there (spec/cache 4.4).
  KILN_TRY_VOID(PutContent(contents, call, stored));
  KILN_TRY_VOID(PutRows(rows, call, stored));
  return stored;
}

// Sends what is not there.
Result<void> GrpcStore::PutContent(std::span<const Item* const> items, const Call& call,
                                   PutResult& stored) {
  if (items.empty()) {
    return {};
  }
  std::vector<Key> keys;
  for (const Item* item : items) {
    keys.push_back(item->key);
  }
  // A question of 28 bytes for each content saves sending what others have put already, which is
  // most of it.
  KILN_TRY(const std::vector<Key> missing, FindMissing(keys, call));
  // A set, and erased from as it is sent: an item that is listed twice is sent once.
  std::set<Key> wanted(missing.begin(), missing.end());
  stored.present += items.size() - wanted.size();
  if (wanted.empty()) {
    return {};
  }
  State::Context context(*state_, call);
  v1::PutBlobsReply reply;
  const auto writer = state_->stub->PutBlobs(&context.grpc, &reply);
  bool open = true;
  for (const Item* item : items) {
    if (wanted.erase(item->key) == 0) {
      continue;  // there, or sent already
    }
    const Blob sent = Compress(item->value);
    size_t offset = 0;
    do {
      const ByteView bytes =
          sent.bytes.subspan(offset, std::min(kChunk, sent.bytes.size() - offset));
      v1::PutBlobsRequest chunk;
      ToProto(item->key.id, item->value.raw_size, *chunk.mutable_digest());
      chunk.set_offset(offset);
      chunk.set_codec(sent.codec == Codec::kZstd ? v1::CODEC_ZSTD : v1::CODEC_NONE);
      chunk.set_data(std::string(AsText(bytes)));
      offset += bytes.size();
      chunk.set_last(offset == sent.bytes.size());
      // A write that fails ends the loops; Finish() says why.
      open = open && writer->Write(chunk);
    } while (open && offset < sent.bytes.size());
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  if (!status.ok()) {
    return state_->Failed(status);
  }
  stored.added += reply.stored();
  return reply.rejected().empty() ? Result<void>() : RefusalOf(reply.rejected(0).reason());
}

// Rows of one put are sent in messages of bounded size, so they are not visible together there;
// each is whole by itself.
Result<void> GrpcStore::PutRows(std::span<const Item* const> items, const Call& call,
                                PutResult& stored) {
  for (size_t first = 0; first < items.size(); first += kMostRows) {
    v1::PutRowsRequest request;
    for (const Item* item : items.subspan(first, std::min(kMostRows, items.size() - first))) {
      v1::CacheRow& row = *request.add_items();
      ToProto(item->key, row);
      row.set_value(std::string(AsText(item->value.bytes)));
      // References go along with sizes, which the items here do not have.
      KILN_TRY(const RowSummary summary, SummarizeRow(item->key.level, item->value.bytes));
      for (const Product& product : summary.products) {
        ToProto(product.digest.id, product.digest.size, *row.add_refs());
      }
    }
    State::Context context(*state_, call);
    v1::PutRowsReply reply;
    const grpc::Status status = state_->stub->PutRows(&context.grpc, request, &reply);
    if (!status.ok()) {
      return state_->Failed(status);
    }
    const uint64_t present = std::min(reply.present(), reply.stored());
    stored.added += reply.stored() - present;  // an older daemon does not tell: all are new
    stored.present += present;
    for (const v1::PutRowsReply::Refused& refused : reply.refused()) {
      if (refused.reason() != "CONFLICT") {  // the first result stays (spec/cache 4.5)
        return RefusalOf(refused.reason());
      }
      ++stored.nondeterminism;
    }
  }
  return {};
}

// Two kinds of keys, asked in two ways. A failure is an error and not "missing": who asks decides.
Result<std::vector<Key>> GrpcStore::FindMissing(std::span<const Key> keys, const Call& call) {
  std::set<std::string> absent;  // contents
  std::vector<Key> contents;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(contents),
               [](const Key& key) { return key.level == Level::kContent; });
  for (size_t first = 0; first < contents.size(); first += kMostKeys) {
    v1::FindMissingRequest request;
    for (size_t i = first; i < std::min(contents.size(), first + kMostKeys); ++i) {
      ToProto(contents[i].id, contents[i].size, *request.add_digests());
    }
    State::Context context(*state_, call);
    v1::FindMissingReply reply;
    const grpc::Status status = state_->stub->FindMissing(&context.grpc, request, &reply);
    if (!status.ok()) {
      return state_->Failed(status);
    }
    for (const v1::Digest& digest : reply.missing()) {
      absent.insert(digest.id());
    }
  }
  std::vector<Key> missing;
  for (const Key& key : keys) {
    if (key.level == Level::kContent) {
      if (absent.contains(BytesOf(key.id))) {
        missing.push_back(key);
      }
      continue;
    }
    // The protocol asks for contents only; rows are small and are simply read.
    const Result<Blob> row = GetRow(key, call);
    if (!row.ok() && row.error().code != ErrorCode::kNotFound) {
      return row.error();
    }
    if (!row.ok()) {
      missing.push_back(key);
    }
  }
  return missing;
}

}  // namespace kiln::cache::upstream
