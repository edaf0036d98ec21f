// What rdma-core's libibverbs and a provider share besides verbs.h: the private interface of versions 34 (rdma-core 39
// to 56), 57, 59, 64 and 65. Only what this provider touches has a name here; the order and the sizes are the
// interface. The versions differ in the operations and in the length of verbs_context. One provider serves all: it asks
// the library that loaded it.
#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

extern "C" {

struct verbs_list_node {
  verbs_list_node* next;
  verbs_list_node* previous;
};

/// A device in sysfs; only its name is looked at here.
struct verbs_sysfs_dev {
  verbs_list_node entry;
  void* provider_data;
  const void* match;
  unsigned int flags;
  char sysfs_name[IBV_SYSFS_NAME_MAX];
  dev_t sysfs_cdev;
  char ibdev_name[IBV_SYSFS_NAME_MAX];
};

struct verbs_device {
  ibv_device device;
  const void* ops;
  std::atomic<int> references;
  verbs_list_node entry;
  verbs_sysfs_dev* sysfs;
  std::uint64_t core_support;
};

struct verbs_device_ops {
  const char* name;
  std::uint32_t match_min_abi_version;
  std::uint32_t match_max_abi_version;
  const void* match_table;
  const void* static_providers;
  bool (*match_device)(verbs_sysfs_dev* sysfs);
  verbs_context* (*alloc_context)(ibv_device* device, int command_fd, void* private_data);
  verbs_context* (*import_context)(ibv_device* device, int command_fd);
  verbs_device* (*alloc_device)(verbs_sysfs_dev* sysfs);
  void (*uninit_device)(verbs_device* device);
};

struct verbs_mr {
  ibv_mr mr;
  int type;  ///< 0: ordinary memory
  int access;
};

struct verbs_qp {
  union {
    ibv_qp qp;
    ibv_qp_ex qp_ex;
  };
  std::uint32_t comp_mask;
  void* xrcd;
};
/// Of verbs_qp::comp_mask: qp_ex may be used.
inline constexpr std::uint32_t kQpIsExtended = 1U << 1;

}  // extern "C"

namespace mrc::verbs {

/// Functions of libibverbs that only providers use. Their symbols have the interface's version, so they are looked up.
struct PrivateFunctions {
  void (*register_driver)(const verbs_device_ops* ops);
  void* (*init_and_alloc_context)(ibv_device* device, int command_fd, std::size_t bytes, verbs_context* offset,
                                  std::uint32_t driver_id);
  void (*uninit_context)(verbs_context* context);
  void (*set_ops)(verbs_context* context, const void* ops);
};

/// Operations of verbs_set_ops(), in the order of their names.
enum class Op : std::uint32_t {
  advise_mr,
  alloc_buf,
  alloc_dm,
  alloc_dmah,
  alloc_mw,
  alloc_null_mr,
  alloc_parent_domain,
  alloc_pd,
  alloc_td,
  async_event,
  attach_counters_point_flow,
  attach_mcast,
  bind_mw,
  close_xrcd,
  cq_event,
  create_ah,
  create_comp_cntr,
  create_counters,
  create_cq,
  create_cq_ex,
  create_flow,
  create_flow_action_esp,
  create_qp,
  create_qp_ex,
  create_rwq_ind_table,
  create_srq,
  create_srq_ex,
  create_wq,
  dealloc_dmah,
  dealloc_mw,
  dealloc_pd,
  dealloc_td,
  dereg_mr,
  destroy_ah,
  destroy_comp_cntr,
  destroy_counters,
  destroy_cq,
  destroy_flow,
  destroy_flow_action,
  destroy_qp,
  destroy_rwq_ind_table,
  destroy_srq,
  destroy_wq,
  detach_mcast,
  dm_export_dmabuf_fd,
  free_buf,
  free_context,
  free_dm,
  get_srq_num,
  import_dm,
  import_mr,
  import_pd,
  inc_comp_cntr,
  inc_err_comp_cntr,
  modify_cq,
  modify_flow_action_esp,
  modify_qp,
  modify_qp_rate_limit,
  modify_srq,
  modify_wq,
  open_qp,
  open_xrcd,
  poll_cq,
  post_recv,
  post_send,
  post_srq_ops,
  post_srq_recv,
  qp_attach_comp_cntr,
  query_comp_cntr_caps,
  query_device_ex,
  query_ece,
  query_port,
  query_port_speed,
  query_qp,
  query_qp_data_in_order,
  query_rt_values,
  query_srq,
  read_comp_cntr,
  read_counters,
  read_err_comp_cntr,
  reg_dm_mr,
  reg_dmabuf_mr,
  reg_mr,
  reg_mr_ex,
  req_notify_cq,
  rereg_mr,
  resize_cq,
  set_comp_cntr,
  set_ece,
  set_err_comp_cntr,
  unimport_dm,
  unimport_mr,
  unimport_pd,
};

inline constexpr std::uint32_t kOperations = static_cast<std::uint32_t>(Op::unimport_pd) + 1;

/// Operations that came later: a library has them if it has this function.
struct AddedOperations {
  const char* function;
  std::uint32_t count;
  Op ops[10];
};
inline constexpr AddedOperations kAddedOperations[] = {
    {"ibv_alloc_dmah", 3, {Op::alloc_dmah, Op::dealloc_dmah, Op::reg_mr_ex}},
    {"ibv_query_port_speed", 2, {Op::dm_export_dmabuf_fd, Op::query_port_speed}},
    {"ibv_alloc_buf", 2, {Op::alloc_buf, Op::free_buf}},
    {"ibv_create_comp_cntr",
     10,
     {Op::create_comp_cntr, Op::destroy_comp_cntr, Op::inc_comp_cntr, Op::inc_err_comp_cntr, Op::qp_attach_comp_cntr,
      Op::query_comp_cntr_caps, Op::read_comp_cntr, Op::read_err_comp_cntr, Op::set_comp_cntr, Op::set_err_comp_cntr}},
};

/// What verbs_set_ops() takes: one pointer for each operation that the library has. Empty places keep what libibverbs
/// has there.
class OpTable {
 public:
  /// Of an operation that the library does not have; before the first set().
  void leave_out(Op op) { left_out_[static_cast<std::uint32_t>(op)] = true; }
  template <typename Function>
  void set(Op op, Function* function) {
    std::uint32_t place = 0;
    for (std::uint32_t before = 0; before < static_cast<std::uint32_t>(op); ++before)
      place += left_out_[before] ? 0 : 1;
    places_[place] = reinterpret_cast<void*>(function);
  }
  const void* data() const { return places_; }

 private:
  bool left_out_[kOperations] = {};
  void* places_[kOperations] = {};
};

}  // namespace mrc::verbs
