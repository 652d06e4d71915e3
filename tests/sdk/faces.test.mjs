// What the faces of a server share.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";

import { start } from "./server.mjs";

describe("what faces share", () => {
  // The server's threads that help queries.
  const helpers = ({ process: { pid } }) => readdirSync(`/proc/${pid}/task`)
    .filter((task) => readFileSync(`/proc/${pid}/task/${task}/comm`, "utf8").startsWith("helpers")).length;

  it("the threads that help queries are as many with several faces as with one", async () => {
    const counts = [];
    for (const args of [[], ["--gremlin-port", "0", "--mongo-port", "0", "--table-port", "0"]]) {
      const server = await start({ args });
      counts.push(helpers(server));
      await server.close();
    }
    assert.ok(counts[0] > 0);
    assert.equal(counts[1], counts[0]);
  });
});
