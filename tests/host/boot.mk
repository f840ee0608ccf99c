# What runs before the kernel: the unpacker, and the packer that is its counterpart.
PACK_PARTS := $(filter-out iso/pack/main.c,$(PACK_SRC))
HOST_SRC_expand := tests/host/test_expand.c $(PACK_PARTS)
HOST_SRC_fuzz_expand := tests/host/fuzz_expand.c $(PACK_PARTS)
