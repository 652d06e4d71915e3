// The first lines of a program, for each SDK language, with this server's address.
export interface Snippet { language: string; text: string }

export function snippets(database: string, container: string, key: string): Snippet[] {
  const at = location.origin;
  const path = key.replace(/^\//, "");
  return [
    { language: "JavaScript", text: `const client = new CosmosClient({ endpoint: "${at}", key });
await client.database("${database}").container("${container}")
  .items.create({ id: "1", ${path}: "a" });` },
    { language: "Python", text: `client = CosmosClient("${at}", key)
items = client.get_database_client("${database}").get_container_client("${container}")
items.create_item({"id": "1", "${path}": "a"})` },
    { language: "Java", text: `var client = new CosmosClientBuilder().endpoint("${at}").key(key).gatewayMode().buildClient();
client.getDatabase("${database}").getContainer("${container}")
  .createItem(Map.of("id", "1", "${path}", "a"));` },
    { language: ".NET", text: `var client = new CosmosClient("${at}", key, new() { ConnectionMode = ConnectionMode.Gateway });
await client.GetContainer("${database}", "${container}")
  .CreateItemAsync(new { id = "1", ${path} = "a" });` },
    { language: "Go", text: `client, _ := azcosmos.NewClientWithKey("${at}", credential, nil)
items, _ := client.NewContainer("${database}", "${container}")
items.CreateItem(ctx, azcosmos.NewPartitionKeyString("a"), []byte(\`{"id":"1","${path}":"a"}\`), nil)` },
  ];
}
