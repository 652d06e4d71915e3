// A bare Debian in a folder, in which a package can be installed as an administrator would. What the package depends
// on is there already: tools/package_root.sh makes it. Nothing in it needs a network.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const path = "/usr/sbin:/usr/bin:/sbin:/bin";

export class Root {
  // With `services`, installing a package may start what it brings.
  constructor(tar, { services = false } = {}) {
    this.path = mkdtempSync(join(tmpdir(), "orrery-root-"));
    execFileSync("tar", ["-xf", tar, "-C", this.path], { stdio: "pipe" });
    // Nothing that could start a service runs in here otherwise.
    if (!services) writeFileSync(join(this.path, "usr/sbin/policy-rc.d"), "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  }

  file(path) {
    return join(this.path, path);
  }

  // Runs to the end; throws with what it printed when it fails.
  run(program, ...args) {
    try {
      return execFileSync("chroot", [this.path, program, ...args], {
        encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 120_000,
        env: { PATH: path, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C.UTF-8" },
      });
    } catch (error) {
      throw new Error(`${program} ${args.join(" ")}: ${error.stdout ?? ""}${error.stderr ?? error.message}`);
    }
  }

  // As `user`, in the background, with these variables.
  start(user, command, env = {}) {
    return spawn("chroot", [this.path, "setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs",
      "--pdeathsig", "KILL", ...command], { stdio: ["ignore", "pipe", "pipe"], env: { PATH: path, ...env } });
  }

  remove() {
    rmSync(this.path, { recursive: true, force: true });
  }
}

