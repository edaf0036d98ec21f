// One training step of a transformer as executed by its ranks: from the shape of the model, its distribution over
// ranks, the batch and the speed of the accelerator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/workload.h"

namespace mrc {

/// A published model's shape, or one like it.
struct ModelShape {
  std::string name;
  std::uint32_t layers = 1;
  std::uint32_t hidden = 1024;
  std::uint32_t feed_forward = 4096;  ///< of a dense layer, or of one expert
  double key_value_share = 1.0;       ///< key and value heads over query heads
  std::uint32_t vocabulary = 32'000;
  std::uint32_t sequence_tokens = 4096;
  std::uint32_t experts = 0;  ///< 0: dense
  std::uint32_t experts_a_token = 0;
  std::uint32_t shared_experts = 0;  ///< used by every token
};

/// Ranks: tensor parallel ones are adjacent, then data parallel ones, then pipeline stages. Expert parallel groups are
/// adjacent among the data parallel ranks.
struct TrainingOptions {
  ModelShape model;
  std::uint32_t tensor_parallel = 1;
  std::uint32_t pipeline_parallel = 1;
  std::uint32_t data_parallel = 1;
  std::uint32_t expert_parallel = 1;
  std::uint32_t micro_batches = 1;  ///< per data parallel rank and step
  std::uint32_t micro_batch_sequences = 1;
  double accelerator_tflops = 1000;    ///< peak, of the numbers' type
  double efficiency = 0.45;            ///< of the peak that kernels reach
  std::uint32_t bytes_per_number = 2;  ///< of activations, weights and gradients
};

/// Dense and mixture-of-experts models of current sizes.
const std::vector<ModelShape>& model_presets();

/// The step with one-forward-one-backward pipelining, sharded optimizer (gradients are reduce-scattered during the last
/// backward pass, weights gathered at the end), and the tensor parallel all-reduces and expert parallel all-to-alls of
/// each layer. Throws TraceError if the parallelism does not divide the model or the ranks.
Workload make_training_step(const TrainingOptions& options);

}  // namespace mrc
