"""The commands, one file each: `smoothpl <command>`. Nothing imports them."""
