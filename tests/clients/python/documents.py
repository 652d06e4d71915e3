"""Orrery's MongoDB face judged by pymongo, unmodified.

Each function is one test; its docstring is the title by which docs/compat names it. Prints TAP, ends with 1 when
one failed. Needs ORRERY_MONGO, a connection string.
"""

import datetime
import os
import sys
import traceback

import bson
import pymongo
from bson.codec_options import CodecOptions
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure


def documents(db):
    """documents: every kind of write, and what is read again"""
    people = db.people
    people.drop()
    made = people.insert_one({"name": "Ada", "age": 36, "langs": ["a", "b"]})
    assert isinstance(made.inserted_id, bson.ObjectId)
    people.insert_many([{"_id": n, "name": f"p{n}", "age": n} for n in range(250)])
    assert people.find_one({"name": "Ada"})["langs"] == ["a", "b"]
    assert [one["_id"] for one in people.find({"age": {"$lt": 3}}).sort("age", -1)] == [2, 1, 0]
    assert len(list(people.find(batch_size=50))) == 251
    assert people.update_one({"_id": 1}, {"$set": {"x": 1}, "$push": {"l": 5}}).modified_count == 1
    assert people.update_many({"age": {"$gte": 200}}, {"$inc": {"age": 1}}).modified_count == 50
    assert people.replace_one({"_id": "new"}, {"y": 2}, upsert=True).upserted_id == "new"
    after = people.find_one_and_update({"_id": 2}, {"$mul": {"age": 10}}, return_document=pymongo.ReturnDocument.AFTER)
    assert after["age"] == 20
    assert people.delete_many({"age": {"$gte": 100}}).deleted_count == 150
    assert people.count_documents({}) == 102
    assert people.estimated_document_count() == 102
    assert sorted(people.distinct("age", {"age": {"$lt": 4}})) == [0, 1, 3]
    assert [one["n"] for one in people.aggregate([{"$match": {"age": {"$lt": 5}}}, {"$count": "n"}])] == [4]


def types(db):
    """types: what Python has comes back as it was"""
    whole = {
        "_id": 1, "text": "grüße", "float": 1.5, "int": 2**40, "none": None, "yes": True, "bytes": b"\x00\x01",
        "date": datetime.datetime(2026, 1, 2, 3, 4, 5, 6000, tzinfo=datetime.timezone.utc), "decimal": bson.Decimal128("1.10"),
        "regex": bson.Regex("a.b", "i"), "list": [1, {"a": [2]}], "timestamp": bson.Timestamp(1, 2), "min": bson.MinKey(),
    }
    kinds = db.get_collection("kinds", codec_options=CodecOptions(tz_aware=True))
    kinds.drop()
    kinds.insert_one(whole)
    assert kinds.find_one() == whole


def errors(db):
    """errors: duplicates, bulk writes and commands that are not there"""
    things = db.things
    things.drop()
    things.create_index("email", unique=True)
    things.insert_one({"_id": 1, "email": "a"})
    try:
        things.insert_one({"_id": 2, "email": "a"})
        raise AssertionError("a duplicate was taken")
    except DuplicateKeyError as error:
        assert error.details["keyValue"] == {"email": "a"}
    try:
        things.bulk_write([pymongo.InsertOne({"_id": 1}), pymongo.InsertOne({"_id": 3, "email": "c"}),
                           pymongo.UpdateOne({"_id": 3}, {"$set": {"n": 1}})], ordered=False)
        raise AssertionError("a duplicate was taken")
    except BulkWriteError as error:
        assert (error.details["nInserted"], error.details["nModified"], len(error.details["writeErrors"])) == (1, 1, 1)
    try:
        db.command("nothing")
        raise AssertionError("it is no command")
    except OperationFailure as error:
        assert error.code == 59


def sessions(db):
    """sessions: transactions with callbacks, and change streams"""
    accounts = db.accounts
    accounts.drop()
    accounts.insert_many([{"_id": "ada", "balance": 100}, {"_id": "bob", "balance": 0}])

    def transfer(session):
        accounts.update_one({"_id": "ada"}, {"$inc": {"balance": -30}}, session=session)
        accounts.update_one({"_id": "bob"}, {"$inc": {"balance": 30}}, session=session)

    with accounts.watch() as stream, db.client.start_session() as session:
        session.with_transaction(transfer)
        assert [next(stream)["documentKey"]["_id"] for _ in range(2)] == ["ada", "bob"]
        try:
            with session.start_transaction():
                accounts.delete_many({}, session=session)
                raise KeyError
        except KeyError:
            pass
    assert [one["balance"] for one in accounts.find().sort("_id")] == [70, 30]


def main():
    client = pymongo.MongoClient(os.environ["ORRERY_MONGO"])
    db = client.pymongo
    failed = 0
    for test in (documents, types, errors, sessions):
        try:
            test(db)
            print(f"ok - {test.__doc__}")
        except Exception:
            failed += 1
            print(f"not ok - {test.__doc__}")
            for line in traceback.format_exc().splitlines():
                print(f"  # {line}")
    client.close()
    sys.exit(1 if failed else 0)


main()
