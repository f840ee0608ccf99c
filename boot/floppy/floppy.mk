# The floppies that boot by themselves: boot sector, stage 2, kernel and options on a FAT12 volume.

# 16-bit segments, 32-bit code: the C of stage 2.  The host tests build the same files (loader.mk).
LOADER_FLAGS := -m16 -march=i386 -mgeneral-regs-only -mregparm=3 -mpreferred-stack-boundary=2 -Os \
    -std=gnu11 -ffreestanding -nostdinc -isystem $(GCC_INCLUDE) -g -fno-pic -fno-stack-protector \
    -fno-asynchronous-unwind-tables -fno-jump-tables -ffunction-sections -fdata-sections $(PREFIX_MAP)
LOADER_C := $(sort $(wildcard boot/floppy/*.c))
LOADER := $(OUT)/loader
STAGE2_OBJ := $(addprefix $(LOADER)/,start.o machine.o) $(LOADER_C:boot/floppy/%.c=$(LOADER)/%.o)

LOADER_NOW := $(LOADER_FLAGS) $(OWN_FLAGS) $(STAGE2_OBJ)
$(LOADER)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(LOADER_NOW))' | cmp -s - $@ || echo '$(subst ','\'',$(LOADER_NOW))' >$@

$(LOADER)/%.o: boot/floppy/%.c $(LOADER)/flags | $(OUT)/deps/build
	$(call say,CC16,$<)
	$(quiet)$(CC) $(LOADER_FLAGS) $(OWN_FLAGS) -MD -MP -c $< -o $@

$(LOADER)/%.o: boot/floppy/%.S $(LOADER)/flags | $(OUT)/deps/build
	$(call say,AS,$<)
	$(quiet)$(CC) $(LOADER_FLAGS) -I. -MD -MP -c $< -o $@

$(LOADER)/boot.sym: $(LOADER)/boot.o
	$(call say,LD)
	$(quiet)ld -m elf_i386 -Ttext 0x7c00 -e boot_sector $< -o $@

$(LOADER)/stage2.sym: $(STAGE2_OBJ) boot/floppy/stage2.ld
	$(call say,LD)
	$(quiet)ld -m elf_i386 --gc-sections -T boot/floppy/stage2.ld $(STAGE2_OBJ) -o $@

$(LOADER)/%.bin: $(LOADER)/%.sym
	$(quiet)objcopy -O binary $< $@

-include $(STAGE2_OBJ:.o=.d) $(LOADER)/boot.d

FLOPPIES := $(OUT)/nictest86.img $(OUT)/nictest86-1200.img $(OUT)/nictest86-720.img \
    $(OUT)/nictest86-360.img
FLOPPY_KB_nictest86 := 1440
FLOPPY_KB_nictest86-1200 := 1200
FLOPPY_KB_nictest86-720 := 720
FLOPPY_KB_nictest86-360 := 360

$(FLOPPIES): $(OUT)/%.img: $(LOADER)/boot.bin $(LOADER)/stage2.bin $(OUT)/nictest86.elf iso/nictest.cfg \
    iso/fat12.py
	$(call say,FLOPPY)
	$(quiet)$(IMAGE_ENV) $(PYTHON) iso/fat12.py $(FLOPPY_KB_$*) $(LOADER)/boot.bin $(LOADER)/stage2.bin \
	    $@.part NICTEST.CFG=iso/nictest.cfg NICTEST.ELF=$(OUT)/nictest86.elf
	@mv $@.part $@

floppy: $(FLOPPIES) ## the bootable floppy images: 1.44 and 1.2 MB, 720 and 360 KB
.PHONY: floppy
