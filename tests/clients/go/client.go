// Orrery judged by the vendor's Go SDK, azcosmos, unmodified.
//
// Each test has the title by which docs/compat names it. Prints TAP, ends with 1 when one failed. Needs
// ORRERY_ENDPOINT (https), ORRERY_KEY, and SSL_CERT_FILE with the server's cert.pem, which Go itself reads.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

const itemCount = 240

var (
	ctx    = context.Background()
	colors = []string{"red", "green", "blue"}
)

type item struct {
	ID    string `json:"id"`
	PK    string `json:"pk"`
	N     int    `json:"n"`
	Color string `json:"color,omitempty"`
	ETag  string `json:"_etag,omitempty"`
}

// What the tests share: one container of several partitions, filled by the bulk test, and an ordinary one.
type fixture struct {
	client      *azcosmos.Client
	database    *azcosmos.DatabaseClient
	wide, plain *azcosmos.ContainerClient
}

var tests = []struct {
	title string
	run   func(*fixture)
}{
	{"items: create, read, replace, upsert, delete, etags, and what is not there", items},
	{"bulk: items are written by many goroutines, and ReadManyItems reads them at once", manyItems},
	{"queries: parameters, one key, pages and continuations", queries},
	{"queries over partitions: filters; ORDER BY is refused, since this SDK merges nothing", queriesOverPartitions},
	{"ORDER BY, GROUP BY and aggregates of one key", queriesOfOneKey},
	{"change feed: from the beginning, from a time, from a continuation, of a key, of feed ranges", changeFeed},
	{"batch: all kinds of operations, and none of them when one fails", batch},
	{"patch: operations and a condition", patch},
	{"hierarchical keys: items, a prefix of the key in queries", hierarchicalKeys},
	{"throughput: manual, changed, autoscale", throughput},
	{"databases and containers: queries, replace, what is not there", management},
}

func items(f *fixture) {
	made := write(f.plain.CreateItem(ctx, key("a"), encode(item{ID: "1", PK: "a", N: 1}), withBody()))
	same(read(f.plain, "a", "1").N, 1)
	replaced := write(f.plain.ReplaceItem(ctx, key("a"), "1", encode(item{ID: "1", PK: "a", N: 2}), withBody()))
	same(replaced.N == 2 && replaced.ETag != made.ETag, true)
	old := azcore.ETag(made.ETag)
	_, err := f.plain.ReplaceItem(ctx, key("a"), "1", encode(made), &azcosmos.ItemOptions{IfMatchEtag: &old})
	fails(412, err)
	_, err = f.plain.CreateItem(ctx, key("a"), encode(made), nil)
	fails(409, err)
	_, err = f.plain.CreateItem(ctx, key("b"), encode(made), nil)
	fails(400, err)
	same(write(f.plain.UpsertItem(ctx, key("a"), encode(item{ID: "1", PK: "a", N: 3}), withBody())).N, 3)
	same(write(f.plain.UpsertItem(ctx, key("b"), encode(item{ID: "1", PK: "b", N: 4}), withBody())).N, 4)
	must(f.plain.DeleteItem(ctx, key("a"), "1", nil))
	_, err = f.plain.ReadItem(ctx, key("a"), "1", nil)
	fails(404, err)
	same(read(f.plain, "b", "1").N, 4)
}

func manyItems(f *fixture) {
	var writers sync.WaitGroup
	failures := make(chan error, itemCount)
	for first := range 8 {
		writers.Go(func() {
			for n := first; n < itemCount; n += 8 {
				if _, err := f.wide.CreateItem(ctx, keyOf(n), encode(itemOf(n)), nil); err != nil {
					failures <- err
				}
			}
		})
	}
	writers.Wait()
	same(len(failures), 0)
	var wanted []azcosmos.ItemIdentity
	for n := 0; n < itemCount; n += 3 {
		wanted = append(wanted, azcosmos.ItemIdentity{ID: itemOf(n).ID, PartitionKey: keyOf(n)})
	}
	found := must(f.wide.ReadManyItems(ctx, wanted, nil))
	same(len(found.Items), len(wanted))
}

func queries(f *fixture) {
	less := &azcosmos.QueryOptions{QueryParameters: []azcosmos.QueryParameter{{Name: "@n", Value: 50}}}
	numbers := ask[int](f.wide, "SELECT VALUE c.n FROM c WHERE c.n < @n", azcosmos.NewPartitionKey(), less)
	slices.Sort(numbers)
	same(numbers, numbersBelow(50))
	var ofKey []int
	for n := 7; n < itemCount; n += 20 {
		ofKey = append(ofKey, n)
	}
	inPages := &azcosmos.QueryOptions{PageSizeHint: 5}
	same(ask[int](f.wide, "SELECT VALUE c.n FROM c ORDER BY c.n", keyOf(7), inPages), ofKey)
	first := must(f.wide.NewQueryItemsPager("SELECT * FROM c", keyOf(7), inPages).NextPage(ctx))
	same(len(first.Items), 5)
	next := &azcosmos.QueryOptions{PageSizeHint: 5, ContinuationToken: first.ContinuationToken}
	same(len(ask[item](f.wide, "SELECT * FROM c", keyOf(7), next)), len(ofKey)-5)
}

func queriesOverPartitions(f *fixture) {
	everywhere := azcosmos.NewPartitionKey()
	same(len(ask[item](f.wide, "SELECT * FROM c", everywhere, &azcosmos.QueryOptions{PageSizeHint: 50})), itemCount)
	same(len(ask[item](f.wide, "SELECT * FROM c WHERE c.color = 'red'", everywhere, nil)), itemCount/3)
	_, err := f.wide.NewQueryItemsPager("SELECT * FROM c ORDER BY c.n", everywhere, nil).NextPage(ctx)
	fails(400, err)
}

func queriesOfOneKey(f *fixture) {
	same(ask[int](f.wide, "SELECT TOP 2 VALUE c.n FROM c ORDER BY c.n DESC", keyOf(7), nil), []int{227, 207})
	same(ask[int](f.wide, "SELECT VALUE SUM(c.n) FROM c", keyOf(7), nil), []int{1404})
	groups := ask[item](f.wide, "SELECT c.color, COUNT(1) AS n FROM c GROUP BY c.color", keyOf(7), nil)
	slices.SortFunc(groups, func(a, b item) int { return slices.Compare([]byte(a.Color), []byte(b.Color)) })
	same(groups, []item{{Color: "blue", N: 4}, {Color: "green", N: 4}, {Color: "red", N: 4}})
}

func changeFeed(f *fixture) {
	all, position := changes(f.wide, azcosmos.ChangeFeedOptions{MaxItemCount: 50})
	same(all, numbersBelow(itemCount))
	must(f.wide.UpsertItem(ctx, keyOf(5), encode(itemOf(5)), nil))
	later, _ := changes(f.wide, azcosmos.ChangeFeedOptions{Continuation: &position})
	same(later, []int{5})
	longAgo := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	sinceThen, _ := changes(f.wide, azcosmos.ChangeFeedOptions{StartFrom: &longAgo})
	same(sinceThen, numbersBelow(itemCount))
	key := keyOf(5)
	ofKey, _ := changes(f.wide, azcosmos.ChangeFeedOptions{PartitionKey: &key})
	same(len(ofKey), itemCount/20)
	ranges := must(f.wide.ReadFeedRanges(ctx, nil))
	same(len(ranges) > 1, true)
	var ofRanges []int
	for _, each := range ranges {
		found, _ := changes(f.wide, azcosmos.ChangeFeedOptions{FeedRange: &each})
		ofRanges = append(ofRanges, found...)
	}
	slices.Sort(ofRanges)
	same(ofRanges, numbersBelow(itemCount))
}

func batch(f *fixture) {
	increment := azcosmos.PatchOperations{}
	increment.AppendIncrement("/n", 10)
	good := f.plain.NewTransactionalBatch(key("batch"))
	good.CreateItem(encode(item{ID: "b1", PK: "batch", N: 1}), nil)
	good.UpsertItem(encode(item{ID: "b2", PK: "batch", N: 2}), nil)
	good.PatchItem("b1", increment, nil)
	good.ReplaceItem("b2", encode(item{ID: "b2", PK: "batch", N: 20}), nil)
	good.ReadItem("b1", nil)
	good.DeleteItem("b2", nil)
	done := must(f.plain.ExecuteTransactionalBatch(ctx, good, nil))
	same(done.Success, true)
	same(statuses(done), []int32{201, 201, 200, 200, 200, 204})
	same(decode[item](done.OperationResults[4].ResourceBody).N, 11)

	bad := f.plain.NewTransactionalBatch(key("batch"))
	bad.DeleteItem("b1", nil)
	bad.CreateItem(encode(item{ID: "b3", PK: "batch"}), nil)
	bad.ReadItem("nobody", nil)
	undone := must(f.plain.ExecuteTransactionalBatch(ctx, bad, nil))
	same(undone.Success, false)
	same(statuses(undone), []int32{424, 424, 404})
	same(read(f.plain, "batch", "b1").N, 11)
}

func patch(f *fixture) {
	must(f.plain.CreateItem(ctx, key("patch"), []byte(`{"id":"p","pk":"patch","n":1,"list":[1,2],"old":true}`), nil))
	change := azcosmos.PatchOperations{}
	change.SetCondition("FROM c WHERE c.n = 1")
	change.AppendIncrement("/n", 4)
	change.AppendAdd("/list/-", 3)
	change.AppendRemove("/old")
	change.AppendSet("/deep", map[string]any{"x": nil})
	patched := must(f.plain.PatchItem(ctx, key("patch"), "p", change, withBody()))
	found := decode[map[string]any](patched.Value)
	same(found["n"], any(5.0))
	same(found["list"], any([]any{1.0, 2.0, 3.0}))
	same(found["old"], nil)
	same(found["deep"], any(map[string]any{"x": nil}))
	_, err := f.plain.PatchItem(ctx, key("patch"), "p", change, nil)
	fails(412, err)
}

func hierarchicalKeys(f *fixture) {
	levels := create(f, azcosmos.ContainerProperties{ID: "levels", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
		Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2, Paths: []string{"/tenant", "/user", "/session"}}}, nil)
	for n := range 40 {
		tenant, user := fmt.Sprint("t", n%2), fmt.Sprint("u", n%4)
		body := encode(map[string]any{"id": fmt.Sprint(n), "tenant": tenant, "user": user, "session": n})
		must(levels.CreateItem(ctx, key(tenant).AppendString(user).AppendNumber(float64(n)), body, nil))
	}
	whole := key("t1").AppendString("u3").AppendNumber(7)
	same(decode[item](must(levels.ReadItem(ctx, whole, "7", nil)).Value).ID, "7")
	prefix := "SELECT * FROM c WHERE c.tenant = 't1'"
	same(len(ask[item](levels, prefix, azcosmos.NewPartitionKey(), nil)), 20)
	same(len(ask[item](levels, prefix+" AND c.user = 'u3'", azcosmos.NewPartitionKey(), nil)), 10)
	must(levels.DeleteItem(ctx, whole, "7", nil))
	_, err := levels.ReadItem(ctx, whole, "7", nil)
	fails(404, err)
}

func throughput(f *fixture) {
	manual := azcosmos.NewManualThroughputProperties(1000)
	container := create(f, properties("manual"), &manual)
	now, _ := must(container.ReadThroughput(ctx, nil)).ThroughputProperties.ManualThroughput()
	same(now, 1000)
	must(container.ReplaceThroughput(ctx, azcosmos.NewManualThroughputProperties(1500), nil))
	now, _ = must(container.ReadThroughput(ctx, nil)).ThroughputProperties.ManualThroughput()
	same(now, 1500)
	autoscale := azcosmos.NewAutoscaleThroughputProperties(4000)
	container = create(f, properties("automatic"), &autoscale)
	most, _ := must(container.ReadThroughput(ctx, nil)).ThroughputProperties.AutoscaleMaxThroughput()
	same(most, 4000)
	must(container.ReplaceThroughput(ctx, azcosmos.NewAutoscaleThroughputProperties(5000), nil))
	most, _ = must(container.ReadThroughput(ctx, nil)).ThroughputProperties.AutoscaleMaxThroughput()
	same(most, 5000)
}

func management(f *fixture) {
	byID := &azcosmos.QueryDatabasesOptions{QueryParameters: []azcosmos.QueryParameter{{Name: "@id", Value: f.database.ID()}}}
	databases := must(f.client.NewQueryDatabasesPager("SELECT * FROM c WHERE c.id = @id", byID).NextPage(ctx))
	same(len(databases.Databases), 1)
	rules := properties("rules")
	life := int32(100)
	rules.DefaultTimeToLive = &life
	container := create(f, rules, nil)
	same(*must(container.Read(ctx, nil)).ContainerProperties.DefaultTimeToLive, 100)
	life = 200
	must(container.Replace(ctx, rules, nil))
	same(*must(container.Read(ctx, nil)).ContainerProperties.DefaultTimeToLive, 200)
	containers := must(f.database.NewQueryContainersPager("SELECT * FROM c WHERE c.id = 'rules'", nil).NextPage(ctx))
	same(len(containers.Containers), 1)
	must(container.Delete(ctx, nil))
	_, err := container.Read(ctx, nil)
	fails(404, err)
}

func itemOf(n int) item {
	return item{ID: fmt.Sprint(n), PK: fmt.Sprint("key ", n%20), N: n, Color: colors[n%3]}
}

func key(value string) azcosmos.PartitionKey { return azcosmos.NewPartitionKeyString(value) }
func keyOf(n int) azcosmos.PartitionKey      { return key(itemOf(n).PK) }
func withBody() *azcosmos.ItemOptions {
	return &azcosmos.ItemOptions{EnableContentResponseOnWrite: true}
}

func numbersBelow(end int) []int {
	numbers := make([]int, end)
	for n := range numbers {
		numbers[n] = n
	}
	return numbers
}

func properties(id string) azcosmos.ContainerProperties {
	return azcosmos.ContainerProperties{ID: id, PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
		Kind: azcosmos.PartitionKeyKindHash, Version: 2, Paths: []string{"/pk"}}}
}

func create(f *fixture, of azcosmos.ContainerProperties, throughput *azcosmos.ThroughputProperties) *azcosmos.ContainerClient {
	must(f.database.CreateContainer(ctx, of, &azcosmos.CreateContainerOptions{ThroughputProperties: throughput}))
	return must(f.database.NewContainer(of.ID))
}

func read(container *azcosmos.ContainerClient, pk, id string) item {
	return decode[item](must(container.ReadItem(ctx, key(pk), id, nil)).Value)
}

func write(response azcosmos.ItemResponse, err error) item {
	return decode[item](must(response, err).Value)
}

func ask[Row any](container *azcosmos.ContainerClient, query string, pk azcosmos.PartitionKey, options *azcosmos.QueryOptions) []Row {
	return rows[Row](container.NewQueryItemsPager(query, pk, options))
}

func rows[Row any](pager *runtime.Pager[azcosmos.QueryItemsResponse]) []Row {
	found := []Row{}
	for pager.More() {
		for _, text := range must(pager.NextPage(ctx)).Items {
			found = append(found, decode[Row](text))
		}
	}
	return found
}

// The numbers of all items that changed, sorted, and where to go on.
func changes(container *azcosmos.ContainerClient, options azcosmos.ChangeFeedOptions) ([]int, string) {
	numbers := []int{}
	if options.FeedRange == nil {
		options.FeedRange = &azcosmos.FeedRange{MinInclusive: "", MaxExclusive: "FF"}
	}
	for {
		page := must(container.ReadChangeFeed(ctx, &options))
		for _, text := range page.Items {
			numbers = append(numbers, decode[item](text).N)
		}
		if page.ContinuationToken != "" {
			options.Continuation = &page.ContinuationToken
		}
		if len(page.Items) == 0 {
			slices.Sort(numbers)
			return numbers, page.ContinuationToken
		}
	}
}

func statuses(response azcosmos.TransactionalBatchResponse) []int32 {
	var codes []int32
	for _, result := range response.OperationResults {
		codes = append(codes, result.StatusCode)
	}
	return codes
}

func encode(value any) []byte { return must(json.Marshal(value)) }

func decode[Value any](text []byte) (value Value) {
	check(json.Unmarshal(text, &value))
	return value
}

// A failure is a panic, which main reports for the test that it ended.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[Value any](value Value, err error) Value {
	check(err)
	return value
}

func same[Value any](found, wanted Value) {
	if !reflect.DeepEqual(found, wanted) {
		panic(fmt.Errorf("found %#v, wanted %#v", found, wanted))
	}
}

func fails(status int, err error) {
	var response *azcore.ResponseError
	if !errors.As(err, &response) || response.StatusCode != status {
		panic(fmt.Errorf("wanted %d, found %w", status, err))
	}
}

func connect() *fixture {
	credential := must(azcosmos.NewKeyCredential(os.Getenv("ORRERY_KEY")))
	client := must(azcosmos.NewClientWithKey(os.Getenv("ORRERY_ENDPOINT"), credential, nil))
	name := fmt.Sprint("go-", time.Now().UnixNano())
	must(client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: name}, nil))
	f := &fixture{client: client, database: must(client.NewDatabase(name))}
	several := azcosmos.NewManualThroughputProperties(30_000)
	f.wide = create(f, properties("wide"), &several)
	f.plain = create(f, properties("plain"), nil)
	return f
}

func passes(title string, run func(*fixture), f *fixture) (passed bool) {
	defer func() {
		if failure := recover(); failure != nil {
			fmt.Printf("not ok - %s\n  # %v\n", title, failure)
		}
	}()
	run(f)
	fmt.Println("ok -", title)
	return true
}

func main() {
	f := connect()
	failed := 0
	for _, test := range tests {
		if !passes(test.title, test.run, f) {
			failed++
		}
	}
	must(f.database.Delete(ctx, nil))
	if failed > 0 {
		os.Exit(1)
	}
}
