// SPDX-License-Identifier: MIT
// Another daemon's CacheService as a BlobStore. See spec/cache 7, spec/daemon 4.5
#pragma once

#include <memory>
#include <string>

#include "cache/store.h"
#include "cache/upstream/tls_probe.h"

namespace grpc {
class Channel;
}

namespace kiln::cache::upstream {

// Threads: see BlobStore.
class GrpcStore final : public BlobStore {
 public:
  struct Options {
    std::string url;         // unix:/run/kiln/kilnd.sock, https://cache.example:7411
    std::string token_file;  // its first line is sent as a bearer; empty: none
    TlsFiles tls;            // of https
  };                         // the files are read again when they change

  // Connects when it is first used. Errors: kInvalidArgument for an address of another form.
  static Result<std::unique_ptr<GrpcStore>> Open(const Options& options, Clock& clock);
  // Over a channel that brings its credentials along.
  static std::unique_ptr<GrpcStore> Over(std::shared_ptr<grpc::Channel> channel, Clock& clock);
  ~GrpcStore() override;

  // Whether the daemon answers, and takes the certificate and the token. Errors: those of the
  // transport, below.
  Result<void> Check(const Call& call);

  // Errors: kNotFound; of the transport kUnavailable, kDeadlineExceeded, kCancelled,
  // kUnauthenticated and kPermissionDenied, with the cause as far as it can be found out; kCorrupt
  // for what is not what was asked for.
  Result<Blob> Get(const Key& key, const Call& call) override;
  // Durable there when it returns, whatever is asked. Errors: as BlobStore::Put.
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override;
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override;
  void Touch(std::span<const Key>) override {}  // to be asked for is to be used

 private:
  struct State;
  explicit GrpcStore(std::unique_ptr<State> state);

  Result<Blob> GetContent(const Key& key, const Call& call);
  Result<Blob> GetRow(const Key& key, const Call& call);
  Result<void> PutContent(std::span<const Item* const> items, const Call& call, PutResult& stored);
  Result<void> PutRows(std::span<const Item* const> items, const Call& call, PutResult& stored);

  std::unique_ptr<State> state_;
};

}  // namespace kiln::cache::upstream
