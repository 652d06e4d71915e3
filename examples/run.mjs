// Runs an example when it is the program, and does nothing when it is imported.
import { argv } from "node:process";
import { pathToFileURL } from "node:url";

export async function runAsScript(url, main) {
  if (!argv[1] || url !== pathToFileURL(argv[1]).href) return;
  const [, , endpoint, key] = argv;
  if (!endpoint || !key) throw new Error(`usage: node ${argv[1]} ENDPOINT KEY`);
  const { CosmosClient } = await import("@azure/cosmos");
  await main(new CosmosClient({ endpoint, key }));
}
