// MongoDB's shell against the server that ORRERY_MONGO names, as people type it. Prints TAP, a line for each check.
const assert = require("node:assert/strict");

let failed = 0;
function check(title, body) {
  try {
    body();
    print(`ok - ${title}`);
  } catch (error) {
    ++failed;
    print(`not ok - ${title}`);
    print(String(error.stack ?? error).split("\n").slice(0, 8).join("\n").replace(/^/gm, "  # "));
  }
}
// Within a function of JavaScript's own, the shell cannot wait for an answer.
function messageOf(body) {
  try {
    body();
  } catch (error) {
    return error.message;
  }
  return "it did not fail";
}
// Lists of the shell and of this script are of different worlds.
const same = (a, b) => assert.equal(EJSON.stringify(a), EJSON.stringify(b));

db = db.getSiblingDB("mongosh");
db.dropDatabase();

check("documents", () => {
  assert.equal(db.items.insertOne({ _id: 1, name: "a", price: NumberDecimal("1.50"), tags: ["x", "y"] }).insertedId, 1);
  const many = db.items.insertMany([{ _id: 2, name: "b", qty: NumberInt(5), at: ISODate("2024-01-01") }, { _id: 3, name: "c", qty: NumberLong("7") }]);
  same(many.insertedIds, { 0: 2, 1: 3 });
  same(db.items.find({ _id: { $gt: 1 } }).sort({ _id: -1 }).toArray().map((one) => one._id), [3, 2]);
  assert.equal(db.items.findOne({ _id: 1 }).price.toString(), "1.50");
  assert.equal(db.items.updateOne({ _id: 1 }, { $inc: { qty: 1 } }).modifiedCount, 1);
  assert.equal(db.items.updateMany({}, { $set: { seen: true } }).modifiedCount, 3);
  assert.equal(db.items.findOneAndUpdate({ _id: 2 }, { $set: { z: 1 } }, { returnDocument: "after" }).z, 1);
  assert.equal(db.items.replaceOne({ _id: 9 }, { name: "new" }, { upsert: true }).insertedId, 9);
  assert.equal(db.items.deleteOne({ _id: 9 }).deletedCount, 1);
  assert.equal(db.items.countDocuments(), 3);
  assert.equal(db.items.estimatedDocumentCount(), 3);
  same(db.items.distinct("name"), ["a", "b", "c"]);
  assert.match(messageOf(() => db.items.insertOne({ _id: 1 })), /E11000/);
});

check("a cursor of many batches", () => {
  db.many.insertMany(Array.from({ length: 1000 }, (_, i) => ({ _id: i })));
  let count = 0;
  db.many.find().batchSize(100).forEach(() => ++count);
  assert.equal(count, 1000);
  assert.equal(db.many.find().limit(5).itcount(), 5);
});

check("bulk writes", () => {
  const done = db.items.bulkWrite([{ insertOne: { document: { _id: 4 } } }, { updateOne: { filter: { _id: 4 }, update: { $set: { a: 1 } } } }, { deleteOne: { filter: { _id: 4 } } }]);
  assert.equal(done.insertedCount + done.modifiedCount + done.deletedCount, 3);
});

check("aggregation", () => {
  const sums = db.items.aggregate([{ $match: { qty: { $gt: 0 } } }, { $group: { _id: null, n: { $sum: "$qty" } } }]).toArray();
  assert.equal(Number(sums[0].n), 13);
  const joined = db.items.aggregate([{ $lookup: { from: "many", localField: "_id", foreignField: "_id", as: "found" } }]).toArray();
  assert.ok(joined.every((one) => one.found.length === 1));
  db.items.aggregate([{ $out: "copies" }]);
  assert.equal(db.copies.countDocuments(), 3);
});

check("indexes", () => {
  assert.equal(db.items.createIndex({ name: 1 }, { unique: true }), "name_1");
  same(db.items.getIndexes().map((one) => one.name), ["_id_", "name_1"]);
  assert.match(messageOf(() => db.items.insertOne({ name: "a" })), /E11000/);
  const told = db.items.find({ name: "b" }).explain("executionStats");
  assert.equal(told.queryPlanner.winningPlan.inputStage.stage, "IXSCAN");
  assert.equal(Number(told.executionStats.totalDocsExamined), 1);
  db.items.dropIndex("name_1");
  assert.equal(db.items.getIndexes().length, 1);
});

check("show, stats and the like", () => {
  same(show("collections").value.map((one) => one.name).sort(), ["copies", "items", "many"]);
  assert.ok(show("dbs").value.some((one) => one.name === "mongosh"));
  same(db.getCollectionNames().sort(), ["copies", "items", "many"]);
  assert.equal(Number(db.items.stats().count), 3);
  assert.equal(Number(db.stats().collections), 3);
  assert.equal(db.version(), db.serverBuildInfo().version);
  assert.equal(db.serverStatus().ok, 1);
  assert.equal(db.hello().ok, 1);
  assert.equal(db.currentOp().ok, 1);
  assert.equal(db.adminCommand({ getParameter: 1, featureCompatibilityVersion: 1 }).featureCompatibilityVersion.version, "7.0");
  assert.ok(Array.isArray(db.getUsers().users));
});

check("sessions and transactions", () => {
  const session = db.getMongo().startSession();
  const items = session.getDatabase("mongosh").items;
  session.startTransaction();
  items.insertOne({ _id: 100 });
  session.abortTransaction();
  assert.equal(db.items.findOne({ _id: 100 }), null);
  session.withTransaction(() => items.insertOne({ _id: 101 }));
  assert.equal(db.items.findOne({ _id: 101 })._id, 101);
  session.endSession();
});

check("change streams", () => {
  const stream = db.items.watch();
  db.items.insertOne({ _id: "watched" });
  const event = stream.next();
  assert.equal(event.operationType, "insert");
  assert.equal(event.documentKey._id, "watched");
  stream.close();
});

check("collections are dropped", () => {
  assert.equal(db.copies.drop(), true);
  assert.equal(db.dropDatabase().ok, 1);
});

if (failed > 0) quit(1);
