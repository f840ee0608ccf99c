# The product: the kernel packed, and a small program in front of it that unpacks it.

UNPACK := $(OBJ)/boot/unpack
UNPACK_OBJ := $(addprefix $(UNPACK)/,start.o unpack.o inflate.o pc.o)
# Private, or the kernel, which start.o waits for, would be compiled like this, too.
# No link-time optimisation: inflate.c is compiled as it was tested.  Its loops stay loops, there is
# no memset here to call.
$(UNPACK_OBJ): private OWN_FLAGS += -fno-lto -fno-tree-loop-distribute-patterns
$(UNPACK)/inflate.o: private OPTIMISE := -O2
$(UNPACK)/start.o: $(UNPACK)/kernel.z
$(UNPACK)/start.o: private KERNEL_FLAGS += -Wa,-I$(UNPACK)

$(UNPACK)/kernel.z $(UNPACK)/kernel.ld &: $(OUT)/nictest86.sym boot/unpack/pack.py
	$(call say,PACK,$(UNPACK)/kernel.z)
	@mkdir -p $(UNPACK)
	$(quiet)$(PYTHON) boot/unpack/pack.py $< $(UNPACK)/kernel.z $(UNPACK)/kernel.ld

# The unpacker with its symbols; the product is the same without them.
$(OUT)/nictest86.unpacker: boot/unpack/unpack.ld $(UNPACK_OBJ) $(UNPACK)/kernel.ld
	$(call say,LD)
	$(quiet)ld -m elf_i386 -z noexecstack -z max-page-size=16 --no-warn-rwx-segments \
	    @$(UNPACK)/kernel.ld -T boot/unpack/unpack.ld $(UNPACK_OBJ) -o $@

$(OUT)/nictest86.elf: $(OUT)/nictest86.unpacker
	$(call say,STRIP)
	$(quiet)objcopy --strip-all $< $@

-include $(UNPACK_OBJ:.o=.d)
