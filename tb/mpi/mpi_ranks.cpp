#include "mpi/mpi_ranks.h"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace mrc {
namespace {

/// MPI counts in int.
int count_of(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::length_error(
        "more than 2 GiB for one message between ranks; fewer links may be cut, or more ranks used");
  }
  return static_cast<int>(bytes);
}

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    // Errors of MPI itself end the job, which is its default.
    MPI_Init(nullptr, nullptr);
    int value = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &value);
    rank_ = static_cast<std::uint32_t>(value);
    MPI_Comm_size(MPI_COMM_WORLD, &value);
    size_ = static_cast<std::uint32_t>(value);
    mine_.resize(size_);
    theirs_.resize(size_);
  }
  ~MpiRanks() override { MPI_Finalize(); }

  std::uint32_t rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }

  TimePs exchange(std::vector<Bytes>& out, std::vector<Bytes>& in, TimePs earliest) override {
    for (std::uint32_t r = 0; r < size_; ++r) mine_[r] = {out[r].size(), earliest};
    MPI_Alltoall(mine_.data(), 2, MPI_UINT64_T, theirs_.data(), 2, MPI_UINT64_T, MPI_COMM_WORLD);
    requests_.clear();
    for (std::uint32_t r = 0; r < size_; ++r) {
      earliest = std::min(earliest, theirs_[r].earliest);
      in[r].resize(theirs_[r].bytes);
      if (in[r].empty()) continue;
      MPI_Irecv(in[r].data(), count_of(in[r].size()), MPI_BYTE, static_cast<int>(r), kTag, MPI_COMM_WORLD,
                &requests_.emplace_back());
    }
    for (std::uint32_t r = 0; r < size_; ++r) {
      if (out[r].empty()) continue;
      MPI_Isend(out[r].data(), count_of(out[r].size()), MPI_BYTE, static_cast<int>(r), kTag, MPI_COMM_WORLD,
                &requests_.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    for (Bytes& bytes : out) bytes.clear();
    return earliest;
  }

  void sum(std::span<std::uint64_t> values) override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  }

  std::vector<Bytes> gather(const Bytes& mine) override {
    std::uint64_t size = mine.size();
    std::vector<std::uint64_t> sizes(rank_ == 0 ? size_ : 0);
    MPI_Gather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank_ != 0) {
      for (std::size_t at = 0; at < mine.size(); at += kPiece) {
        MPI_Send(mine.data() + at, piece(mine.size() - at), MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
      }
      return {};
    }
    std::vector<Bytes> all(size_);
    all[0] = mine;
    for (std::uint32_t r = 1; r < size_; ++r) {
      all[r].resize(sizes[r]);
      for (std::size_t at = 0; at < all[r].size(); at += kPiece) {
        MPI_Recv(all[r].data() + at, piece(all[r].size() - at), MPI_BYTE, static_cast<int>(r), kTag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
      }
    }
    return all;
  }

 private:
  static constexpr int kTag = 1;
  static constexpr std::size_t kPiece = std::size_t{1} << 30;
  struct Announcement {
    std::uint64_t bytes = 0;
    TimePs earliest = 0;
  };

  static int piece(std::size_t left) { return static_cast<int>(std::min(left, kPiece)); }

  std::uint32_t rank_ = 0;
  std::uint32_t size_ = 0;
  std::vector<Announcement> mine_;
  std::vector<Announcement> theirs_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

bool has_mpi() {
  return true;
}

std::unique_ptr<Ranks> join_mpi_ranks() {
  return std::make_unique<MpiRanks>();
}

void abort_mpi_ranks(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace mrc
