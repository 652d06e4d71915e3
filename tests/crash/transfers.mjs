// Moves money between accounts in transactional batches and in stored procedures, from many clients
// at once, and kills the server in between.
//
//   node tests/crash/transfers.mjs [KILLS]
//
// A batch takes from one account (a patch under a condition, or a replace with If-Match), gives to
// another, and writes a record of itself; a procedure reads both and does the same. After every restart the sum is what it was, every
// acknowledged transfer has its record, and the accounts are what the records say.
import { freePort, start } from "../sdk/server.mjs";
import { keyHeader } from "../sdk/rest.mjs";
import { createContainer, pause, Violation } from "./load.mjs";

const kills = Number(process.argv[2] ?? 4);
const accounts = 8;
const opening = 1000;
const clients = 8;
const docs = "/dbs/db/colls/bank/docs";
const batchHeaders = { ...keyHeader("k"), "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True" };

async function batch(rest, operations) {
  const answer = await rest("POST", docs, { headers: batchHeaders, body: operations });
  if (answer.status !== 200 && answer.status !== 207) throw new Violation(`${answer.status} ${answer.text}`);
  return answer;
}

// Gives false when the account does not hold enough.
function transfer(id, from, to, amount) {
  const collection = getContext().getCollection();
  const link = (i) => `${collection.getAltLink()}/docs/account-${i}`;
  collection.readDocument(link(from), (error, giver) => {
    if (error) throw error;
    if (giver.money < amount) return getContext().getResponse().setBody(false);
    collection.readDocument(link(to), (failed, taker) => {
      if (failed) throw failed;
      giver.money -= amount;
      taker.money += amount;
      collection.replaceDocument(giver._self, giver);
      collection.replaceDocument(taker._self, taker);
      collection.createDocument(collection.getSelfLink(), { id, pk: "k", from, to, amount });
      getContext().getResponse().setBody(true);
    });
  });
}

async function byProcedure(rest, ...args) {
  const answer = await rest("POST", "/dbs/db/colls/bank/sprocs/transfer", { headers: keyHeader("k"), body: args });
  // 449: others were faster every time.
  if (answer.status !== 200 && answer.status !== 449) throw new Violation(`${answer.status} ${answer.text}`);
  return answer.body === true;
}

const account = (i) => `account-${i}`;
const read = (id) => ({ operationType: "Read", id });
const incr = (id, value, condition) =>
  ({ operationType: "Patch", id, resourceBody: { condition, operations: [{ op: "incr", path: "/money", value }] } });

let procedures = 0;

// What one client does until the server is dead; the transfers that it was told of go to `kept`.
async function client(number, rest, isDead, kept) {
  for (let i = 0; !isDead(); ++i) {
    const from = (number + i) % accounts;
    const to = (from + 1 + (i * 3) % (accounts - 1)) % accounts;
    const amount = 1 + (i * 7) % 29;
    const id = `transfer-${number}-${Date.now()}-${i}`;
    const record = { operationType: "Create", resourceBody: { id, pk: "k", from, to, amount } };
    try {
      let operations;
      if (i % 3 === 2) {
        if (await byProcedure(rest, id, from, to, amount)) {
          kept.add(id);
          ++procedures;
        }
        continue;
      }
      if (i % 3 === 0) {
        operations = [record, incr(account(from), -amount, `from c where c.money >= ${amount}`), incr(account(to), amount)];
      } else {
        const seen = (await batch(rest, [read(account(from)), read(account(to))])).body.map((one) => one.resourceBody);
        if (seen[0].money < amount) continue;
        operations = seen.map((one, side) => ({
          operationType: "Replace", id: one.id, ifMatch: one._etag,
          resourceBody: { id: one.id, pk: "k", money: one.money + (side === 0 ? -amount : amount) },
        }));
        operations.push(record);
      }
      const answer = await batch(rest, operations);
      if (answer.status === 200) kept.add(id);
      else if (!answer.body.some((one) => one.statusCode === 412)) throw new Violation(answer.text);
    } catch (error) {
      if (error instanceof Violation) throw error;
      if (!isDead()) await pause(5);
    }
  }
}

async function everything(rest) {
  const items = [];
  let continuation;
  do {
    const answer = await rest("GET", docs, { headers: { ...keyHeader("k"), "x-ms-max-item-count": "1000",
      ...(continuation ? { "x-ms-continuation": continuation } : {}) } });
    if (answer.status !== 200) throw new Violation(`${answer.status} ${answer.text}`);
    items.push(...answer.body.Documents);
    continuation = answer.headers["x-ms-continuation"];
  } while (continuation);
  return new Map(items.map((item) => [item.id, item]));
}

async function verify(rest, kept) {
  const items = await everything(rest);
  for (const id of kept) if (!items.has(id)) throw new Violation(`${id} was acknowledged and is lost`);
  const money = new Array(accounts).fill(opening);
  let transfers = 0;
  for (const item of items.values()) {
    if (item.amount === undefined) continue;
    money[item.from] -= item.amount;
    money[item.to] += item.amount;
    ++transfers;
  }
  const found = money.map((_, i) => items.get(account(i))?.money);
  if (found.join() !== money.join()) throw new Violation(`the accounts hold ${found}, their transfers say ${money}`);
  if (found.reduce((a, b) => a + b) !== accounts * opening) throw new Violation(`the sum of ${found} is not ${accounts * opening}`);
  return transfers;
}

async function run() {
  const server = await start();
  const rest = server.rest();
  const kept = new Set();
  await createContainer(rest, "bank");
  const made = await rest("POST", "/dbs/db/colls/bank/sprocs", { body: { id: "transfer", body: String(transfer) } });
  if (made.status !== 201) throw new Violation(made.text);
  await batch(rest, Array.from({ length: accounts }, (_, i) =>
    ({ operationType: "Create", resourceBody: { id: account(i), pk: "k", money: opening } })));
  for (let kill = 0; kill < kills; ++kill) {
    let dead = false;
    const working = Promise.all(Array.from({ length: clients }, (_, c) => client(c, rest, () => dead, kept)));
    await Promise.race([pause(400 + 300 * (kill % 3)), working]);
    const gone = server.kill();
    dead = true;
    await gone;
    await working;
    try {
      await server.launch();
    } catch (error) {
      if (!/in use/.test(error.message)) throw error;
      server.port = await freePort();
      await server.launch();
    }
    await verify(rest, kept);
  }
  const transfers = await verify(rest, kept);
  await server.close();
  if (procedures === 0 || kept.size === procedures) throw new Violation("no transfer of one kind was acknowledged");
  return `${kills} kills, ${transfers} transfers, ${kept.size} of them acknowledged, ${procedures} by procedures: none lost, none halved`;
}

try {
  console.log(await run());
  process.exit(0);
} catch (error) {
  console.error(error instanceof Violation ? `VIOLATION: ${error.message}` : error);
  process.exit(1);
}
