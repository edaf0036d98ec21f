#include "nic/tx/srv6_encap_rtl_path.h"
