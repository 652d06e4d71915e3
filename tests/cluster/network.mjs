// Networks between the nodes of a cluster that a test can cut: each node is in a network name space of its own, with one
// cable each to its clients, to the other nodes ("peers") and to the store. A cable that is pulled loses every packet in
// silence, as a broken switch does: nobody is told, connections stay.
//
// It needs the right to make name spaces (CAP_NET_ADMIN and CAP_SYS_ADMIN) and the program ip. Everything that it makes is
// named after this process, and goes with remove().
import { execFileSync, spawnSync } from "node:child_process";

const kinds = ["clients", "peers", "store"];
// Of nobody: what is sent there is lost.
const nowhere = "02:00:00:00:00:01";
const tag = `o${process.pid}`;

function ip(...args) {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
}

// Why it cannot be used here, or false.
export function missingForNetworks() {
  const space = `${tag}t`;
  try {
    ip("netns", "add", space);
    try {
      ip("link", "add", space, "type", "veth", "peer", "name", "far", "netns", space);
    } finally {
      ip("netns", "del", space);
    }
    return false;
  } catch (error) {
    return `making network name spaces needs root: ${error.stderr?.toString().trim() || error.message}`;
  }
}

export class Network {
  constructor(names) {
    this.names = names;
    this.made = [];
    process.once("exit", () => this.remove());
    try {
      for (const [k, kind] of kinds.entries()) {
        this.#make("link", "add", this.#bridge(kind), "type", "bridge");
        ip("addr", "add", `${this.hub(kind)}/24`, "dev", this.#bridge(kind));
        ip("link", "set", this.#bridge(kind), "up");
        for (const [n, name] of names.entries()) {
          if (k === 0) {
            this.#make("netns", "add", this.#space(name));
            ip("-n", this.#space(name), "link", "set", "lo", "up");
          }
          // An end here and an end there; it goes with the name space.
          ip("link", "add", this.#cable(kind, name), "type", "veth", "peer", "name", kind, "netns", this.#space(name));
          ip("-n", this.#space(name), "addr", "add", `${this.address(kind, name)}/24`, "dev", kind);
          ip("-n", this.#space(name), "link", "set", kind, "up");
          ip("link", "set", this.#cable(kind, name), "master", this.#bridge(kind), "up");
        }
      }
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  // Of this process in a network, and of a node.
  hub(kind) {
    return `10.${64 + (process.pid % 150)}.${1 + kinds.indexOf(kind)}.1`;
  }

  address(kind, name) {
    return this.hub(kind).replace(/1$/, String(10 + this.names.indexOf(name)));
  }

  // For server.mjs's start().
  options(name) {
    return { dev: false, host: this.address("clients", name), through: ["ip", "netns", "exec", this.#space(name)] };
  }

  cut(kind, name) {
    ip("link", "set", this.#cable(kind, name), "nomaster");
  }

  heal(kind, name) {
    ip("link", "set", this.#cable(kind, name), "master", this.#bridge(kind));
  }

  // Cuts two nodes off from each other, and from nobody else.
  part(one, other) {
    for (const [from, to] of [[one, other], [other, one]]) {
      ip("-n", this.#space(from), "neigh", "replace", this.address("peers", to), "lladdr", nowhere, "dev", "peers", "nud", "permanent");
    }
  }

  join(one, other) {
    for (const [from, to] of [[one, other], [other, one]]) {
      ip("-n", this.#space(from), "neigh", "del", this.address("peers", to), "dev", "peers");
    }
  }

  // Whether a node gets an answer from an address, be it that nobody listens there.
  reaches(name, address) {
    const inside = ["netns", "exec", this.#space(name), "timeout", "2", "bash", "-c", `: < /dev/tcp/${address}/9`];
    return spawnSync("ip", inside, { stdio: "ignore" }).status !== 124;
  }

  remove() {
    for (const [what, , name] of this.made.splice(0).reverse()) {
      try {
        ip(what, "del", name);
      } catch {
        // Gone already.
      }
    }
  }

  #make(...args) {
    ip(...args);
    this.made.push(args);
  }
  #bridge(kind) {
    return `${tag}${kind[0]}`;
  }
  #space(name) {
    return `${tag}${name}`;
  }
  #cable(kind, name) {
    return `${tag}${kind[0]}${name}`;
  }
}
