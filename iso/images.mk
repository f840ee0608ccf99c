# Bootable images.  GRUB is put together with grub-mkimage and a short list of modules: it loads
# quicker than the whole of grub-mkrescue, and nothing depends on the time of the build.

GRUB_DIR := /usr/lib/grub/i386-pc
# None can be spared.  Of the core's 147 KB (LZMA; there is no other packing for i386-pc) 27 are what
# reads a disk, 78 `normal`, the menu, which wants `net`; 25 `multiboot`, which wants linux, video and
# vbe; 7 `serial` and its terminal; below 1 `reboot`.  `multiboot` without a menu saves nothing, as
# linux wants `normal`.  Modules as files of their own are read packed no better, and sector by sector.
GRUB_MODULES := biosdisk normal multiboot serial reboot
# The date inside images and archive; any fixed one will do.
SOURCE_DATE_EPOCH ?= 1000000000
IMAGE_ENV := SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) TZ=UTC

# The installed modules, but for the one that no 386 survives.
GRUB := $(OUT)/grub
$(GRUB)/relocator.mod: iso/grub.py | $(OUT)/deps/build
	$(call say,GRUB)
	$(quiet)$(PYTHON) $< $(GRUB_DIR) $(GRUB)

iso: $(OUT)/nictest86.iso ## the bootable CD image
.PHONY: iso

$(OUT)/nictest86.iso: $(OUT)/nictest86.elf $(GRUB)/relocator.mod iso/grub.cfg iso/images.mk | $(OUT)/deps/build
	$(call say,ISO)
	@rm -rf $(OUT)/iso && mkdir -p $(OUT)/iso/boot/grub
	@cp iso/grub.cfg $(OUT)/iso/boot/grub/ && cp $< $(OUT)/iso/boot/
	$(quiet)grub-mkimage -d $(GRUB) -O i386-pc-eltorito -p /boot/grub -o $(OUT)/iso/boot/grub/eltorito.img \
	    $(GRUB_MODULES) iso9660
	$(quiet)$(IMAGE_ENV) xorriso -as mkisofs -quiet -V NICTEST86 -o $@.part \
	    -b boot/grub/eltorito.img -no-emul-boot -boot-load-size 4 -boot-info-table \
	    --grub2-boot-info --grub2-mbr $(GRUB_DIR)/boot_hybrid.img \
	    --set_all_file_dates 2001090901464000 $(OUT)/iso 2>$(OUT)/iso.log || { cat $(OUT)/iso.log; exit 1; }
	@mv $@.part $@

# A FAT12 floppy with GRUB; the default floppy has our own loader (boot/floppy/floppy.mk).
$(OUT)/nictest86-grub.img: $(OUT)/nictest86.elf $(GRUB)/relocator.mod iso/grub.cfg iso/floppy.py \
    iso/images.mk | $(OUT)/deps/build
	$(call say,FLOPPY)
	@mkdir -p $(OUT)/floppy
	$(quiet)grub-mkimage -d $(GRUB) -O i386-pc -p '(fd0)/boot/grub' \
	    -o $(OUT)/floppy/core.img $(GRUB_MODULES) fat
	$(quiet)$(IMAGE_ENV) $(PYTHON) iso/floppy.py $(GRUB_DIR)/boot.img $(OUT)/floppy/core.img $@.part \
	    boot/grub/grub.cfg=iso/grub.cfg boot/nictest86.elf=$<
	@mv $@.part $@
