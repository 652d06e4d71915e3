// Creating and deleting many containers, one after the other.
import { table } from "./report.mjs";
import { startServer } from "./server.mjs";

export const title = "Creating and deleting 500 containers";
export const about = "One request after the other, each answered when it is durable.";

export async function measure({ programs, folder }) {
  const count = 500;
  const server = await startServer(programs, `${folder}/containers`);
  const demand = async (status, ...request) => {
    const answer = await server.rest(...request);
    if (answer.status !== status) throw new Error(`${request[1]} gave ${answer.status}: ${answer.text}`);
  };
  await demand(201, "POST", "/dbs", { body: { id: "many" } });
  const timed = async (one) => {
    const begun = performance.now();
    for (let i = 0; i < count; ++i) await one(`c${i}`);
    return performance.now() - begun;
  };
  const created_ms = await timed((id) => demand(201, "POST", "/dbs/many/colls",
    { body: { id, partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 } } }));
  const deleted_ms = await timed((id) => demand(204, "DELETE", `/dbs/many/colls/${id}`));
  await server.stop();
  const row = (name, time_ms) => [name, `${(time_ms / 1000).toFixed(2)} s`, `${(time_ms / count).toFixed(2)} ms`];
  return table([["", "500", "each"], row("create", created_ms), row("delete", deleted_ms)]);
}
