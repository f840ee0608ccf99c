# What runs before the kernel.
HOST_SRC_inflate := tests/host/test_inflate.c boot/unpack/inflate.c
HOST_LIBS_inflate := -lz
HOST_SRC_fuzz_inflate := tests/host/fuzz_inflate.c boot/unpack/inflate.c
HOST_LIBS_fuzz_inflate := -lz
