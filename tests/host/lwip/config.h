/* lwIP's unit tests include the config.h of a build system; they use nothing from it. */
