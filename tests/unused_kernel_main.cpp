// SystemC's library asks every program that links it for sc_main(), also one that has a main() of its own and runs no
// kernel. Weak: a test that elaborates brings its own.
extern "C" [[gnu::weak]] int sc_main(int, char**);

extern "C" int sc_main(int, char**) {
  return 0;
}
