// The clock of a server that was started with { clock: true }, in the hands of the test: see
// src/cli/test_clock.h. Nothing has to be waited for: what the server does next goes by it.
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";

export class TestClock {
  #file;
  #handle;
  #offset_s = 0n;
  #stopped_us = 0n;

  constructor(file) {
    this.#file = file;
    writeFileSync(file, Buffer.alloc(16));
    this.#handle = openSync(file, "r+");
  }

  // What the server has to find in its environment.
  get environment() {
    return { ORRERY_TEST_CLOCK: this.#file };
  }

  // Seconds since 1970 by the server's clock.
  get now_s() {
    return Math.floor(Date.now() / 1000) + Number(this.#offset_s);
  }

  // Moves wall time, forwards or backwards: times of items, expiry, how long history is kept.
  move(seconds) {
    this.#offset_s += BigInt(seconds);
    this.#write();
  }

  // Stops steady time: budgets are not filled up any more, until it is moved on or resumed.
  stop() {
    this.#stopped_us = process.hrtime.bigint() / 1000n;
    this.#write();
  }

  advance_ms(milliseconds) {
    this.#stopped_us += BigInt(milliseconds) * 1000n;
    this.#write();
  }

  resume() {
    this.#stopped_us = 0n;
    this.#write();
  }

  remove() {
    closeSync(this.#handle);
    rmSync(this.#file, { force: true });
  }

  // In place and in the machine's byte order, which is little-endian wherever this runs.
  #write() {
    const bytes = Buffer.alloc(16);
    bytes.writeBigInt64LE(this.#offset_s, 0);
    bytes.writeBigInt64LE(this.#stopped_us, 8);
    writeSync(this.#handle, bytes, 0, bytes.length, 0);
  }
}
