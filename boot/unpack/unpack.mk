# The product: the kernel packed, and a small program in front of it that unpacks it.

UNPACK := $(OBJ)/boot/unpack
UNPACK_OBJ := $(addprefix $(UNPACK)/,start.o unpack.o expand.o pc.o)
# Private, or the kernel, which start.o waits for, would be compiled like this, too.
# No link-time optimisation: expand.c is compiled as it was tested.  Its loops stay loops, there is
# no memset here to call.
$(UNPACK_OBJ): private OWN_FLAGS += -fno-lto -fno-tree-loop-distribute-patterns
$(UNPACK)/expand.o: private OPTIMISE := -O2
$(UNPACK)/start.o: $(UNPACK)/kernel.z
$(UNPACK)/start.o: private KERNEL_FLAGS += -Wa,-I$(UNPACK)

$(UNPACK)/kernel.image $(UNPACK)/kernel.ld &: $(OUT)/nictest86.sym boot/unpack/image.py
	@mkdir -p $(UNPACK)
	$(quiet)$(PYTHON) boot/unpack/image.py $< $(UNPACK)/kernel.image $(UNPACK)/kernel.ld

# The packer is a program of the host's.  It holds the unpacker, too, and tries what it packed.
PACK_SRC := $(sort $(wildcard iso/pack/*.c)) boot/unpack/expand.c
$(OUT)/pack: $(PACK_SRC) iso/pack/pack.h boot/unpack/packed.h boot/unpack/expand.h | $(OUT)/deps/build
	$(call say,HOSTCC)
	$(quiet)$(CC) -std=gnu11 -O2 $(WARNINGS) -Werror -I. $(PACK_SRC) -o $@

$(UNPACK)/kernel.z: $(UNPACK)/kernel.image $(OUT)/pack
	$(call say,PACK)
	$(quiet)$(OUT)/pack $< $@

# The unpacker with its symbols; the product is the same without them.
$(OUT)/nictest86.unpacker: boot/unpack/unpack.ld $(UNPACK_OBJ) $(UNPACK)/kernel.ld
	$(call say,LD)
	$(quiet)ld -m elf_i386 -z noexecstack -z max-page-size=16 --no-warn-rwx-segments \
	    @$(UNPACK)/kernel.ld -T boot/unpack/unpack.ld $(UNPACK_OBJ) -o $@

$(OUT)/nictest86.elf: $(OUT)/nictest86.unpacker
	$(call say,STRIP)
	$(quiet)objcopy --strip-all $< $@

-include $(UNPACK_OBJ:.o=.d)
