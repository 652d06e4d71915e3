// The Table face for tests: a server that has it, and the vendor's clients of it.
import crypto from "node:crypto";
import { after, before } from "node:test";

import { AzureNamedKeyCredential, TableClient, TableServiceClient } from "@azure/data-tables";

import { freePort, start } from "./server.mjs";

export * from "@azure/data-tables";

// What UseDevelopmentStorage=true means; `serve --dev` knows it.
export const devAccount = "devstoreaccount1";
export const devTableKey =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };

// A server with the Table face at `tablePort`; otherwise as start().
export async function startTables({ args = [], ...rest } = {}) {
  for (let attempt = 1; ; ++attempt) {
    const tablePort = await freePort();
    try {
      const server = await start({ ...rest, args: [...args, "--table-port", String(tablePort)] });
      server.tablePort = tablePort;
      return server;
    } catch (error) {
      if (attempt === 5 || !/in use/i.test(error.message)) throw error;
    }
  }
}

export function endpointOf(server, account = devAccount) {
  return `http://127.0.0.1:${server.tablePort}/${account}`;
}

export function tableClient(server, name, credential = devCredential(), more = {}) {
  return new TableClient(endpointOf(server), name, credential, { ...options, ...more });
}

export function serviceClient(server, credential = devCredential(), more = {}) {
  return new TableServiceClient(endpointOf(server), credential, { ...options, ...more });
}

export function devCredential() {
  return new AzureNamedKeyCredential(devAccount, devTableKey);
}

// Inside describe(): one server for all of its tests. at.table() makes a table with a name of its own.
export function sharedTables(serverOptions = {}) {
  const at = {
    made: 0,
    async table() {
      const client = tableClient(at.server, `t${++at.made}table`);
      await client.createTable();
      return client;
    },
  };
  before(async () => {
    at.server = await startTables(serverOptions);
    at.service = serviceClient(at.server);
    at.raw = rawOf(at.server);
  });
  after(() => at.server?.close());
  return at;
}

// Requests by hand, signed with SharedKeyLite: {status, headers, text, json}. `path` begins after the account.
export function rawOf(server, { account = devAccount, key = devTableKey, signed = true } = {}) {
  return async (method, path, { body, headers = {} } = {}) => {
    const url = new URL(`${endpointOf(server, account)}/${path}`);
    const date = new Date().toUTCString();
    const comp = url.searchParams.get("comp");
    const resource = `/${account}${url.pathname}${comp ? `?comp=${comp}` : ""}`;
    const signature = crypto.createHmac("sha256", Buffer.from(key, "base64"))
      .update(`${date}\n${resource}`).digest("base64");
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(url, {
      method,
      body: text,
      headers: {
        accept: "application/json;odata=minimalmetadata",
        "x-ms-date": date,
        "x-ms-version": "2019-02-02",
        ...(signed ? { authorization: `SharedKeyLite ${account}:${signature}` } : {}),
        ...(text === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
    });
    const answer = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      json: answer.startsWith("{") ? JSON.parse(answer) : undefined,
    };
  };
}

export async function all(pages) {
  const found = [];
  for await (const one of pages) found.push(one);
  return found;
}

// Rejects with this status and the vendor's code.
export async function refused(promise, status, code) {
  try {
    await promise;
  } catch (error) {
    if (error.statusCode !== status || (code && error.code !== code && error.details?.odataError?.code !== code)) {
      throw new Error(`expected ${status} ${code}, got ${error.statusCode} ${error.code} ${error.message}`);
    }
    return error;
  }
  throw new Error(`expected ${status} ${code}, but it succeeded`);
}
