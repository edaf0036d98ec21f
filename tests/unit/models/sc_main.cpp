#include <systemc>

// libsystemc wants one; the tests start the kernel themselves.
int sc_main(int, char**) {
  return 0;
}
