// The object mapper mongoose, unmodified: what its users do first. One server, some seconds.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import mongoose from "mongoose";

import { errorOf, mongoUri, startMongo } from "./mongo.mjs";

describe("mongoose", () => {
  let server;
  let db;
  let User;
  let Post;
  before(async () => {
    server = await startMongo();
    db = await mongoose.createConnection(`${mongoUri(server)}blog`).asPromise();
    const user = new mongoose.Schema({ name: { type: String, required: true }, email: { type: String, unique: true }, age: { type: Number, min: 0 } }, { timestamps: true });
    const post = new mongoose.Schema({
      title: String,
      author: { type: mongoose.Schema.Types.ObjectId, ref: "User" },
      tags: [String],
      comments: [{ text: String, likes: { type: Number, default: 0 } }],
      price: mongoose.Schema.Types.Decimal128,
    });
    User = db.model("User", user);
    Post = db.model("Post", post);
    await Promise.all([User.init(), Post.init()]);
  });
  after(async () => {
    await db?.close();
    await server?.close();
  });

  it("documents are made, found, changed and removed", async () => {
    const ada = await User.create({ name: "Ada", email: "ada@example.com", age: 36 });
    assert.ok(ada.createdAt instanceof Date);
    await User.insertMany([{ name: "Bob", email: "bob@example.com", age: 20 }, { name: "Cy", email: "cy@example.com", age: 50 }]);
    ada.age = 37;
    await ada.save();
    assert.equal((await User.findById(ada._id)).age, 37);
    assert.deepEqual((await User.find({ age: { $gt: 21 } }).sort("-age").select("name").lean()).map((one) => one.name), ["Cy", "Ada"]);
    assert.equal((await User.findOneAndUpdate({ name: "Bob" }, { $inc: { age: 1 } }, { new: true })).age, 21);
    assert.equal((await User.updateMany({}, { $set: { seen: true } }, { strict: false })).modifiedCount, 3);
    assert.equal(await User.countDocuments({ age: { $lt: 40 } }), 2);
    assert.equal((await User.deleteOne({ name: "Cy" })).deletedCount, 1);
    assert.equal((await User.exists({ name: "Cy" })), null);
  });

  it("validation, duplicates and versions are told", async () => {
    assert.equal((await errorOf(User.create({ email: "x@example.com" }))).name, "ValidationError");
    const duplicate = await errorOf(User.create({ name: "Other", email: "ada@example.com" }));
    assert.equal(duplicate.code, 11000);
    assert.deepEqual(duplicate.keyValue, { email: "ada@example.com" });
    const post = await Post.create({ title: "One", comments: [{ text: "a" }, { text: "b" }] });
    const same = await Post.findById(post._id);
    post.comments.pull(post.comments[0]._id);
    await post.save();
    same.comments[0].text = "changed";
    assert.equal((await errorOf(same.save())).name, "VersionError");
  });

  it("subdocuments, population and aggregates", async () => {
    const ada = await User.findOne({ name: "Ada" });
    const post = await Post.create({ title: "Two", author: ada, tags: ["x", "y"], comments: [{ text: "first" }], price: "1.10" });
    post.comments.push({ text: "second", likes: 2 });
    await post.save();
    const found = await Post.findOne({ tags: "y" }).populate("author");
    assert.equal(found.author.name, "Ada");
    assert.equal(found.comments.length, 2);
    assert.equal(found.price.toString(), "1.10");
    const counted = await Post.aggregate([{ $unwind: "$comments" }, { $group: { _id: "$title", likes: { $sum: "$comments.likes" } } }, { $sort: { _id: 1 } }]);
    assert.deepEqual(counted, [{ _id: "One", likes: 0 }, { _id: "Two", likes: 2 }]);
    let seen = 0;
    for await (const one of Post.find().cursor()) seen += one.title.length;
    assert.equal(seen, 6);
  });

  it("transactions", async () => {
    await db.transaction(async (session) => {
      const ada = await User.findOne({ name: "Ada" }).session(session);
      ada.age = 40;
      await ada.save({ session });
      await User.create([{ name: "Di", email: "di@example.com" }], { session });
    });
    assert.equal((await User.findOne({ name: "Ada" })).age, 40);
    assert.equal(await User.countDocuments({ name: "Di" }), 1);
    await errorOf(db.transaction(async (session) => {
      await User.deleteMany({}, { session });
      throw new Error("no");
    }));
    assert.equal(await User.countDocuments(), 3);
  });
});
