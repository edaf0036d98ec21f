// What rdma-core's libibverbs and a provider share besides verbs.h: the private interface of version 34 (rdma-core 39
// to 56). Only what this provider touches has a name here; the order and the sizes are the interface.
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

void verbs_register_driver_34(const verbs_device_ops* ops);
void* _verbs_init_and_alloc_context(ibv_device* device, int command_fd, std::size_t bytes, verbs_context* offset,
                                    std::uint32_t driver_id);
void verbs_uninit_context(verbs_context* context);
void verbs_set_ops(verbs_context* context, const void* ops);

}  // extern "C"

namespace mrc::verbs {

/// Places in the table that verbs_set_ops() takes: one pointer for each operation, in the order of their names. Empty
/// places keep what libibverbs has there.
enum class Op : std::uint32_t {
  advise_mr,
  alloc_dm,
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
  dealloc_mw,
  dealloc_pd,
  dealloc_td,
  dereg_mr,
  destroy_ah,
  destroy_counters,
  destroy_cq,
  destroy_flow,
  destroy_flow_action,
  destroy_qp,
  destroy_rwq_ind_table,
  destroy_srq,
  destroy_wq,
  detach_mcast,
  free_context,
  free_dm,
  get_srq_num,
  import_dm,
  import_mr,
  import_pd,
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
  query_device_ex,
  query_ece,
  query_port,
  query_qp,
  query_qp_data_in_order,
  query_rt_values,
  query_srq,
  read_counters,
  reg_dm_mr,
  reg_dmabuf_mr,
  reg_mr,
  req_notify_cq,
  rereg_mr,
  resize_cq,
  set_ece,
  unimport_dm,
  unimport_mr,
  unimport_pd,
};

struct OpTable {
  void* place[static_cast<std::size_t>(Op::unimport_pd) + 1] = {};

  template <typename Function>
  void set(Op op, Function* function) {
    place[static_cast<std::size_t>(op)] = reinterpret_cast<void*>(function);
  }
};

}  // namespace mrc::verbs
