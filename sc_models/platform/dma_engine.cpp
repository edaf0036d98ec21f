#include "platform/dma_engine.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "engine/wheel_module.h"

namespace mrc {
namespace {

sc_core::sc_time until(TimePs time) {
  const TimePs now = kernel_now();
  return sc_core::sc_time::from_value(time > now ? time - now : 0);
}

}  // namespace

/// A thread that calls b_transport for reads; it is made when all others are inside a call.
struct DmaEngine::Worker {
  sc_core::sc_event wake;
  bool idle = false;
};

DmaEngine::DmaEngine(const sc_core::sc_module_name& name, Socket& socket, DmaListener& listener,
                     const DmaEngineOptions& options)
    : sc_module(name), socket_(socket), listener_(listener), options_(options) {
  if (options.blocking_reads == 0) throw std::invalid_argument("DMA: blocking_reads is 0; at least 1");
  socket_.register_nb_transport_bw(this, &DmaEngine::nb_transport_bw);
  socket_.register_invalidate_direct_mem_ptr(this, &DmaEngine::invalidate_dmi);
  const auto spawn_method = [](const std::function<void()>& method, const char* process, sc_core::sc_event& event) {
    sc_core::sc_spawn_options spawn;
    spawn.spawn_method();
    spawn.dont_initialize();
    spawn.set_sensitivity(&event);
    sc_core::sc_spawn(method, process, &spawn);
  };
  spawn_method([this] { take_due_reads(); }, "take_due_reads", read_due_);
  spawn_method([this] { send_requests(); }, "send_requests", requests_due_);
  sc_core::sc_spawn([this] { write_loop(); }, "writes");
}

DmaEngine::~DmaEngine() = default;

void DmaEngine::read(TimePs at, const HostRead& request) {
  DmaTransaction* transaction = pool_.acquire();
  transaction->read = request;
  transaction->due = at;
  transaction->bytes.resize(request.into == nullptr ? request.bytes : 0);
  transaction->set_command(tlm::TLM_READ_COMMAND);
  transaction->set_address(request.address);
  transaction->set_data_ptr(request.into == nullptr ? transaction->bytes.data()
                                                    : reinterpret_cast<unsigned char*>(request.into));
  transaction->set_data_length(request.bytes);
  transaction->set_streaming_width(request.bytes);
  reads_.push(transaction);
  read_due_.notify(until(reads_.top()->due));
}

void DmaEngine::write(TimePs at, std::uint64_t address, const std::byte* source, std::uint32_t bytes, WriteKind kind) {
  DmaTransaction* transaction = pool_.acquire();
  transaction->due = last_write_ = std::max(at, last_write_);
  transaction->behind_all_writes = kind != WriteKind::payload;
  transaction->completion = kind == WriteKind::completion;
  const auto* begin = reinterpret_cast<const unsigned char*>(source);
  transaction->bytes.assign(begin, begin + bytes);
  transaction->set_command(tlm::TLM_WRITE_COMMAND);
  transaction->set_address(address);
  transaction->set_data_ptr(transaction->bytes.data());
  transaction->set_data_length(bytes);
  transaction->set_streaming_width(bytes);
  writes_.push_back(transaction);
  write_due_.notify(until(writes_.front()->due));
}

bool DmaEngine::by_dmi(DmaTransaction& transaction, TimePs& at) {
  const bool reading = transaction.is_read();
  const sc_dt::uint64 first = transaction.get_address();
  const sc_dt::uint64 last = first + transaction.get_data_length() - 1;
  for (tlm::tlm_dmi& region : regions_) {
    if (first < region.get_start_address() || last > region.get_end_address()) continue;
    if (reading ? !region.is_read_allowed() : !region.is_write_allowed()) continue;
    unsigned char* memory = region.get_dmi_ptr() + (first - region.get_start_address());
    if (reading) {
      std::memcpy(transaction.get_data_ptr(), memory, transaction.get_data_length());
    } else {
      std::memcpy(memory, transaction.get_data_ptr(), transaction.get_data_length());
    }
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
    at = kernel_now() + (reading ? region.get_read_latency() : region.get_write_latency()).value();
    ++counters_.by_dmi;
    return true;
  }
  return false;
}

void DmaEngine::ask_for_dmi(DmaTransaction& transaction) {
  if (!options_.use_dmi || !transaction.is_dmi_allowed()) return;
  // The offer speaks of this command and address, so they stay as they were.
  tlm::tlm_dmi region;
  if (!socket_->get_direct_mem_ptr(transaction, region)) return;
  regions_.push_back(region);
  ++counters_.dmi_grants;
}

void DmaEngine::invalidate_dmi(sc_dt::uint64 first, sc_dt::uint64 last) {
  ++counters_.dmi_invalidations;
  std::erase_if(regions_, [&](const tlm::tlm_dmi& region) {
    return region.get_start_address() <= last && region.get_end_address() >= first;
  });
}

void DmaEngine::end(DmaTransaction& transaction, TimePs at) {
  const bool ok = transaction.is_response_ok();
  if (transaction.is_read()) {
    ++counters_.reads;
    listener_.read_ended(transaction.read, at, ok);
  } else {
    ++counters_.writes;
    last_write_end_ = std::max(last_write_end_, at);
    listener_.write_ended(transaction, at, ok);
  }
}

// ---- reads

void DmaEngine::take_due_reads() {
  const TimePs now = kernel_now();
  while (!reads_.empty() && reads_.top()->due <= now) {
    DmaTransaction* transaction = reads_.top();
    reads_.pop();
    TimePs at = now;
    if (by_dmi(*transaction, at)) {
      end(*transaction, at);
      transaction->release();
      continue;
    }
    due_reads_.push_back(transaction);
  }
  if (!due_reads_.empty()) {
    if (options_.protocol == DmaProtocol::nb_transport) {
      requests_due_.notify(sc_core::SC_ZERO_TIME);
    } else {
      wake_worker();
    }
  }
  if (!reads_.empty()) read_due_.notify(until(reads_.top()->due));
}

void DmaEngine::wake_worker() {
  for (const auto& worker : workers_) {
    if (!worker->idle) continue;
    worker->idle = false;
    worker->wake.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  // All are inside a call: one that comes back takes the read.
  if (workers_.size() == options_.blocking_reads) return;
  workers_.push_back(std::make_unique<Worker>());
  Worker* worker = workers_.back().get();
  sc_core::sc_spawn([this, worker] { work(*worker); }, sc_core::sc_gen_unique_name("reads"));
}

void DmaEngine::work(Worker& worker) {
  while (true) {
    while (!due_reads_.empty()) {
      DmaTransaction* transaction = due_reads_.front();
      due_reads_.pop_front();
      // Should this call wait, somebody else goes on.
      if (!due_reads_.empty()) wake_worker();
      read_blocking(*transaction);
    }
    worker.idle = true;
    sc_core::wait(worker.wake);
  }
}

void DmaEngine::read_blocking(DmaTransaction& transaction) {
  sc_core::sc_time delay;
  socket_->b_transport(transaction, delay);
  end(transaction, kernel_now() + delay.value());
  ask_for_dmi(transaction);
  transaction.release();
}

// ---- writes

void DmaEngine::write_loop() {
  while (true) {
    const TimePs now = kernel_now();
    if (writes_.empty() || writes_.front()->due > now) {
      if (!writes_.empty()) write_due_.notify(until(writes_.front()->due));
      sc_core::wait(write_due_);
      continue;
    }
    DmaTransaction* transaction = writes_.front();
    // What an annotated delay says is done later is done before a CQE that speaks of it.
    if (transaction->behind_all_writes && last_write_end_ > now) {
      sc_core::wait(until(last_write_end_));
      continue;
    }
    // Who looks into the memory at this instant sees what was before, whichever process the kernel would run first: the
    // order of two that wake at one time depends on when they asked for it, and so on how far the NIC runs ahead.
    if (settled_at_ != now) {
      settled_at_ = now;
      sc_core::wait(sc_core::SC_ZERO_TIME);
      continue;
    }
    TimePs at = now;
    if (writes_open_ == 0 && by_dmi(*transaction, at)) {
      writes_.pop_front();
    } else if (options_.protocol == DmaProtocol::nb_transport) {
      requests_due_.notify(sc_core::SC_ZERO_TIME);
      sc_core::wait(write_due_);
      continue;
    } else {
      writes_.pop_front();
      sc_core::sc_time delay;
      socket_->b_transport(*transaction, delay);
      at = kernel_now() + delay.value();
      ask_for_dmi(*transaction);
    }
    end(*transaction, at);
    transaction->release();
  }
}

// ---- non-blocking

DmaTransaction* DmaEngine::next_request() {
  const TimePs now = kernel_now();
  const bool write_due =
      options_.protocol == DmaProtocol::nb_transport && !writes_.empty() && writes_.front()->due <= now;
  const bool others_ended = writes_open_ == 0 && last_write_end_ <= now;
  if (write_due && (others_ended || !writes_.front()->behind_all_writes)) {
    DmaTransaction* transaction = writes_.front();
    writes_.pop_front();
    ++writes_open_;
    return transaction;
  }
  if (due_reads_.empty()) return nullptr;
  DmaTransaction* transaction = due_reads_.front();
  due_reads_.pop_front();
  return transaction;
}

void DmaEngine::send_requests() {
  for (DmaTransaction* transaction : retired_) transaction->release();
  retired_.clear();
  if (request_open_ != nullptr) return;
  // One request in the same instant: the next one follows the END_REQ of this one.
  if (DmaTransaction* transaction = next_request()) send_request(*transaction);
}

void DmaEngine::send_request(DmaTransaction& transaction) {
  request_open_ = &transaction;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  switch (socket_->nb_transport_fw(transaction, phase, delay)) {
    case tlm::TLM_ACCEPTED:
      return;
    case tlm::TLM_UPDATED:
      if (phase == tlm::END_REQ) {
        request_open_ = nullptr;
        requests_due_.notify(delay);
        write_due_.notify(delay);
        return;
      }
      response(transaction, delay);
      // The target waits for the end of its response.
      phase = tlm::END_RESP;
      socket_->nb_transport_fw(transaction, phase, delay);
      return;
    case tlm::TLM_COMPLETED:
      response(transaction, delay);
      return;
  }
}

void DmaEngine::request_accepted() {
  request_open_ = nullptr;
  requests_due_.notify(sc_core::SC_ZERO_TIME);
  write_due_.notify(sc_core::SC_ZERO_TIME);
}

void DmaEngine::response(DmaTransaction& transaction, const sc_core::sc_time& delay) {
  if (transaction.answered) return;
  transaction.answered = true;
  if (request_open_ == &transaction) request_open_ = nullptr;
  if (transaction.is_write()) --writes_open_;
  end(transaction, kernel_now() + delay.value());
  ask_for_dmi(transaction);
  retired_.push_back(&transaction);
  requests_due_.notify(sc_core::SC_ZERO_TIME);
  write_due_.notify(sc_core::SC_ZERO_TIME);
}

tlm::tlm_sync_enum DmaEngine::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  auto& transaction = static_cast<DmaTransaction&>(payload);
  if (phase == tlm::END_REQ) {
    request_accepted();
    return tlm::TLM_ACCEPTED;
  }
  if (phase == tlm::BEGIN_RESP) {
    response(transaction, delay);
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;
}

}  // namespace mrc
