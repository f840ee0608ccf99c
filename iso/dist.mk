# The archive that a user takes home.

DIST := $(OUT)/nictest86-$(VERSION).zip
DIST_IMAGES := $(FLOPPIES) $(addprefix $(OUT)/,nictest86-grub.img nictest86.iso nictest86.elf)
# In DOS' eight letters, the kernel once more.
DIST_DOS := dos/NICTEST.COM=$(OUT)/nictest.com dos/NICTEST.ELF=$(OUT)/nictest86.elf
# By these names links between them hold.
DIST_TEXTS := README.md LICENSE $(addprefix iso/,BOOTING.md CHANGELOG.md NOTICES.md screenshot.png)

dist: $(DIST) ## everything to use and nothing to build, in out/nictest86-VERSION.zip

$(DIST): $(DIST_IMAGES) $(OUT)/nictest.com $(DIST_TEXTS) iso/dist.py Makefile | $(OUT)/deps/build
	$(call say,ZIP)
	$(quiet)$(IMAGE_ENV) $(PYTHON) iso/dist.py $@ $(foreach image,$(DIST_IMAGES),$(notdir $(image))=$(image)) \
	    $(foreach text,$(DIST_TEXTS),$(text)=$(text)) $(DIST_DOS) LICENSE.lwip=$(LWIP)/COPYING

.PHONY: dist
