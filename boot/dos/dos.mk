# NICTEST.COM: from a DOS prompt.  What it shares with the floppy's stage 2 is the same object code.

DOS := $(OUT)/dos
DOS_OBJ := $(addprefix $(DOS)/,start.o dos.o main.o) \
    $(addprefix $(LOADER)/,a20.o handover.o image.o keyboard.o machine.o say.o survey.o)

$(DOS)/%.o: boot/dos/%.c $(LOADER)/flags | $(OUT)/deps/build
	$(call say,CC16,$<)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(LOADER_FLAGS) $(OWN_FLAGS) -MD -MP -c $< -o $@

$(DOS)/%.o: boot/dos/%.S $(LOADER)/flags | $(OUT)/deps/build
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(LOADER_FLAGS) -I. -MD -MP -c $< -o $@

$(DOS)/nictest.sym: $(DOS_OBJ) boot/dos/dos.ld
	$(call say,LD)
	$(quiet)ld -m elf_i386 --gc-sections -T boot/dos/dos.ld $(DOS_OBJ) -o $@

$(OUT)/nictest.com: $(DOS)/nictest.sym
	$(call say,COM)
	$(quiet)objcopy -O binary $< $@

-include $(DOS_OBJ:.o=.d)
