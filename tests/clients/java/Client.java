// Orrery judged by the vendor's Java SDK, azure-cosmos, unmodified, in gateway mode or, with
// ORRERY_MODE=direct, in its default mode.
//
// Each test has the title by which docs/compat names it. Prints TAP, ends with 1 when one failed. Needs
// ORRERY_ENDPOINT (https), ORRERY_KEY, and -Djavax.net.ssl.trustStore with a store that has the server's cert.pem.

import com.azure.cosmos.ChangeFeedProcessor;
import com.azure.cosmos.ChangeFeedProcessorBuilder;
import com.azure.cosmos.CosmosAsyncClient;
import com.azure.cosmos.CosmosAsyncContainer;
import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.CosmosException;
import com.azure.cosmos.DirectConnectionConfig;
import com.azure.cosmos.models.ChangeFeedPolicy;
import com.azure.cosmos.models.ChangeFeedProcessorItem;
import com.azure.cosmos.models.ChangeFeedProcessorOptions;
import com.azure.cosmos.models.CompositePath;
import com.azure.cosmos.models.CompositePathSortOrder;
import com.azure.cosmos.models.CosmosBatch;
import com.azure.cosmos.models.CosmosBatchOperationResult;
import com.azure.cosmos.models.CosmosBatchResponse;
import com.azure.cosmos.models.CosmosBulkOperations;
import com.azure.cosmos.models.CosmosChangeFeedRequestOptions;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemIdentity;
import com.azure.cosmos.models.CosmosItemOperation;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosPatchItemRequestOptions;
import com.azure.cosmos.models.CosmosPatchOperations;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.CosmosStoredProcedureProperties;
import com.azure.cosmos.models.CosmosStoredProcedureRequestOptions;
import com.azure.cosmos.models.CosmosStoredProcedureResponse;
import com.azure.cosmos.models.FeedRange;
import com.azure.cosmos.models.FeedResponse;
import com.azure.cosmos.models.IndexingPolicy;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.PartitionKeyBuilder;
import com.azure.cosmos.models.PartitionKeyDefinition;
import com.azure.cosmos.models.PartitionKeyDefinitionVersion;
import com.azure.cosmos.models.PartitionKind;
import com.azure.cosmos.models.SqlParameter;
import com.azure.cosmos.models.SqlQuerySpec;
import com.azure.cosmos.models.ThroughputProperties;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;

public final class Client {
    private static final int ITEMS = 240;
    private static final List<String> COLORS = List.of("red", "green", "blue");
    private static final ObjectMapper JSON = new ObjectMapper();

    private final CosmosClient client;
    private final CosmosAsyncClient asyncClient;
    private final CosmosDatabase database;
    private final CosmosContainer wide;   // several partitions, filled by bulk()
    private final CosmosContainer plain;
    private int failed = 0;

    private Client() {
        client = builder().buildClient();
        asyncClient = builder().buildAsyncClient();
        String name = "java-" + UUID.randomUUID();
        client.createDatabase(name);
        database = client.getDatabase(name);
        CosmosContainerProperties sorted = new CosmosContainerProperties("wide", "/pk");
        sorted.setIndexingPolicy(new IndexingPolicy().setCompositeIndexes(List.of(List.of(
            new CompositePath().setPath("/color"),
            new CompositePath().setPath("/n").setOrder(CompositePathSortOrder.DESCENDING)))));
        wide = create(sorted, ThroughputProperties.createManualThroughput(30_000));
        plain = create(new CosmosContainerProperties("plain", "/pk"), null);
    }

    private static CosmosClientBuilder builder() {
        CosmosClientBuilder builder = new CosmosClientBuilder()
            .endpoint(System.getenv("ORRERY_ENDPOINT")).key(System.getenv("ORRERY_KEY"))
            .contentResponseOnWriteEnabled(true);
        // As it is by default, but for a machine that is busy: 5 s are too few there.
        return "direct".equals(System.getenv("ORRERY_MODE"))
            ? builder.directMode(new DirectConnectionConfig().setNetworkRequestTimeout(Duration.ofSeconds(10)))
            : builder.gatewayMode();
    }

    public static void main(String[] arguments) {
        Client tests = new Client();
        tests.test("items: create, read, replace, upsert, delete, etags, and what is not there", tests::items);
        tests.test("bulk: items are written in bulk, and readMany reads them at once", tests::bulk);
        tests.test("queries: parameters, one key, pages and continuations", tests::queries);
        tests.test("queries over partitions: ORDER BY, TOP, OFFSET LIMIT, DISTINCT", tests::orderedQueries);
        tests.test("queries over partitions: pages that end among equal ORDER BY values", tests::orderedTies);
        tests.test("queries over partitions: COUNT, SUM, MIN, MAX, AVG and GROUP BY", tests::aggregates);
        tests.test("change feed: from the beginning, from a time, from a continuation, of feed ranges", tests::changeFeed);
        tests.test("change feed: all versions and deletes", tests::allVersions);
        tests.test("change feed processor: latest versions, and where it is", tests::processorOfLatestVersions);
        tests.test("change feed processor: items alone", tests::processorOfItems);
        tests.test("change feed processor: all versions and deletes", tests::processorOfAllVersions);
        tests.test("batch: all kinds of operations, and none of them when one fails", tests::batch);
        tests.test("stored procedures: a result, what it wrote, its log", tests::procedures);
        tests.test("container made anew: its name is looked up again", tests::madeAnew);
        tests.test("ids and keys: other alphabets, signs, numbers, null and none", tests::strangeNames);
        tests.test("splits: no request fails while ranges are split under load", tests::splitsUnderLoad);
        tests.test("merges: no request fails while ranges are merged under load, and a change feed goes on", tests::mergesUnderLoad);
        tests.test("patch: operations and a condition", tests::patch);
        tests.test("hierarchical keys: items, a prefix of the key in queries", tests::hierarchicalKeys);
        tests.test("throughput: manual, changed, autoscale", tests::throughput);
        tests.test("databases and containers: lists, queries, replace, what is not there", tests::management);
        tests.database.delete();
        tests.client.close();
        tests.asyncClient.close();
        System.exit(tests.failed > 0 ? 1 : 0);
    }

    private void items() {
        ObjectNode one = item("1", "a", 1).put("text", "grüß 🌍");
        String first = plain.createItem(one).getETag();
        same(plain.readItem("1", key("a"), ObjectNode.class).getItem().get("text").asText(), "grüß 🌍");
        String second = plain.replaceItem(one.put("n", 2), "1", key("a"), null).getETag();
        same(first.equals(second), false);
        fails(412, () -> plain.replaceItem(one, "1", key("a"), new CosmosItemRequestOptions().setIfMatchETag(first)));
        fails(409, () -> plain.createItem(one));
        same(plain.upsertItem(item("1", "a", 3)).getStatusCode(), 200);
        same(plain.upsertItem(item("1", "b", 4)).getStatusCode(), 201);
        plain.deleteItem("1", key("a"), null);
        fails(404, () -> plain.readItem("1", key("a"), ObjectNode.class));
        same(plain.readItem("1", key("b"), ObjectNode.class).getItem().get("n").asInt(), 4);
    }

    private void bulk() {
        List<CosmosItemOperation> operations = numbers().mapToObj(
            n -> CosmosBulkOperations.getCreateItemOperation(itemOf(n), keyOf(n))).toList();
        wide.executeBulkOperations(operations).forEach(done -> {
            if (done.getException() != null) throw new IllegalStateException(done.getException());
            same(done.getResponse().getStatusCode(), 201);
        });
        List<CosmosItemIdentity> wanted = numbers().filter(n -> n % 3 == 0).mapToObj(
            n -> new CosmosItemIdentity(keyOf(n), String.valueOf(n))).toList();
        same(wide.readMany(wanted, ObjectNode.class).getResults().size(), ITEMS / 3);
        same(wide.readAllItems(keyOf(7), ObjectNode.class).stream().count(), (long) ITEMS / 20);
    }

    private void queries() {
        SqlQuerySpec spec = new SqlQuerySpec("SELECT VALUE c.n FROM c WHERE c.n < @n", new SqlParameter("@n", 50));
        same(wide.queryItems(spec, null, Integer.class).stream().sorted().toList(), numbers().limit(50).boxed().toList());
        CosmosQueryRequestOptions ofKey = new CosmosQueryRequestOptions().setPartitionKey(keyOf(7));
        String query = "SELECT VALUE c.n FROM c ORDER BY c.n";
        List<Integer> all = wide.queryItems(query, ofKey, Integer.class).stream().toList();
        same(all, numbers().filter(n -> n % 20 == 7).boxed().toList());
        FeedResponse<Integer> page = wide.queryItems(query, ofKey, Integer.class).iterableByPage(5).iterator().next();
        same(page.getResults(), all.subList(0, 5));
        List<Integer> rest = new ArrayList<>();
        wide.queryItems(query, ofKey, Integer.class).iterableByPage(page.getContinuationToken(), 5)
            .forEach(next -> rest.addAll(next.getResults()));
        same(rest, all.subList(5, all.size()));
    }

    private void orderedQueries() {
        List<Integer> down = numbers().map(n -> ITEMS - 1 - n).boxed().toList();
        same(ask("SELECT VALUE c.n FROM c ORDER BY c.n DESC", Integer.class), down);
        String query = "SELECT VALUE c.n FROM c ORDER BY c.n DESC";
        same(pagesOfTheirOwn(query, 50), down);
        same(ask("SELECT TOP 5 VALUE c.n FROM c ORDER BY c.n", Integer.class), List.of(0, 1, 2, 3, 4));
        same(ask("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 100 LIMIT 3", Integer.class), List.of(100, 101, 102));
        same(Set.copyOf(ask("SELECT DISTINCT VALUE c.color FROM c", String.class)), Set.copyOf(COLORS));
        JsonNode first = ask("SELECT c.color, c.n FROM c ORDER BY c.color, c.n DESC", JsonNode.class).get(0);
        same(first.get("color").asText() + first.get("n").asInt(), "blue239");
    }

    private void orderedTies() {
        List<Integer> all = numbers().boxed().toList();
        for (String order : List.of("c.color", "c.color DESC", "c.none")) {
            String query = "SELECT VALUE c.n FROM c ORDER BY " + order;
            for (int size : List.of(1, 3, 7, 50)) {
                same(pagesOfTheirOwn(query, size).stream().sorted().toList(), all);
            }
        }
        // Rows of one item are equal, too.
        List<Integer> twice = numbers().flatMap(n -> IntStream.of(n, n)).boxed().toList();
        String joined = "SELECT VALUE c.n FROM c JOIN t IN (SELECT VALUE [1, 2]) ORDER BY c.color";
        same(pagesOfTheirOwn(joined, 7).stream().sorted().toList(), twice);
    }

    // All rows, each page asked for anew with the token of the one before.
    private List<Integer> pagesOfTheirOwn(String query, int size) {
        List<Integer> rows = new ArrayList<>();
        String token = null;
        do {
            FeedResponse<Integer> page = wide.queryItems(query, new CosmosQueryRequestOptions(), Integer.class)
                .iterableByPage(token, size).iterator().next();
            rows.addAll(page.getResults());
            token = page.getContinuationToken();
        } while (token != null);
        return rows;
    }

    private void aggregates() {
        same(ask("SELECT VALUE COUNT(1) FROM c", Integer.class), List.of(ITEMS));
        same(ask("SELECT VALUE SUM(c.n) FROM c", Double.class), List.of((double) numbers().sum()));
        same(ask("SELECT VALUE MIN(c.n) FROM c", Integer.class), List.of(0));
        same(ask("SELECT VALUE MAX(c.n) FROM c", Integer.class), List.of(ITEMS - 1));
        same(ask("SELECT VALUE AVG(c.n) FROM c", Double.class), List.of((ITEMS - 1) / 2.0));
        Map<String, Integer> groups = new TreeMap<>();
        ask("SELECT c.color, COUNT(1) AS n, MAX(c.n) AS most FROM c GROUP BY c.color", JsonNode.class).forEach(
            group -> groups.put(group.get("color").asText() + " to " + group.get("most").asInt(), group.get("n").asInt()));
        same(groups, Map.of("red to 237", 80, "green to 238", 80, "blue to 239", 80));
    }

    private void changeFeed() {
        List<Integer> seen = new ArrayList<>();
        String position = changes(
            CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(FeedRange.forFullRange()), seen);
        same(seen.stream().sorted().toList(), numbers().boxed().toList());
        wide.upsertItem(itemOf(5));
        List<Integer> later = new ArrayList<>();
        changes(CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(position), later);
        same(later, List.of(5));
        List<Integer> sinceThen = new ArrayList<>();
        changes(CosmosChangeFeedRequestOptions.createForProcessingFromPointInTime(
            Instant.parse("2020-01-01T00:00:00Z"), FeedRange.forFullRange()), sinceThen);
        same(sinceThen.size(), ITEMS);
        List<FeedRange> ranges = wide.getFeedRanges();
        List<Integer> ofRanges = new ArrayList<>();
        ranges.forEach(range -> changes(CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(range), ofRanges));
        same(ranges.size() > 1, true);
        same(ofRanges.stream().sorted().toList(), numbers().boxed().toList());
        List<Integer> ofKey = new ArrayList<>();
        changes(CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(
            FeedRange.forLogicalPartition(keyOf(5))), ofKey);
        same(ofKey.size(), ITEMS / 20);
    }

    private void allVersions() {
        CosmosContainer container = createKeepingVersions("versions");
        List<JsonNode> seen = new ArrayList<>();
        String position = changesAs(CosmosChangeFeedRequestOptions.createForProcessingFromNow(FeedRange.forFullRange())
            .allVersionsAndDeletes(), container, seen);
        writeThreeVersions(container);
        changesAs(CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(position).allVersionsAndDeletes(),
            container, seen);
        same(seen.stream().map(change -> change.at("/metadata/operationType").asText()).toList(),
            List.of("create", "replace", "delete"));
    }

    private void processorOfLatestVersions() {
        Set<Integer> seen = ConcurrentHashMap.newKeySet();
        ChangeFeedProcessor processor = processor("latest", wide).handleLatestVersionChanges(changes -> {
            for (ChangeFeedProcessorItem change : changes) {
                if (change.getChangeFeedMetaData().getLogSequenceNumber() > 0) seen.add(change.getCurrent().get("n").asInt());
            }
        }).buildChangeFeedProcessor();
        processor.start().block();
        eventually("all items", () -> seen.size() == ITEMS);
        eventually("no lag", () -> processor.getCurrentState().block().stream().allMatch(state -> state.getEstimatedLag() == 0));
        processor.stop().block();
    }

    private void processorOfItems() {
        Set<Integer> seen = ConcurrentHashMap.newKeySet();
        ChangeFeedProcessor processor = processor("items", wide).handleChanges(
            changes -> changes.forEach(change -> seen.add(change.get("n").asInt()))).buildChangeFeedProcessor();
        processor.start().block();
        eventually("all items", () -> seen.size() == ITEMS);
        processor.stop().block();
    }

    private void processorOfAllVersions() {
        CosmosContainer container = createKeepingVersions("processed-versions");
        Set<String> seen = ConcurrentHashMap.newKeySet();
        ChangeFeedProcessor processor = processor("versions", container).handleAllVersionsAndDeletesChanges(changes ->
            changes.forEach(change -> seen.add(change.getChangeFeedMetaData().getOperationType().toString()))
        ).buildChangeFeedProcessor();
        processor.start().block();
        // It reads from the moment on in which it took its lease: write until it sees.
        eventually("every operation", () -> {
            writeThreeVersions(container);
            return seen.size() == 3;
        });
        processor.stop().block();
    }

    private void batch() {
        CosmosBatch good = CosmosBatch.createCosmosBatch(key("batch"));
        good.createItemOperation(item("b1", "batch", 1));
        good.upsertItemOperation(item("b2", "batch", 2));
        good.patchItemOperation("b1", CosmosPatchOperations.create().increment("/n", 10));
        good.replaceItemOperation("b2", item("b2", "batch", 20));
        good.readItemOperation("b1");
        good.deleteItemOperation("b2");
        CosmosBatchResponse done = plain.executeCosmosBatch(good);
        same(done.isSuccessStatusCode(), true);
        same(statuses(done), List.of(201, 201, 200, 200, 200, 204));
        same(done.getResults().get(4).getItem(ObjectNode.class).get("n").asInt(), 11);

        CosmosBatch bad = CosmosBatch.createCosmosBatch(key("batch"));
        bad.deleteItemOperation("b1");
        bad.readItemOperation("nobody");
        CosmosBatchResponse undone = plain.executeCosmosBatch(bad);
        same(undone.isSuccessStatusCode(), false);
        same(statuses(undone), List.of(424, 404));
        same(plain.readItem("b1", key("batch"), ObjectNode.class).getItem().get("n").asInt(), 11);
    }

    private void procedures() {
        plain.getScripts().createStoredProcedure(new CosmosStoredProcedureProperties("greet",
            "function (name) { const link = getContext().getCollection().getSelfLink();"
            + " console.log('greeting ' + name);"
            + " getContext().getCollection().createDocument(link, { id: name, pk: 'sp', n: 7 });"
            + " getContext().getResponse().setBody('hello ' + name); }"));
        CosmosStoredProcedureResponse done = plain.getScripts().getStoredProcedure("greet").execute(List.of("ada"),
            new CosmosStoredProcedureRequestOptions().setPartitionKey(key("sp")).setScriptLoggingEnabled(true));
        same(done.getResponseAsString(), "\"hello ada\"");
        same(done.getScriptLog().contains("greeting"), true);
        same(plain.readItem("ada", key("sp"), ObjectNode.class).getItem().get("n").asInt(), 7);
    }

    private void madeAnew() {
        CosmosContainer first = create(new CosmosContainerProperties("anew", "/pk"), null);
        first.createItem(item("1", "a", 1));
        // By another client: the first one's caches are not told.
        try (CosmosClient other = builder().gatewayMode().buildClient()) {
            other.getDatabase(database.getId()).getContainer("anew").delete();
            other.getDatabase(database.getId()).createContainer("anew", "/pk");
        }
        fails(404, () -> first.readItem("1", key("a"), ObjectNode.class));
        same(first.upsertItem(item("1", "a", 2)).getStatusCode(), 201);
        same(first.readItem("1", key("a"), ObjectNode.class).getItem().get("n").asInt(), 2);
    }

    private void strangeNames() {
        for (String id : List.of("grüß 🌍", "a b+c%20d", "x&y=z;w", "päth:1@2!")) {
            same(plain.createItem(item(id, "küche \"1\"", 1)).getStatusCode(), 201);
            same(plain.readItem(id, key("küche \"1\""), ObjectNode.class).getItem().get("id").asText(), id);
            plain.deleteItem(id, key("küche \"1\""), null);
        }
        ObjectNode number = JSON.createObjectNode().put("id", "number").put("pk", 1.5);
        plain.createItem(number);
        plain.readItem("number", new PartitionKey(1.5), ObjectNode.class);
        plain.createItem(JSON.createObjectNode().put("id", "null").putNull("pk"));
        plain.readItem("null", new PartitionKey(null), ObjectNode.class);
        plain.createItem(JSON.createObjectNode().put("id", "none"));
        plain.readItem("none", PartitionKey.NONE, ObjectNode.class);
    }

    private void splitsUnderLoad() {
        CosmosContainer growing = create(
            new CosmosContainerProperties("growing", "/pk"), ThroughputProperties.createManualThroughput(400));
        underLoad(growing, 0, (done, failures) -> {
            for (int throughput : List.of(15_000, 35_000)) {
                int ranges = freshRanges("growing");
                int before = done.get();
                eventually("writes before the splits", () -> done.get() > before + 100 || !failures.isEmpty());
                growing.replaceThroughput(ThroughputProperties.createManualThroughput(throughput));
                eventually("the splits", () -> !growing.readThroughput().isReplacePending() || !failures.isEmpty());
                same(freshRanges("growing") > ranges || !failures.isEmpty(), true);
                int then = done.get();
                eventually("writes after the splits", () -> done.get() > then + 100 || !failures.isEmpty());
            }
        });
    }

    // Partitions merge by themselves after throughput was lowered, when they are not asked much: so writers take their time.
    private void mergesUnderLoad() {
        CosmosContainer shrinking = create(
            new CosmosContainerProperties("shrinking", "/pk"), ThroughputProperties.createManualThroughput(30_000));
        int ranges = freshRanges("shrinking");
        List<JsonNode> seen = new ArrayList<>();
        AtomicReference<String> position = new AtomicReference<>();
        underLoad(shrinking, 30, (done, failures) -> {
            eventually("writes before the merges", () -> done.get() > 100 || !failures.isEmpty());
            position.set(changesAs(CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(
                FeedRange.forFullRange()), shrinking, seen));
            shrinking.replaceThroughput(ThroughputProperties.createManualThroughput(18_000));
            eventually("the merges", () -> freshRanges("shrinking") <= 3 || !failures.isEmpty());
            same(ranges > 3, true);
            int then = done.get();
            eventually("writes after the merges", () -> done.get() > then + 100 || !failures.isEmpty());
        });
        // Whatever was the last state of an item has come, before or after the merges.
        changesAs(CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(position.get()), shrinking, seen);
        Map<String, Integer> last = new TreeMap<>();
        seen.forEach(change -> last.put(change.get("id").asText(), change.get("n").asInt()));
        same(last.size(), 200);
        last.forEach((id, n) -> same(shrinking.readItem(id, key("k" + n % 50), ObjectNode.class).getItem().get("n").asInt(), n));
    }

    private interface Disturbance {
        void run(AtomicInteger done, List<Throwable> failures);
    }

    // Four writers that read what they wrote, while something is done to the container's ranges; no request may fail.
    private void underLoad(CosmosContainer growing, int pauseMs, Disturbance disturbance) {
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger done = new AtomicInteger();
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        List<Thread> writers = IntStream.range(0, 4).mapToObj(writer -> new Thread(() -> {
            for (int n = 0; !over.get(); ++n) {
                String id = writer + "-" + n % 50;
                try {
                    growing.upsertItem(item(id, "k" + n % 50, n));
                    same(growing.readItem(id, key("k" + n % 50), ObjectNode.class).getItem().get("n").asInt(), n);
                    done.incrementAndGet();
                    if (pauseMs > 0) Thread.sleep(pauseMs);
                } catch (Throwable failure) {
                    failures.add(failure);
                    return;
                }
            }
        })).toList();
        writers.forEach(Thread::start);
        try {
            disturbance.run(done, failures);
        } finally {
            over.set(true);
            writers.forEach(writer -> {
                try {
                    writer.join();
                } catch (InterruptedException interrupted) {
                    throw new IllegalStateException(interrupted);
                }
            });
        }
        if (!failures.isEmpty()) throw new IllegalStateException(failures.get(0));
        same(growing.queryItems("SELECT VALUE COUNT(1) FROM c", new CosmosQueryRequestOptions(), Integer.class)
            .stream().toList(), List.of(200));
    }

    // As a client sees them that has cached nothing.
    private int freshRanges(String container) {
        try (CosmosClient other = builder().buildClient()) {
            return other.getDatabase(database.getId()).getContainer(container).getFeedRanges().size();
        }
    }

    private void patch() {
        ObjectNode before = item("p", "patch", 1).put("old", true);
        before.putArray("list").add(1).add(2);
        plain.createItem(before);
        CosmosPatchOperations change = CosmosPatchOperations.create()
            .increment("/n", 4).add("/list/-", 3).remove("/old").set("/deep", Map.of("x", 1));
        CosmosPatchItemRequestOptions once = new CosmosPatchItemRequestOptions().setFilterPredicate("FROM c WHERE c.n = 1");
        ObjectNode after = plain.patchItem("p", key("patch"), change, once, ObjectNode.class).getItem();
        same(after.get("n").asInt() + " " + after.get("list") + " " + after.has("old") + " " + after.get("deep"),
            "5 [1,2,3] false {\"x\":1}");
        fails(412, () -> plain.patchItem("p", key("patch"), change, once, ObjectNode.class));
    }

    private void hierarchicalKeys() {
        CosmosContainer levels = create(new CosmosContainerProperties("levels", new PartitionKeyDefinition()
            .setKind(PartitionKind.MULTI_HASH).setVersion(PartitionKeyDefinitionVersion.V2)
            .setPaths(List.of("/tenant", "/user", "/session"))), null);
        for (int n = 0; n < 40; ++n) {
            levels.createItem(JSON.createObjectNode().put("id", "" + n).put("tenant", "t" + n % 2).put("user", "u" + n % 4)
                .put("session", n));
        }
        PartitionKey whole = new PartitionKeyBuilder().add("t1").add("u3").add(7).build();
        same(levels.readItem("7", whole, ObjectNode.class).getItem().get("id").asText(), "7");
        PartitionKey one = new PartitionKeyBuilder().add("t1").build();
        PartitionKey two = new PartitionKeyBuilder().add("t1").add("u3").build();
        same(count(levels, new CosmosQueryRequestOptions().setPartitionKey(one)), 20L);
        same(count(levels, new CosmosQueryRequestOptions().setPartitionKey(two)), 10L);
        levels.deleteItem("7", whole, null);
        fails(404, () -> levels.readItem("7", whole, ObjectNode.class));
    }

    private void throughput() {
        CosmosContainer manual = create(
            new CosmosContainerProperties("manual", "/pk"), ThroughputProperties.createManualThroughput(1000));
        same(manual.readThroughput().getProperties().getManualThroughput(), 1000);
        manual.replaceThroughput(ThroughputProperties.createManualThroughput(1500));
        same(manual.readThroughput().getProperties().getManualThroughput(), 1500);
        CosmosContainer automatic = create(
            new CosmosContainerProperties("automatic", "/pk"), ThroughputProperties.createAutoscaledThroughput(4000));
        same(automatic.readThroughput().getProperties().getAutoscaleMaxThroughput(), 4000);
        automatic.replaceThroughput(ThroughputProperties.createAutoscaledThroughput(5000));
        same(automatic.readThroughput().getProperties().getAutoscaleMaxThroughput(), 5000);
    }

    private void management() {
        same(client.readAllDatabases().stream().anyMatch(each -> each.getId().equals(database.getId())), true);
        SqlQuerySpec byId = new SqlQuerySpec("SELECT * FROM c WHERE c.id = @id", new SqlParameter("@id", database.getId()));
        same(client.queryDatabases(byId, null).stream().count(), 1L);
        CosmosContainerProperties rules = new CosmosContainerProperties("rules", "/pk").setDefaultTimeToLiveInSeconds(100);
        CosmosContainer container = create(rules, null);
        CosmosContainerProperties read = container.read().getProperties();
        same(read.getDefaultTimeToLiveInSeconds(), 100);
        container.replace(read.setDefaultTimeToLiveInSeconds(200));
        same(container.read().getProperties().getDefaultTimeToLiveInSeconds(), 200);
        same(database.queryContainers("SELECT * FROM c WHERE c.id = 'rules'").stream().count(), 1L);
        container.delete();
        fails(404, container::read);
    }

    private CosmosContainer create(CosmosContainerProperties properties, ThroughputProperties throughput) {
        if (throughput == null) database.createContainer(properties);
        else database.createContainer(properties, throughput);
        return database.getContainer(properties.getId());
    }

    private CosmosContainer createKeepingVersions(String name) {
        return create(new CosmosContainerProperties(name, "/pk").setChangeFeedPolicy(
            ChangeFeedPolicy.createAllVersionsAndDeletesPolicy(Duration.ofMinutes(5))), null);
    }

    private static void writeThreeVersions(CosmosContainer container) {
        container.createItem(item("v", "a", 1));
        container.upsertItem(item("v", "a", 2));
        container.deleteItem("v", key("a"), null);
    }

    private <Row> List<Row> ask(String query, Class<Row> type) {
        return wide.queryItems(query, new CosmosQueryRequestOptions(), type).stream().toList();
    }

    private static long count(CosmosContainer container, CosmosQueryRequestOptions options) {
        return container.queryItems("SELECT * FROM c", options, ObjectNode.class).stream().count();
    }

    // Adds the numbers of the items that changed; returns where to go on.
    private String changes(CosmosChangeFeedRequestOptions from, List<Integer> numbers) {
        List<JsonNode> found = new ArrayList<>();
        String position = changesAs(from, wide, found);
        found.forEach(change -> numbers.add(change.get("n").asInt()));
        return position;
    }

    private static String changesAs(CosmosChangeFeedRequestOptions from, CosmosContainer container, List<JsonNode> found) {
        String position = null;
        for (FeedResponse<JsonNode> page : container.queryChangeFeed(from, JsonNode.class).iterableByPage()) {
            found.addAll(page.getResults());
            position = page.getContinuationToken();
        }
        return position;
    }

    // With leases of its own, in a container of its own.
    private ChangeFeedProcessorBuilder processor(String name, CosmosContainer feed) {
        create(new CosmosContainerProperties(name + "-leases", "/id"), null);
        return new ChangeFeedProcessorBuilder().hostName(name).feedContainer(asynchronous(feed.getId()))
            .leaseContainer(asynchronous(name + "-leases"))
            .options(new ChangeFeedProcessorOptions().setStartFromBeginning(!name.equals("versions"))
                .setFeedPollDelay(Duration.ofMillis(100)).setLeaseAcquireInterval(Duration.ofMillis(500)));
    }

    private CosmosAsyncContainer asynchronous(String container) {
        return asyncClient.getDatabase(database.getId()).getContainer(container);
    }

    private static IntStream numbers() {
        return IntStream.range(0, ITEMS);
    }

    private static ObjectNode itemOf(int n) {
        return item("" + n, "key " + n % 20, n).put("color", COLORS.get(n % 3));
    }

    private static ObjectNode item(String id, String pk, int n) {
        return JSON.createObjectNode().put("id", id).put("pk", pk).put("n", n);
    }

    private static PartitionKey key(String value) {
        return new PartitionKey(value);
    }

    private static PartitionKey keyOf(int n) {
        return key("key " + n % 20);
    }

    private static List<Integer> statuses(CosmosBatchResponse response) {
        return response.getResults().stream().map(CosmosBatchOperationResult::getStatusCode).toList();
    }

    private void test(String title, Runnable body) {
        try {
            body.run();
            System.out.println("ok - " + title);
        } catch (Throwable failure) {  // whatever the SDK throws is a failed test
            ++failed;
            System.out.println("not ok - " + title);
            System.out.println("  # " + failure);
            Stream.of(failure.getSuppressed()).map(String::valueOf).forEach(
                cause -> System.out.println("  #   " + cause.substring(0, Math.min(cause.length(), 1000))));
            Stream.of(failure.getStackTrace()).filter(frame -> frame.getClassName().startsWith("Client"))
                .forEach(frame -> System.out.println("  #   at " + frame));
        }
    }

    private static void same(Object found, Object wanted) {
        if (!Objects.equals(found, wanted)) throw new AssertionError("found " + found + ", wanted " + wanted);
    }

    private static void fails(int status, Runnable action) {
        try {
            action.run();
        } catch (CosmosException error) {
            same(error.getStatusCode(), status);
            return;
        }
        throw new AssertionError("wanted " + status + ", and it succeeded");
    }

    private interface Condition {
        boolean holds();
    }

    private static void eventually(String what, Condition condition) {
        for (Instant end = Instant.now().plusSeconds(120); !condition.holds(); ) {
            if (Instant.now().isAfter(end)) throw new AssertionError("there never was: " + what);
            try {
                Thread.sleep(50);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        }
    }
}
