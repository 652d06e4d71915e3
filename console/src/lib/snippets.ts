// The first lines of a program, for each SDK language, with this server's address.
export interface Snippet { language: string; text: string }

// `keys`: the paths of the partition key, of which simple names are put into the item.
export function snippets(database: string, container: string, keys: string[]): Snippet[] {
  const at = location.origin;
  const names = keys.map((path) => path.replace(/^\//, "")).filter((name) => /^\w+$/.test(name) && name !== "id");
  const with_ = (form: (name: string) => string) => names.map((name) => `, ${form(name)}`).join("");
  return [
    { language: "JavaScript", text: `const client = new CosmosClient({ endpoint: "${at}", key });
await client.database("${database}").container("${container}")
  .items.create({ id: "1"${with_((name) => `${name}: "a"`)} });` },
    { language: "Python", text: `client = CosmosClient("${at}", key)
items = client.get_database_client("${database}").get_container_client("${container}")
items.create_item({"id": "1"${with_((name) => `"${name}": "a"`)}})` },
    { language: "Java", text: `var client = new CosmosClientBuilder().endpoint("${at}").key(key).gatewayMode().buildClient();
client.getDatabase("${database}").getContainer("${container}")
  .createItem(Map.of("id", "1"${with_((name) => `"${name}", "a"`)}));` },
    { language: ".NET", text: `var client = new CosmosClient("${at}", key, new() { ConnectionMode = ConnectionMode.Gateway });
await client.GetContainer("${database}", "${container}")
  .CreateItemAsync(new { id = "1"${with_((name) => `${name} = "a"`)} });` },
    { language: "Go", text: `client, _ := azcosmos.NewClientWithKey("${at}", credential, nil)
items, _ := client.NewContainer("${database}", "${container}")
items.CreateItem(ctx, azcosmos.NewPartitionKeyString("a"), []byte(\`{"id":"1"${with_((name) => `"${name}":"a"`).replaceAll(", ", ",")}}\`), nil)` },
  ];
}

// How a program connects, for each SDK language.
export function connections(key: string): Snippet[] {
  const at = location.origin;
  const text = `AccountEndpoint=${at}/;AccountKey=${key};`;
  return [
    { language: "Connection string", text },
    { language: "JavaScript", text: `const client = new CosmosClient({ endpoint: "${at}", key: "${key}" });` },
    { language: "Python", text: `client = CosmosClient("${at}", "${key}")` },
    { language: "Java", text: `var client = new CosmosClientBuilder().endpoint("${at}").key("${key}").gatewayMode().buildClient();` },
    { language: ".NET", text: `var client = new CosmosClient("${text}", new() { ConnectionMode = ConnectionMode.Gateway });` },
    { language: "Go", text: `client, err := azcosmos.NewClientFromConnectionString("${text}", nil)` },
  ];
}
