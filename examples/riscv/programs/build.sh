#!/bin/sh
# Builds the programs of this folder: `sh build.sh` beside them, with Debian's gcc-riscv64-linux-gnu.
set -e
cd "$(dirname "$0")"
for source in ${*:-*.c *.S}; do
    riscv64-linux-gnu-gcc -march=rv32im_zicsr -mabi=ilp32 -O2 -ffreestanding -nostdlib -static -fno-pic -no-pie -Wl,--build-id=none \
        -fno-asynchronous-unwind-tables -Wall -Wextra -Wno-unused-function -o "${source%.*}.elf" "$source"
done
