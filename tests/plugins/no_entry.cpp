// A shared object that is not a plugin.

extern "C" __attribute__((visibility("default"))) int somebody_elses() {
  return 1;
}
